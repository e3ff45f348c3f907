package conversation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/address"
)

// TestP8_PicksSurviveRestart: a pick applies from its message on, regardless of the order of picks.
func TestP8_PicksSurviveRestart(t *testing.T) {
	dir := t.TempDir()
	group, topic := address.Conversation{ChatID: -7}, address.Conversation{ChatID: -7, ThreadID: 3}
	c := openIn(t, dir)
	require.NoError(t, c.NoteOthers(-7, 5))
	for _, p := range []Pick{{10, true}, {30, false}, {20, false}, {25, true}, {12, true}, {30, false}} {
		require.NoError(t, c.NotePick(group, p))
	}
	require.NoError(t, c.NotePick(topic, Pick{11, true}))
	c = openIn(t, dir)
	b := c.Bots(group)
	assert.Equal(t, []Pick{{10, true}, {20, false}, {25, true}, {30, false}}, b.Picks)
	for message, mine := range map[int]bool{10: true, 19: true, 20: false, 24: false, 29: true, 30: false, 99: false} {
		p, known := b.PickBefore(message)
		assert.True(t, known)
		assert.Equal(t, mine, p.Mine, message)
	}
	_, known := b.PickBefore(9)
	assert.False(t, known)
	assert.False(t, b.OthersBefore(4))
	assert.True(t, b.OthersBefore(5))

	require.NoError(t, c.ResetBots(-7, false))
	assert.Zero(t, c.Bots(group))
	assert.Zero(t, c.Bots(topic))
}

func TestPicksMoveWithTheirGroup(t *testing.T) {
	c := openIn(t, t.TempDir())
	group, grown := address.Conversation{ChatID: -7}, address.Conversation{ChatID: -1007}
	require.NoError(t, c.NoteOthers(-7, 500))
	require.NoError(t, c.NotePick(group, Pick{501, true}))
	require.NoError(t, c.Rehome(group, grown))
	b := c.Bots(grown)
	p, known := b.PickBefore(1)
	assert.True(t, known && p.Mine, "the new chat numbers its messages anew")
	assert.True(t, b.OthersBefore(1))
}

func TestOldPicksAreForgotten(t *testing.T) {
	c := openIn(t, t.TempDir())
	group := address.Conversation{ChatID: -7}
	for n := range 3 * maxPicks {
		require.NoError(t, c.NotePick(group, Pick{n + 1, n%2 == 0}))
	}
	picks := c.Bots(group).Picks
	assert.Len(t, picks, maxPicks)
	assert.Equal(t, 3*maxPicks, picks[maxPicks-1].Message)
}
