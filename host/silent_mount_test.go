package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP6_SilentMountIsNotMissing checks a folder whose file system does not answer: nothing is
// concluded, nothing waits for ever, and no second check begins before the first one has an answer.
func TestP6_SilentMountIsNotMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, calls := make(chan error), atomic.Int32{}
		m := &Machine{}
		m.looks.call = func(string) (fs.FileInfo, error) { calls.Add(1); return nil, <-answers }
		for range 2 {
			_, err := m.IsMissing(t.Context(), "/mnt/gone")
			require.ErrorIs(t, err, errNoAnswer)
		}
		assert.EqualValues(t, 1, calls.Load())
		answers <- fs.ErrNotExist
		synctest.Wait()
		go func() { answers <- fs.ErrNotExist }()
		missing, err := m.IsMissing(t.Context(), "/mnt/gone")
		require.NoError(t, err)
		assert.True(t, missing)
	})
}

// TestFolderWhosePlaceIsTaken is missing, too.
func TestFolderWhosePlaceIsTaken(t *testing.T) {
	dir := t.TempDir()
	file, link, self := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "self")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink("nowhere", link))
	require.NoError(t, os.Symlink(self, self))
	m := &Machine{}
	for path, want := range map[string]bool{dir: false, file: true, filepath.Join(file, "in"): true, link: true, self: true} {
		missing, err := m.IsMissing(t.Context(), path)
		require.NoError(t, err, path)
		assert.Equal(t, want, missing, path)
	}
}
