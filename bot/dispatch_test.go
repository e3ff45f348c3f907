package bot_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/talk"
)

// TestP8_CrashingFeatureBlocksNoEvent: each of the events, and what caused it is done.
func TestP8_CrashingFeatureBlocksNoEvent(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one")))
	crash := func() { panic("a mistake of ours") }
	var mu sync.Mutex
	heard := make(map[string]int)
	hears := func(name string, then func()) chat.Feature {
		event := func(what string) error {
			mu.Lock()
			heard[name+" "+what]++
			mu.Unlock()
			then()
			return nil
		}
		return chat.Feature{Name: name,
			OnItem:    func(uuid.UUID, talk.Item) { _ = event("item") },
			OnCurrent: func(context.Context, outbox.Conversation, uuid.UUID) error { return event("current") },
			OnShown:   func(port.Session) { _ = event("shown") },
			OnMoved:   func(context.Context, chat.MoveFunc) error { return event("moved") }}
	}
	w.Install(append([]chat.Feature{hears("broken", crash)}, append(w.Features(), hears("last", func() {}))...))

	w.ReadNow(t, r)
	assert.Equal(t, []string{"one"}, w.Telegram.AnswersSent(), "it is shown all the same")
	require.Error(t, w.MakeCurrent(t.Context(), chattest.AtAlice, 0, r.ID))
	require.Error(t, w.MoveTo(t.Context(), chattest.InTopic, chattest.ViewOf(r)))
	w.CurrentIs(t, r.ID)
	assert.Equal(t, chattest.InTopic, w.Record(t, r.ID).Conversation)
	moved := w.Running(t)
	w.Bot.Moves.TopicGone(chattest.InTopic)
	waittest.Until(t, func() bool { mu.Lock(); defer mu.Unlock(); return heard["last moved"] > 0 })
	require.NoError(t, moved())
	assert.Equal(t, chattest.AtAlice, w.Record(t, r.ID).Conversation, "the topic is gone")
	for _, name := range []string{"broken", "last"} {
		for _, what := range []string{"item", "current", "shown", "moved"} {
			assert.NotZero(t, heard[name+" "+what], "%s %s", name, what)
		}
	}
}
