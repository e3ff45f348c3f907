package botapi_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

func TestRedeliver(t *testing.T) {
	const a = 500_001 // the first update
	srv, p := started(t, botapi.Options{})
	for i := range 4 {
		p.Send(alice, fmt.Sprint("message ", i))
	}
	assert.Zero(t, srv.Redeliver(5), "nothing is confirmed yet")
	poll(t, srv, map[string]string{"offset": fmt.Sprint(a + 3)})
	assert.Equal(t, 2, srv.Redeliver(2))
	ids, _ := poll(t, srv, map[string]string{"offset": fmt.Sprint(a + 3)})
	assert.Equal(t, []int64{a + 1, a + 2, a + 3}, ids)
	ids, _ = poll(t, srv, map[string]string{"offset": fmt.Sprint(a + 3)})
	assert.Equal(t, []int64{a + 3}, ids, "once")
	poll(t, srv, map[string]string{"offset": fmt.Sprint(a + 4)})
	assert.Equal(t, 4, srv.Redeliver(100))
}

func TestRedeliverEndsAPoll(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	p.Send(alice, "x")
	poll(t, srv, map[string]string{"offset": "500002"})
	got := make(chan []int64)
	go func() {
		ids, _ := poll(t, srv, map[string]string{"offset": "500002", "timeout": "50"})
		got <- ids
	}()
	waitPolling(t, srv)
	srv.Redeliver(1)
	assert.Equal(t, []int64{500_001}, <-got)
}

func TestShuffleUpdates(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	for i := range 20 {
		p.Send(alice, fmt.Sprint("message ", i))
	}
	sorted, _ := poll(t, srv, nil)
	srv.ShuffleUpdates(rand.New(rand.NewPCG(1, 2)))
	shuffled, _ := poll(t, srv, nil)
	assert.NotEqual(t, sorted, shuffled)
	assert.ElementsMatch(t, sorted, shuffled)
	srv.ShuffleUpdates(nil)
	again, _ := poll(t, srv, nil)
	assert.Equal(t, sorted, again)
}

func TestSpoil(t *testing.T) {
	srv, _ := started(t, botapi.Options{})
	send := func() reply { return call(t, srv, "sendMessage", map[string]string{"chat_id": "42", "text": "x"}) }
	srv.InjectFaults(func(c botapi.Call) botapi.Fault {
		if c.Params["chat_id"] == "42" {
			return botapi.Fault{Kind: botapi.FaultTooMany, RetryAfter: 3}
		}
		return botapi.Fault{}
	})
	assert.Equal(t, 3, send().Parameters.RetryAfter)
	assert.True(t, call(t, srv, "getMe", nil).OK)
	srv.Fault(botapi.Fault{Kind: botapi.FaultInternal})
	assert.Equal(t, 500, send().Code, "what was asked for by name goes first")
	assert.Equal(t, 429, send().Code)
	calls := srv.Calls()
	assert.Equal(t, 3, calls[len(calls)-1].RetryAfter)
	assert.False(t, calls[len(calls)-1].Ended.Before(calls[len(calls)-1].At))
	srv.InjectFaults(nil)
	assert.True(t, send().OK)
}

func TestHangThatEnds(t *testing.T) {
	srv, _ := started(t, botapi.Options{})
	b := newBot(t, srv)
	srv.Fault(botapi.Fault{Method: "sendMessage", Kind: botapi.FaultHang, Hold: time.Millisecond})
	_, err := b.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: "x"})
	require.Error(t, err, "the connection is cut, no deadline needed")
	calls := srv.Calls()
	assert.Equal(t, botapi.FaultHang, calls[len(calls)-1].Fault)
}
