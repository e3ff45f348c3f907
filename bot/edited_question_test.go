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

// TestP4_QuestionShowsEditedPrompt: what [Send] sends is what the message quotes.
func TestP4_QuestionShowsEditedPrompt(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	sent := w.Now().Add(-time.Hour)
	key := w.HearSent(t, "drop it", sent)
	require.Contains(t, w.LastSent(t).Text.Text, "drop it")
	require.NoError(t, w.Edit(t, 1001, "keep it"))
	w.Work(t)
	head := w.Word(i18n.AgedAsk, i18n.Args{"Name": "api", "Time": w.In(chattest.AtAlice).Moment(sent)})
	assert.Equal(t, chattest.Lines(head, "keep it"), w.Telegram.LastEdit(t).Text.Text)
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonSend))
	assert.Empty(t, w.Lifecycle.Done(), "a button that was drawn for another text does nothing")
	w.Press(t, chattest.Alice, w.Telegram.LastID(), w.Word(i18n.ButtonSend))
	e, err := w.Inbox.Load(key)
	require.NoError(t, err)
	assert.Equal(t, "keep it", e.Text)
	assert.Len(t, w.Lifecycle.Done(), 1)
}
