package bot_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
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

// TestRivalIsReportedToEachPerson: two programs have the token, and people learn that in the chat.
func TestRivalIsReportedToEachPerson(t *testing.T) {
	w := chattest.NewWorld(t)
	reported, err := w.RivalPolls(t.Context(), true)
	require.NoError(t, err)
	assert.False(t, reported, "there is no chat yet")

	w.NewCurrentSession(t, "api", session.Running)
	reported, err = w.RivalPolls(t.Context(), true)
	require.NoError(t, err)
	assert.True(t, reported)
	reported, err = w.RivalPolls(t.Context(), false)
	require.NoError(t, err)
	assert.True(t, reported)
	assert.Equal(t, []string{chattest.Warning + w.Word(i18n.RivalPolls), w.Word(i18n.RivalGone)}, w.Telegram.Texts())
}

// A chat that cannot be told does not make the others hear of the same thing again.
func TestOneChatThatWasToldIsEnough(t *testing.T) {
	w := chattest.NewWorld(t)
	require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: chattest.Bob}, w.NewCurrentSession(t, "api", session.Running).ID))
	w.Telegram.OnPost = func(m outbox.Message) error {
		if m.To == chattest.AtAlice {
			return chattest.ErrDisk
		}
		return nil
	}
	w.Telegram.OnSend = func(context.Context, outbox.Message) error { return chattest.ErrNet }
	for name, tell := range map[string]func() (bool, error){
		"another program": func() (bool, error) { return w.RivalPolls(t.Context(), true) },
		"its end":         func() (bool, error) { return w.RivalPolls(t.Context(), false) },
		"a wrong clock":   func() (bool, error) { return w.ClockDiffers(t.Context(), time.Hour) },
	} {
		reported, err := tell()
		assert.True(t, reported, name)
		require.Error(t, err, name)
	}
}
