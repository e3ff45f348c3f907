package conversation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/address"
)

func TestSettingsSurviveRestartAndMove(t *testing.T) {
	dir := t.TempDir()
	c := openIn(t, dir)
	require.NoError(t, c.Set(-7, func(s *Settings) { s.Language = "ru" }))
	c = openIn(t, dir)
	assert.Equal(t, "ru", c.Settings(-7).Language)
	assert.Zero(t, c.Settings(7))

	group, grown := address.Conversation{ChatID: -7}, address.Conversation{ChatID: -1007}
	require.NoError(t, c.Rehome(address.Conversation{ChatID: -7, ThreadID: 3}, group))
	require.NoError(t, c.Rehome(group, grown))
	assert.Equal(t, "ru", openIn(t, dir).Settings(-1007).Language)
	require.NoError(t, c.Set(-8, func(s *Settings) { s.Language = "zh" }))
	require.NoError(t, c.Rehome(address.Conversation{ChatID: -8}, grown))
	assert.Equal(t, "ru", c.Settings(-1007).Language, "what the other place has counts")
}
