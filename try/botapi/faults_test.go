package botapi_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

func TestFaults(t *testing.T) {
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	tests := []struct {
		name    string
		fault   botapi.Fault
		check   func(error) bool
		applied int // messages after the failed send
	}{
		{"too many requests", botapi.Fault{Kind: botapi.FaultTooMany, RetryAfter: 7}, func(err error) bool {
			var e *tgbot.TooManyRequestsError
			return errors.As(err, &e) && e.RetryAfter == 7
		}, 0},
		{"internal", botapi.Fault{Kind: botapi.FaultInternal}, func(err error) bool { return errors.Unwrap(err) == nil }, 0},
		{"proxy page", botapi.Fault{Kind: botapi.FaultHTML502}, func(err error) bool { return err != nil }, 0},
		{"cut before", botapi.Fault{Kind: botapi.FaultResetBefore}, func(err error) bool { return err != nil }, 0},
		{"cut after", botapi.Fault{Kind: botapi.FaultResetAfter}, func(err error) bool { return err != nil }, 1},
		{"truncated", botapi.Fault{Kind: botapi.FaultTruncated}, func(err error) bool { return err != nil }, 1},
		{"conflict", botapi.Fault{Kind: botapi.FaultConflict}, is(tgbot.ErrorConflict), 0},
		{"unauthorized", botapi.Fault{Kind: botapi.FaultUnauthorized}, is(tgbot.ErrorUnauthorized), 0},
		{"forbidden", botapi.Fault{Kind: botapi.FaultForbidden}, is(tgbot.ErrorForbidden), 0},
		{"migrated", botapi.Fault{Kind: botapi.FaultMigrate, MigrateTo: -1001}, func(err error) bool {
			var e *tgbot.MigrateError
			return errors.As(err, &e) && e.MigrateToChatID == -1001
		}, 0},
		{"own status", botapi.Fault{Kind: botapi.FaultStatus, Status: 400, Description: "Bad Request: own"}, is(tgbot.ErrorBadRequest), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv, _ := started(t, botapi.Options{})
			b := newBot(t, srv)
			tt.fault.Method = "SendMessage"
			srv.Fault(tt.fault)
			_, err := b.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: "x"})
			require.Error(t, err)
			assert.True(t, tt.check(err), "%v", err)
			assert.Len(t, srv.Messages(alice), tt.applied)
			calls := srv.Calls()
			assert.Equal(t, tt.fault.Kind, calls[len(calls)-1].Fault)
			assert.Equal(t, tt.applied == 1, calls[len(calls)-1].Applied)
			_, err = b.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: "y"})
			require.NoError(t, err, "a fault is played once")
		})
	}
}

func TestFaultHangs(t *testing.T) {
	srv, _ := started(t, botapi.Options{})
	b := newBot(t, srv)
	srv.Fault(botapi.Fault{Kind: botapi.FaultHang})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := b.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: alice, Text: "x"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Empty(t, srv.Messages(alice))
}

func TestFaultCounts(t *testing.T) {
	srv, _ := started(t, botapi.Options{})
	send := func() int { return call(t, srv, "sendMessage", map[string]string{"chat_id": "42", "text": "x"}).Code }
	srv.Fault(botapi.Fault{Kind: botapi.FaultInternal, Times: 2, Skip: 1})
	assert.Equal(t, []int{0, 500, 500, 0}, []int{send(), send(), send(), send()})
	withdraw := srv.Fault(botapi.Fault{Method: "sendMessage", Kind: botapi.FaultForbidden, Times: -1})
	assert.Equal(t, []int{403, 403}, []int{send(), send()})
	assert.True(t, call(t, srv, "getMe", nil).OK, "another method")
	withdraw()
	assert.Zero(t, send())
	srv.Fault(botapi.Fault{Kind: botapi.FaultInternal})
	assert.True(t, call(t, srv, "getUpdates", nil).OK, "getUpdates must be named")
	assert.Equal(t, 500, send())
}

func TestSandboxKeepsTheRealLimits(t *testing.T) {
	var now atomic.Int64
	now.Store(1_700_000_000)
	srv, _ := started(t, botapi.Options{RealLimits: true, Now: func() time.Time { return time.Unix(now.Load(), 0) }})
	send := func() reply { return call(t, srv, "sendMessage", map[string]string{"chat_id": "42", "text": "x"}) }
	for range 3 {
		require.True(t, send().OK)
	}
	r := send()
	assert.Equal(t, 429, r.Code)
	assert.Equal(t, 1, r.Parameters.RetryAfter)
	assert.Equal(t, "Too Many Requests: retry after 1", r.Description)
	assert.Len(t, srv.Messages(alice), 3)
	now.Add(1)
	assert.True(t, send().OK)
}

func TestCalls(t *testing.T) {
	srv, _ := started(t, botapi.Options{})
	call(t, srv, "sendMessage", map[string]string{"chat_id": "42", "text": "x"})
	call(t, srv, "sendMessage", map[string]string{"chat_id": "7", "text": "y"})
	calls := srv.Calls()
	require.Len(t, calls, 2)
	assert.Equal(t, "x", calls[0].Params["text"])
	assert.Equal(t, []int{200, 400}, []int{calls[0].Status, calls[1].Status})
	c, err := srv.WaitCall(t.Context(), func(c botapi.Call) bool { return c.Method == "sendMessage" })
	require.NoError(t, err)
	assert.Equal(t, "y", c.Params["text"], "the newest")
}

func TestOnlyLoopback(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	require.ErrorIs(t, botapi.New(botapi.Options{}).Run(t.Context(), l), botapi.ErrNotLoopback)
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestCloseEndsRunAndWhoWaits(t *testing.T) {
	srv := botapi.New(botapi.Options{})
	l, err := srv.Listen()
	require.NoError(t, err)
	ran, polled := make(chan error, 1), make(chan error, 1)
	go func() { ran <- srv.Run(t.Context(), l) }()
	go func() {
		resp, err := http.Get(srv.URL() + "/bot" + srv.Token() + "/getUpdates?timeout=50")
		if err == nil {
			resp.Body.Close()
		}
		polled <- err
	}()
	waitPolling(t, srv)
	require.NoError(t, srv.Close())
	require.NoError(t, srv.Close(), "twice is fine")
	require.NoError(t, <-ran)
	require.Error(t, <-polled, "a poll that was cut is no empty answer")
}
