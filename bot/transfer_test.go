package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port/news"
)

func TestTransferIsReportedUnlessAsked(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Adopted(t, "api")
	web := w.NewCurrentSession(t, "web", session.Running)
	require.NoError(t, w.SessionNews(t.Context(), r, news.Transferred{}))
	assert.Equal(t, []string{"api is connected to its window (@21). ccbot will not close it. " +
		"This session was started by hand, so its permission requests appear here as a picture of its screen, and a status line that looks like a question holds your messages. To get buttons: /kill, then /resume."}, w.Telegram.Texts())
	require.NoError(t, w.SessionNews(t.Context(), r, news.Transferred{ByPerson: true}))
	assert.Len(t, w.Telegram.Texts(), 1)
	w.CurrentIs(t, web.ID)
}

// The agent of an old warning is the session's own now: nothing is done.
func TestP2_OldWarningEndsNoAgent(t *testing.T) {
	w := chattest.NewWorld(t)
	r, m := w.MarkReported(t, chattest.WriterAfterEnd, chattest.InWindow(t, 4123))
	w.Records.Change(r.ID, func(r *session.Record) {
		r.State = session.Running
		r.Binding = &session.Binding{Adopted: true, Window: "@4", Agent: process.Identity{PID: 4123, Start: 41230, Boot: "boot"}}
	})
	w.Write()
	for _, s := range chattest.Spots(m) {
		require.NoError(t, w.TapSpot(t, chattest.Alice, s))
	}
	assert.Empty(t, w.Lifecycle.Done())
}

// In a chat a second writer that is adopted is the same transfer.
func TestAdoptAsksForTheTransfer(t *testing.T) {
	w := chattest.NewWorld(t)
	one := chattest.InWindow(t, 4123)
	r, m := w.MarkReported(t, chattest.WriterAfterEnd, one)
	var asked lifecycle.AdoptRequest
	w.Lifecycle.OnAdopt = func(q lifecycle.AdoptRequest) error { asked = q; return nil }
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAdopt))
	assert.Equal(t, lifecycle.AdoptRequest{Agent: process.Identity{PID: 4123, Start: 41230, Boot: "boot"}, AgentSessionID: r.AgentSessionID,
		From: r.ID, Confirmed: true, Conversation: chattest.AtAlice, Owner: chattest.Alice, Rule: "chat.adopt", Why: "asked for by 7"}, asked)
}
