package importer

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/ownfile"
)

func TestReadIsBounded(t *testing.T) {
	large := func(path string) error {
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 1<<34) // without blocks on the disk
	}
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	for _, tt := range []struct {
		name string
		make func(path string) error
		want error
	}{
		{"too large", large, ownfile.ErrTooBig},
		{"a pipe", pipe, ownfile.ErrForeign},
		{"a device", func(path string) error { return os.Symlink("/dev/zero", path) }, ownfile.ErrForeign},
		{"nothing", func(string) error { return nil }, fs.ErrNotExist},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, tt.make(filepath.Join(dir, "state.json")))
			_, err := Read(dir)
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

// Of two people who used a session, the same one gets it each time.
func TestSessionOfTwoPeople(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "state.json"),
		[]byte(`{"sessions":{"s":{}},"active_history":{"7":["s"],"5":["s"],"6":["s"]}}`), 0o600))
	for range 50 {
		all, err := Read(dir)
		require.NoError(t, err)
		require.Len(t, all, 1)
		assert.Equal(t, int64(7), all[0].person)
	}
}
