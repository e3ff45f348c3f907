package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestP4_NoReactionsAreReplacedByWords: where reactions are refused, a prompt behind others has a silent reply, and the first
// none: a message of its own says that it waits.
func TestP4_NoReactionsAreReplacedByWords(t *testing.T) {
	for _, refused := range []bool{true, false} {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			r := w.NewCurrentSession(t, "api", session.Running)
			w.Telegram.OnReact = map[int64]bool{chattest.Alice: refused}
			w.MustHear(t, "first")
			w.Work(t)
			assert.Empty(t, w.Telegram.Texts())
			w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = []string{"another", "this"} })
			w.MustHear(t, "second")
			w.Work(t)
			if !refused {
				assert.Empty(t, w.Telegram.Texts())
				return
			}
			require.Len(t, w.Telegram.Posted, 1)
			reply := w.Telegram.Posted[0]
			assert.Equal(t, w.Named(i18n.StoredBehind, "api"), reply.Text.Text)
			assert.NotZero(t, reply.ReplyTo)
			assert.False(t, reply.Sounds)
		})
	}
}

// The people of a group are told what to allow. In a group that is not allowed nothing is said.
func TestGroupIsToldWhatReactionsToAllow(t *testing.T) {
	w := chattest.NewWorld(t)
	require.NoError(t, w.Shut.NoReactions(-4711))
	assert.Empty(t, w.Telegram.Texts())
	require.NoError(t, w.Shut.NoReactions(chattest.Ours))
	require.Len(t, w.Telegram.Posted, 1)
	said := w.Telegram.Posted[0]
	assert.Equal(t, session.Conversation{ChatID: chattest.Ours}, said.To)
	assert.Contains(t, said.Text.Text, "👀 ✍ 👌")
	assert.Contains(t, said.Text.Text, "under Reactions")
}
