package statefolder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An entry is closed if others may only read it, but not if it was replaced since the check or
// others may now write it.
func TestP9_ExposedEntryIsClosed(t *testing.T) {
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

	require.NoError(t, os.Remove(settings))
	require.NoError(t, os.Symlink(other, settings))
	for _, x := range all {
		assert.Equal(t, x.Path != record, x.Closable, "what others may write is not closed")
		assert.Equal(t, x.Path == record, strings.HasSuffix(x.Sentence, "; look at what is in it first"), x.Sentence)
		if err := x.Close(); x.Path == record || x.Path == settings {
			assert.Error(t, err, "a link is not followed")
		} else {
			assert.NoError(t, err)
		}
	}
	for path, mode := range map[string]os.FileMode{other: 0o644, record: 0o666} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm())
	}
	require.NoError(t, os.Remove(settings))
	require.NoError(t, os.Remove(record))
	all, err = Inspect(state, false)
	require.NoError(t, err)
	assert.Empty(t, all)

	require.NoError(t, os.Chmod(state, 0o750))
	all, err = Inspect(state, false)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, os.Chmod(state, 0o770))
	assert.Error(t, all[0].Close())

	all, err = Inspect(filepath.Join(dir, "none"), false)
	require.NoError(t, err)
	assert.Empty(t, all)
}
