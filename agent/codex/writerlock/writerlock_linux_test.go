package writerlock

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestP1_HoldersOfLocks(t *testing.T) {
	home := t.TempDir()
	held, err := Home(home).Held()
	require.NoError(t, err)
	assert.Empty(t, held, "Codex was never used")

	dir := filepath.Join(home, "thread-writer-locks")
	require.NoError(t, os.Mkdir(dir, 0o700))
	mine, opened := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	lock := flock.New(filepath.Join(dir, mine.String()+".lock"))
	got, err := lock.TryLock()
	require.NoError(t, err)
	require.True(t, got)
	other := flock.New(filepath.Join(dir, ".coordination.lock"))
	got, err = other.TryLock()
	require.NoError(t, err)
	require.True(t, got)
	defer other.Unlock()
	file, err := os.Create(filepath.Join(dir, opened.String()+".lock"))
	require.NoError(t, err)
	defer file.Close()

	held, err = Home(home).Held()
	require.NoError(t, err)
	assert.Equal(t, map[int][]uuid.UUID{os.Getpid(): {mine}}, held, "an open file without a lock is none")

	require.NoError(t, lock.Unlock())
	held, err = Home(home).Held()
	require.NoError(t, err)
	assert.Empty(t, held)
}
