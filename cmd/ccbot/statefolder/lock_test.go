package statefolder

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
)

// TestP1_DeletedLockFileAdmitsNoBot: the folder itself is also locked.
func TestP1_DeletedLockFileAdmitsNoBot(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	require.NoError(t, os.Chmod(dir, 0o700))
	_, held, err := Take(t.Context(), dir, "run", time.Minute, log)
	require.NoError(t, err)
	path := filepath.Join(dir, lockFile)
	require.NoError(t, os.Remove(path))

	_, _, err = Take(t.Context(), dir, "run", time.Minute, log)
	require.ErrorIs(t, err, exit.ErrRunning)
	assert.ErrorContains(t, err, path+" was deleted")
	assert.NoFileExists(t, path, "a second file would hide that the first one is gone")

	require.NoError(t, held.Close())
	_, held, err = Take(t.Context(), dir, "run", time.Minute, log)
	require.NoError(t, err)
	assert.NoError(t, held.Close())
}
