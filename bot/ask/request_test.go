package ask

import (
	"testing"

	"ccbot/i18n"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An agent's text must not end the bot at each start.
func TestP8_UndrawableRequestIsLeftToTerminal(t *testing.T) {
	v := viewer(t, "en")
	seen, err := v.drawSafely("api", func(Viewer, string) View { panic("no") })
	require.ErrorContains(t, err, "panic: no")
	assert.Contains(t, seen.Text.Text, v.Words.Say(i18n.AskAtDesk))
	require.Len(t, seen.Text.Entities, 1, "the name is bold")
	assert.Equal(t, 3, seen.Text.Entities[0].Length)
	assert.Empty(t, seen.Options)
}
