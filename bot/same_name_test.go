package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// Of two sessions of one name that are over the person chooses, in the chat as in a terminal.
func TestPersonChoosesSessionWithSameName(t *testing.T) {
	w := chattest.NewWorld(t)
	older := w.Session(t, "twin", session.Archived)
	w.Session(t, "twin", session.Archived)
	w.MustHear(t, "/resume twin")
	assert.Empty(t, w.Restored())
	pick := w.Telegram.Last(t)
	assert.Equal(t, w.Word(i18n.ResumePick), pick.Text.Text)
	require.Len(t, chattest.Spots(pick), 2)
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(pick)[1]))
	assert.Equal(t, chattest.Restores(older), w.Restored())
}
