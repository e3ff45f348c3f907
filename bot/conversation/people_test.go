package conversation

import (
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/address"
)

// Who has written in a group outlives a restart and the move to a supergroup.
func TestPeopleOfGroup(t *testing.T) {
	dir := t.TempDir()
	b := &Book{Store: openIn(t, dir)}
	b.Admit(Lists{People: map[int64]bool{1: true, 2: true}})
	const group, supergroup = -5, -1005
	assert.Empty(t, b.PeopleOf(group))
	require.NoError(t, b.NotePerson(group, &models.User{ID: 1, Username: "ann"}))
	require.NoError(t, b.NotePerson(group, &models.User{ID: 2}))
	require.NoError(t, b.NotePerson(group, &models.User{ID: 1, Username: "ann_a"}))
	require.NoError(t, b.NotePerson(1, &models.User{ID: 1}))
	require.NoError(t, b.NotePeopleTold(group))
	assert.Empty(t, b.PeopleOf(1), "a private chat has one person")
	b.Store = openIn(t, dir)
	require.NoError(t, b.Rehome(address.Conversation{ChatID: group}, address.Conversation{ChatID: supergroup}))
	b.Store = openIn(t, dir)
	assert.Equal(t, map[int64]string{1: "ann_a", 2: ""}, b.PeopleOf(supergroup))
	assert.True(t, b.PeopleTold(supergroup))
	b.Admit(Lists{People: map[int64]bool{2: true}})
	assert.Equal(t, map[int64]string{2: ""}, b.PeopleOf(supergroup), "taken off the list")
}
