package conversation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
)

func has(c *Store, id uuid.UUID, number int64) bool { return News{c}.has(id, number) }

func note(c *Store, to session.Conversation, id uuid.UUID, number int64) error {
	return News{c}.Once(port.Session{ID: id, Conversation: to, News: number}, news.Lost{}, func() error { return nil })
}

func TestP8_NumbersOfNewsStay(t *testing.T) {
	dir, id := t.TempDir(), uuid.New()
	// A file of a program before the numbers.
	require.NoError(t, os.WriteFile(filepath.Join(dir, nameOf(atAlice)), []byte(`{"version":1,"current":"`+id.String()+`"}`), 0o600))
	c := openIn(t, dir)
	require.Empty(t, c.Damaged())
	assert.Equal(t, id, c.Current(atAlice))
	assert.False(t, has(c, id, 1))
	require.NoError(t, note(c, atAlice, id, 7))
	c = openIn(t, dir)
	assert.True(t, has(c, id, 7) && has(c, id, 6))
	assert.False(t, has(c, id, 8) || has(c, uuid.New(), 1))

	elsewhere := session.Conversation{ChatID: -5, ThreadID: 3}
	require.NoError(t, note(c, elsewhere, id, 9))
	assert.True(t, has(c, id, 9))
	require.NoError(t, c.Rehome(elsewhere, atAlice))
	assert.True(t, has(openIn(t, dir), id, 9))
	for n := range newsLimit {
		require.NoError(t, note(c, atAlice, uuid.New(), int64(10+n)))
	}
	assert.False(t, has(c, id, 9), "the oldest one")
	require.NoError(t, note(c, atAlice, id, 1000))
	require.NoError(t, c.Forget(id))
	assert.False(t, has(c, id, 1))
}
