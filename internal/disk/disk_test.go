package disk_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
)

// calls makes each call once, on a file and a folder in dir.
func calls(dir string) map[string]func() error {
	path, sub := filepath.Join(dir, "file"), filepath.Join(dir, "sub")
	only := func(_ any, err error) error { return err }
	opened := func(f *os.File, err error) error {
		if err == nil {
			err = f.Close()
		}
		return err
	}
	return map[string]func() error{
		"mkdirall":   func() error { return disk.MkdirAll(sub, 0o700) },
		"writefile":  func() error { return disk.WriteFile(path, nil, 0o600) },
		"readdir":    func() error { return only(disk.ReadDir(dir)) },
		"lstat":      func() error { return only(disk.Lstat(path)) },
		"stat":       func() error { return only(disk.Stat(path)) },
		"truncate":   func() error { return disk.Truncate(path, 0) },
		"walkdir":    func() error { return disk.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error { return err }) },
		"createtemp": func() error { return opened(disk.CreateTemp(dir, "")) },
		"open":       func() error { return opened(disk.Open(dir)) },
		"sync": func() error {
			folder, err := os.Open(dir)
			if err == nil {
				defer folder.Close()
				err = disk.Sync(folder)
			}
			return err
		},
		"openfile":  func() error { return opened(disk.OpenFile(path, os.O_WRONLY, 0)) },
		"chtimes":   func() error { return disk.Chtimes(path, time.Now(), time.Now()) },
		"read":      func() error { return only(disk.Read(path, func() ([]byte, error) { return os.ReadFile(path) })) },
		"create":    func() error { return disk.Replace(path, dir, []byte("x"), 0o600) },
		"write":     func() error { return disk.Replace(path, dir, []byte("x"), 0o600) },
		"replace":   func() error { return disk.Replace(path, dir, []byte("x"), 0o600) },
		"rename":    func() error { return disk.Rename(path, path) },
		"remove":    func() error { return disk.Remove(path) },
		"removeall": func() error { return disk.RemoveAll(path) },
	}
}

func TestCallsFailAndHeal(t *testing.T) {
	for op := range calls("") {
		t.Run(op, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			end := disk.Fail(func(is, _ string) error {
				if is == op {
					return syscall.EIO
				}
				return nil
			})
			defer end()
			call := calls(dir)[op]
			require.ErrorIs(t, call(), syscall.EIO)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "old", string(data), "the call has not reached the system")
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, left, 1)
			end()
			require.NoError(t, call())
		})
	}
}

// TestGuardIsAskedBeforeEachChange, and not before a call that reads.
func TestGuardIsAskedBeforeEachChange(t *testing.T) {
	reads := []string{"readdir", "lstat", "stat", "walkdir", "open", "sync", "read"}
	for op := range calls("") {
		t.Run(op, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			end := disk.Guard(func(at string) error {
				assert.Contains(t, []string{path, filepath.Join(dir, "sub"), dir}, at)
				return syscall.ESTALE
			})
			defer end()
			call := calls(dir)[op]
			if slices.Contains(reads, op) {
				require.NoError(t, call())
				return
			}
			require.ErrorIs(t, call(), syscall.ESTALE)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "old", string(data))
			end()
			require.NoError(t, call())
		})
	}
}
