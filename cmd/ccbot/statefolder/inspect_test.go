package statefolder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP9_AnExposedEntryIsClosed, and nothing that has taken its place since it was looked at.
func TestP9_AnExposedEntryIsClosed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	state := filepath.Join(dir, "state")
	file := func(mode os.FileMode, path string) string {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	settings := file(0o640, filepath.Join(state, SettingsFile))
	record := file(0o666, filepath.Join(state, "sessions", "a.json"))
	other := file(0o644, filepath.Join(dir, "other"))
	require.NoError(t, os.Chmod(filepath.Join(state, "sessions"), 0o755))
	require.NoError(t, os.Chmod(state, 0o750))

	all, err := Inspect(state, false)
	require.NoError(t, err)
	refused := make(map[string]bool)
	for _, x := range all {
		refused[x.Path] = x.Refused
	}
	assert.Equal(t, map[string]bool{state: false, settings: true, filepath.Join(state, "sessions"): false, record: true}, refused)

	require.NoError(t, os.Remove(record))
	require.NoError(t, os.Symlink(other, record))
	for _, x := range all {
		assert.True(t, x.Own)
		if err := x.Close(); x.Path == record {
			assert.Error(t, err, "a link is not followed")
		} else {
			assert.NoError(t, err)
		}
	}
	info, err := os.Stat(other)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode().Perm())
	all, err = Inspect(state, false)
	require.NoError(t, err)
	assert.Empty(t, all)

	all, err = Inspect(filepath.Join(dir, "none"), false)
	require.NoError(t, err)
	assert.Empty(t, all)
}
