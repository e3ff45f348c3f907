package ownfile_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/ownfile"
	"ccbot/internal/programtest"
)

func TestRead(t *testing.T) {
	content := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	link := func(to string) func(string) error {
		return func(path string) error { return os.Symlink(to, path) }
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, content("linked")(elsewhere))
	both := ownfile.Links | ownfile.Others
	tests := []struct {
		name  string
		make  func(path string) error
		allow ownfile.Allow
		want  string
		is    error
	}{
		{"a file", content("text"), 0, "text", nil},
		{"an empty file", content(""), 0, "", nil},
		{"as large as allowed", content(strings.Repeat("x", 10)), 0, "xxxxxxxxxx", nil},
		{"too large", content(strings.Repeat("x", 11)), both, "", ownfile.ErrTooBig},
		{"nothing", func(string) error { return nil }, both, "", fs.ErrNotExist},
		{"a link", link(elsewhere), ownfile.Others, "", ownfile.ErrForeign},
		{"a link that may be one", link(elsewhere), ownfile.Links, "linked", nil},
		{"a link to a device", link("/dev/zero"), both, "", ownfile.ErrForeign},
		{"a pipe that nobody writes to", func(path string) error { return syscall.Mkfifo(path, 0o600) }, both, "", ownfile.ErrForeign},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, both, "", ownfile.ErrForeign},
		{"a socket", func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
			return err
		}, both, "", ownfile.ErrForeign},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "ownfile") // short enough for a socket
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			path := filepath.Join(dir, "f")
			require.NoError(t, tt.make(path))
			data, err := ownfile.Read(path, 10, tt.allow)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
				require.ErrorContains(t, err, path)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(data))
		})
	}
}

func TestReadRefusesForeignFile_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("foreign"), 0o600))
	require.NoError(t, os.Chown(path, 12345, -1))
	_, err := ownfile.Read(path, 10, ownfile.Links)
	require.ErrorIs(t, err, ownfile.ErrForeign)
	require.ErrorContains(t, err, path)
	data, err := ownfile.Read(path, 10, ownfile.Others)
	require.NoError(t, err)
	assert.Equal(t, "foreign", string(data))
}
