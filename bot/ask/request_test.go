package ask

import (
	"testing"

	"ccbot/i18n"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What an agent writes must not bring the bot down, again at each start.
func TestP8_ACardThatCannotBeDrawnIsLeftToTheDesk(t *testing.T) {
	v := viewer(t, "en")
	seen, err := v.drawn("api", func(Viewer, string) View { panic("no") })
	require.ErrorContains(t, err, "panic: no")
	assert.Contains(t, seen.Text.Text, v.Words.Say(i18n.AskAtDesk))
	require.Len(t, seen.Text.Entities, 1, "the name is bold")
	assert.Equal(t, 3, seen.Text.Entities[0].Length)
	assert.Empty(t, seen.Options)
}
