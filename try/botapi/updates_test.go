package botapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
	"ccbot/try/botapi"
)

// poll returns what getUpdates says, as "id kind".
func poll(t testing.TB, srv *botapi.Server, fields map[string]string) (ids []int64, r reply) {
	t.Helper()
	r = call(t, srv, "getUpdates", fields)
	var list []struct {
		ID int64 `json:"update_id"`
	}
	if r.OK {
		require.NoError(t, json.Unmarshal(r.Result, &list))
	}
	for _, u := range list {
		ids = append(ids, u.ID)
	}
	return ids, r
}

func TestOffsets(t *testing.T) {
	const a = 500_001 // the first update
	tests := []struct {
		name    string
		fields  map[string]string
		want    []int64
		pending int
	}{
		{"none starts at the oldest", nil, []int64{a, a + 1, a + 2, a + 3}, 4},
		{"limit", map[string]string{"limit": "2"}, []int64{a, a + 1}, 4},
		{"limit of nothing is one", map[string]string{"limit": "0"}, []int64{a}, 4},
		{"offset confirms what is older", map[string]string{"offset": fmt.Sprint(a + 2)}, []int64{a + 2, a + 3}, 2},
		{"offset after the last confirms all", map[string]string{"offset": fmt.Sprint(a + 4)}, nil, 0},
		{"offset far in the future is none", map[string]string{"offset": "999999999"}, []int64{a, a + 1, a + 2, a + 3}, 4},
		{"offset of the past is none", map[string]string{"offset": "5"}, []int64{a, a + 1, a + 2, a + 3}, 4},
		{"-1 forgets all but the last", map[string]string{"offset": "-1"}, []int64{a + 3}, 1},
		{"-3 keeps three", map[string]string{"offset": "-3"}, []int64{a + 1, a + 2, a + 3}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv, p := started(t, botapi.Options{})
			for i := range 4 {
				p.Send(alice, fmt.Sprint("message ", i))
			}
			ids, r := poll(t, srv, tt.fields)
			require.True(t, r.OK, r.Description)
			assert.Equal(t, tt.want, ids)
			assert.Equal(t, tt.pending, srv.Pending())
		})
	}
}

func TestLongPoll(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	got := make(chan []int64)
	go func() {
		ids, _ := poll(t, srv, map[string]string{"timeout": "50"})
		got <- ids
	}()
	p.Send(alice, "wake up")
	assert.Len(t, <-got, 1)
	ids, _ := poll(t, srv, map[string]string{"offset": "500002", "timeout": "1"})
	assert.Empty(t, ids)
}

func TestSecondPollerEndsTheFirst(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	first, second := make(chan reply, 1), make(chan reply, 1)
	go func() { first <- call(t, srv, "getUpdates", map[string]string{"timeout": "50"}) }()
	waitPolling(t, srv)
	go func() { second <- call(t, srv, "getUpdates", map[string]string{"timeout": "50"}) }()
	r := <-first
	assert.Equal(t, 409, r.Code)
	assert.Equal(t, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", r.Description)
	p.Send(alice, "for the second")
	assert.True(t, (<-second).OK)
}

// waitPolling returns once a getUpdates waits; a getUpdates without a timeout does not count.
func waitPolling(t testing.TB, srv *botapi.Server) {
	t.Helper()
	waittest.Until(t, srv.Polling)
}

func TestAllowedUpdates(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	id := p.Send(alice, "1")
	require.NoError(t, p.React(alice, id, "👍"))
	assert.Equal(t, 1, srv.Pending(), "reactions must be asked for")
	poll(t, srv, map[string]string{"offset": "500002", "allowed_updates": `["message_reaction"]`})
	p.Send(alice, "2")
	require.NoError(t, p.React(alice, id, ""))
	assert.Equal(t, 1, srv.Pending(), "only reactions are asked for")
	poll(t, srv, map[string]string{"offset": "500003"})
	p.Send(alice, "3")
	assert.Equal(t, 0, srv.Pending(), "the list stays until another one is given")
	poll(t, srv, map[string]string{"allowed_updates": `[]`})
	p.Send(alice, "4")
	assert.Equal(t, 1, srv.Pending())
	_, r := poll(t, srv, map[string]string{"allowed_updates": `nonsense`})
	assert.Equal(t, 400, r.Code)
}

func TestInject(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	id, err := srv.Inject(json.RawMessage(`{"unheard_of":{"x":1}}`))
	require.NoError(t, err)
	own, err := srv.Inject(json.RawMessage(`{"update_id":600000,"message":{"message_id":1,"date":1,"chat":{"id":42,"type":"private"},"forward_origin":{"type":"from_the_future"}}}`))
	require.NoError(t, err)
	assert.EqualValues(t, 600000, own)
	p.Send(alice, "after")
	ids, r := poll(t, srv, nil)
	assert.Equal(t, []int64{id, 600000, 600001}, ids)
	assert.Contains(t, string(r.Result), `"unheard_of":{"x":1}`)
	assert.Contains(t, string(r.Result), "from_the_future")
	_, err = srv.Inject(json.RawMessage(`no`))
	require.Error(t, err)
}

func TestLibraryPollLoop(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	texts := make(chan string, 10)
	b, err := tgbot.New(srv.Token(), tgbot.WithServerURL(srv.URL()), tgbot.WithNotAsyncHandlers(),
		tgbot.WithDefaultHandler(func(_ context.Context, _ *tgbot.Bot, u *models.Update) {
			if u.EditedMessage != nil {
				texts <- "edited " + u.EditedMessage.Text
				return
			}
			texts <- u.Message.Text
		}))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { b.Start(ctx); close(done) }()
	id := p.Send(alice, "one")
	assert.Equal(t, "one", <-texts)
	require.NoError(t, p.Edit(alice, id, "two"))
	assert.Equal(t, "edited two", <-texts)
	cancel()
	<-done
}
