package hookwire

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, 1023, 1024, 1025, 4096, 5000} {
		path := filepath.Join(dir, "x")
		want := strings.Repeat("ab", size)[:size]
		require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
		data, err := readFile(path, 4096)
		if size > 4096 {
			require.ErrorIs(t, err, syscall.EFBIG)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
	_, err := readFile(filepath.Join(dir, "none"), 1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = readFile(dir, 1)
	require.ErrorIs(t, err, syscall.EISDIR)
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	file, err := create(path)
	require.NoError(t, err)
	_, err = file.WriteString("new")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	_, err = create(path)
	require.ErrorIs(t, err, fs.ErrExist)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "new", string(data))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
}
