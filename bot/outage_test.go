package bot_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestOutageIsToldOncePerChat: silently, in chats with an open session, for any number of sessions
// and topics.
func TestOutageIsToldOncePerChat(t *testing.T) {
	w := chattest.NewWorld(t)
	now := w.Now()
	require.NoError(t, w.OutageEnded(t.Context(), now.Add(-time.Hour), now))
	assert.Empty(t, w.Telegram.Texts(), "no session is open")

	for _, name := range []string{"api", "web"} {
		w.NewCurrentSession(t, name, session.Running)
	}
	in := func(state session.State, chat int64, thread int) {
		w.Records.Change(w.Session(t, "x", state).ID, func(r *session.Record) {
			r.Conversation = session.Conversation{ChatID: chat, ThreadID: thread}
		})
	}
	for thread := range 3 {
		in(session.Running, chattest.Ours, thread+7)
	}
	in(session.Archived, chattest.Bob, 0)
	in(session.Running, chattest.Eve, 0)
	require.NoError(t, w.OutageEnded(t.Context(), now.Add(-time.Hour), now))
	said := w.Word(i18n.OutageOver, i18n.Args{"Start": w.In(chattest.AtAlice).Moment(now.Add(-time.Hour)), "End": w.In(chattest.AtAlice).Moment(now)})
	assert.Equal(t, []string{said, said}, w.Telegram.Texts())
	for _, m := range w.Telegram.Posted {
		assert.Zero(t, m.To.ThreadID)
		assert.False(t, m.Sounds)
	}
}
