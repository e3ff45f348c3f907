package chattest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/turn"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// ShowsTurn shows the card of a turn that runs.
func (w *World) ShowsTurn(t *testing.T, r session.Record) {
	t.Helper()
	none := func(context.Context, chat.Incoming, port.Session) error { return nil }
	f := turn.New(turn.Deps{Chat: w.Chat, Works: w.Hosted, Transcripts: w.Talk,
		Steps:   turn.OnCard,
		InFront: func(port.Session) bool { return true }, Others: w.Resumer, QueuedLines: func(port.Session) []string { return []string{"next"} },
		Actions: map[turn.Button]chat.OnSession{turn.Stop: none, turn.Queue: none, turn.Mode: none, turn.Changes: none}}).Feature()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	posts := func() int {
		w.Telegram.Mu.Lock()
		defer w.Telegram.Mu.Unlock()
		return len(w.Telegram.Waiting)
	}
	before := posts()
	require.NoError(t, f.OnNews(ctx, ViewOf(r), news.Typed{Prompt: talk.Prompt{Key: "1", Class: talk.ClassPlain}}))
	w.Records.Change(r.ID, func(r *session.Record) { r.Phase, r.PhaseAt = "working", w.Chat.Now().Add(time.Hour) })
	require.NoError(t, f.OnNews(ctx, ViewOf(w.Record(t, r.ID)), news.Doing{}))
	waittest.Until(t, func() bool { return posts() > before })
	cancel()
	require.NoError(t, Receive(t, done))
	w.Work(t)
}
