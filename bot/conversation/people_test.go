package conversation

import (
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
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

// TestOwnSessions: what each person of a group has chosen outlives a restart, another person's choice
// and the move to a supergroup, and a forgotten session is nobody's.
func TestOwnSessions(t *testing.T) {
	dir := t.TempDir()
	b := &Book{Store: openIn(t, dir)}
	b.Admit(Lists{People: map[int64]bool{1: true, 2: true}})
	group, supergroup := address.Conversation{ChatID: -5}, address.Conversation{ChatID: -1005}
	one, two := uuid.New(), uuid.New()
	require.NoError(t, b.SetCurrentOf(group, 1, one))
	assert.False(t, b.IsShared(group), "one person has acted there")
	require.NoError(t, b.SetCurrentOf(group, 2, two))
	require.NoError(t, b.SetCurrentOf(address.Conversation{ChatID: -5, ThreadID: 3}, 1, two))
	require.NoError(t, b.SetCurrentOf(group, 3, two))
	assert.True(t, b.IsShared(group))
	assert.False(t, b.IsShared(address.Conversation{ChatID: -5, ThreadID: 3}), "a topic has one session")
	b.Store = openIn(t, dir)
	assert.Equal(t, map[int64]uuid.UUID{1: one, 2: two, 3: two}, b.read(group).Own)
	require.NoError(t, b.SetCurrentOf(supergroup, 2, one))
	require.NoError(t, b.Rehome(group, supergroup))
	b.Store = openIn(t, dir)
	assert.Equal(t, map[int64]uuid.UUID{1: one, 2: one, 3: two}, b.read(supergroup).Own, "a later choice counts")
	require.NoError(t, b.Forget(one))
	assert.Equal(t, map[int64]uuid.UUID{1: uuid.Nil, 2: uuid.Nil, 3: two}, b.read(supergroup).Own, "nobody gets another one unasked")
	b.Admit(Lists{People: map[int64]bool{1: true, 3: false}})
	assert.False(t, b.IsShared(supergroup), "the other person is not allowed")
}
