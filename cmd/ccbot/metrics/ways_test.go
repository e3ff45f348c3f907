package metrics

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// chatOf is a chat that receives news.
type chatOf func(n news.News) error

func (c chatOf) SessionNews(_ context.Context, _ port.Session, n news.News) error { return c(n) }

// TestMessagesOnTheirWayAreMeasured counts a prompt once the chat was notified, and measures the
// queues at the reading.
func TestMessagesOnTheirWayAreMeasured(t *testing.T) {
	store, err := inbox.OpenStore(filepath.Join(t.TempDir(), "inbox"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	m := New(func() map[session.State]int { return nil })
	m.Measure(store, outbox.New(nil, "", t.TempDir(), slog.New(slog.DiscardHandler)), new(inbox.Pulse), func() uint64 { return 4096 })
	require.NoError(t, m.Listen(t.Context(), "127.0.0.1:0"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})

	var fails error
	counted := News{chatOf(func(news.News) error { return fails }), store, m}
	e := inbox.Entry{Key: inbox.UpdateKey(1), Received: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), State: inbox.Typing, Session: uuid.New(),
		Conversation: session.Conversation{ChatID: 7}, MessageID: 77, Text: "one"}
	_, err = store.Add(e)
	require.NoError(t, err)
	fails = errors.New("not now")
	for range 2 {
		for _, n := range []news.News{news.Delivered{Prompt: talk.Prompt{Key: e.Key}},
			news.Unproven{Prompt: talk.Prompt{Key: e.Key}}, news.Delivered{Prompt: talk.Prompt{Key: "4711"}}} {
			require.ErrorIs(t, counted.SessionNews(t.Context(), port.Session{}, n), fails)
		}
		fails = nil
	}
	m.Delivered(time.Now().Add(-15 * time.Second))
	m.Delivered(time.Time{})
	m.Delivered(time.Now().Add(time.Hour)) // the clock was set back

	got := scrape(t, m.listener.Addr().String())
	for name, want := range map[string]string{
		"ccbot_prompt_delivery_seconds_count":             "1",
		`ccbot_prompt_delivery_seconds_bucket{le="7200"}`: "0",
		"ccbot_prompts_asked_total":                       "1",
		"ccbot_answer_delivery_seconds_count":             "2",
		`ccbot_answer_delivery_seconds_bucket{le="0.25"}`: "1",
		`ccbot_answer_delivery_seconds_bucket{le="10"}`:   "1",
		"ccbot_inbox_messages":                            "1",
		"ccbot_agents_memory_bytes":                       "4096",
		"ccbot_outbox_messages":                           "0",
		"ccbot_telegram_wait_seconds":                     "0",
		"ccbot_telegram_waits_total":                      "0",
		"ccbot_telegram_errors_total":                     "0",
	} {
		assert.Equal(t, want, got[name], name)
	}
	assert.Contains(t, got, "ccbot_telegram_poll_age_seconds")
}
