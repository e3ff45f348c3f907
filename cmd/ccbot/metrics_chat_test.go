package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/news"
	promptport "ccbot/bot/port/prompts"
	"ccbot/bot/port/views"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/servicemanager"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// chatOf is a chat that hears news.
type chatOf func(n news.News) error

func (c chatOf) SessionNews(_ context.Context, _ views.Session, n news.News) error { return c(n) }

// TestMessagesOnTheirWayAreMeasured counts a prompt once the chat was told, and measures at the reading what waits.
func TestMessagesOnTheirWayAreMeasured(t *testing.T) {
	w, f := newInbox(t), newForgetful(t)
	m := newMetrics(f.states)
	table, err := process.NewTable()
	require.NoError(t, err)
	me, err := table.Identify(os.Getpid())
	require.NoError(t, err)
	agent := one(1, "api")
	agent.State, agent.EndedAt, agent.Binding = session.Running, time.Time{}, &session.Binding{Agent: me}
	require.NoError(t, f.store.Create(agent))
	s := &system{Config: config.Config{MetricsAddr: "127.0.0.1:0"}, metrics: m, inbox: w.Store, store: f.store, table: table,
		outbox: outbox.New(nil, "", t.TempDir(), slog.New(slog.DiscardHandler)), service: servicemanager.New(nil, slog.New(slog.DiscardHandler))}
	s.gauges(t.Context())
	require.NoError(t, s.listenMetrics(t.Context()))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})

	var fails error
	told := countedNews{chatOf(func(news.News) error { return fails }), w.Store, m.ways}
	e := w.prompt(t, uuid.New(), "one", inbox.Typing)
	fails = errors.New("not now")
	for range 2 {
		for _, n := range []news.News{news.Delivered{Prompt: promptport.Prompt{Key: e.Key}},
			news.Unproven{Prompt: promptport.Prompt{Key: e.Key}}, news.Delivered{Prompt: promptport.Prompt{Key: "4711"}}} {
			require.ErrorIs(t, told.SessionNews(t.Context(), views.Session{}, n), fails)
		}
		fails = nil
	}
	m.ways.shown(time.Now().Add(-15 * time.Second))
	m.ways.shown(time.Time{})
	m.ways.shown(time.Now().Add(time.Hour)) // the clock was set back

	got := scrape(t, m.listener.Addr().String())
	for name, want := range map[string]string{
		"ccbot_prompt_delivery_seconds_count":             "1",
		`ccbot_prompt_delivery_seconds_bucket{le="7200"}`: "0",
		"ccbot_prompts_asked_total":                       "1",
		"ccbot_answer_delivery_seconds_count":             "2",
		`ccbot_answer_delivery_seconds_bucket{le="0.25"}`: "1",
		`ccbot_answer_delivery_seconds_bucket{le="10"}`:   "1",
		"ccbot_inbox_messages":                            "1",
		"ccbot_outbox_messages":                           "0",
		"ccbot_telegram_wait_seconds":                     "0",
		"ccbot_telegram_waits_total":                      "0",
		"ccbot_telegram_errors_total":                     "0",
	} {
		assert.Equal(t, want, got[name], name)
	}
	assert.Contains(t, got, "ccbot_telegram_poll_age_seconds")
	assert.NotEqual(t, "0", got["ccbot_agents_memory_bytes"])
}
