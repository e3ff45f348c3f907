package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
)

// TestP4_UndeliveredAnswerLinksToDialog has a hook that never dials again, as after an upgrade: the
// card says that its answer was not delivered, and leads to the terminal's own dialog.
func TestP4_UndeliveredAnswerLinksToDialog(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		w.HangsUp(q)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		w.Later(chattest.Round)
		assert.Equal(t, ask.StageSent, w.RequestState(t, q).Stage, "the terminal asks nothing: a hook may come back")

		w.Lifecycle.OnDialog = chattest.Trust
		dialog := w.Dialog(t, r, chattest.Trust)
		w.Later(chattest.Round)
		assert.Contains(t, w.Shows(t, w.Message(t, q)).Text.Text, w.AllowedText(i18n.AskUndelivered))
		before := w.Telegram.LastID()
		w.TapsOn(t, chattest.Alice, q, i18n.ButtonShow)
		require.Equal(t, before+1, w.Telegram.LastID())
		assert.Equal(t, dialog.Text, w.LastSent(t).Text)

		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Later(chattest.Round)
		assert.Equal(t, []string{"leave"}, w.Relay.Done(), "an answer that was reported as lost is never given")

		w.Result(t, q, "", "", false)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Verdict(i18n.AskAllowed, i18n.AskAtTerminal))
	})
}
