package spool_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
	"ccbot/internal/programtest"
	"ccbot/internal/spool"
)

func newFolder(t *testing.T) spool.Folder {
	return spool.Folder{Path: filepath.Join(t.TempDir(), "queue"), MaxSize: 1000}
}

func TestFolder_RoundTrip(t *testing.T) {
	for _, fsync := range []bool{false, true} {
		t.Run("fsync "+strconv.FormatBool(fsync), func(t *testing.T) {
			f := newFolder(t)
			f.Fsync = fsync
			names, err := f.List()
			require.NoError(t, err, "a missing folder is empty")
			assert.Empty(t, names)

			for _, name := range []string{"b.json", "a.json", "c.done"} {
				require.NoError(t, f.Put(name, []byte(name)))
			}
			require.NoError(t, f.Put("a.json", []byte("again")))
			names, err = f.List()
			require.NoError(t, err)
			assert.Equal(t, []string{"a.json", "b.json", "c.done"}, names)
			data, err := f.Read("a.json")
			require.NoError(t, err)
			assert.Equal(t, "again", string(data))
			info, err := os.Stat(filepath.Join(f.Path, "a.json"))
			require.NoError(t, err)
			assert.Equal(t, fs.FileMode(0o600), info.Mode())

			require.NoError(t, f.Remove("a.json"))
			require.NoError(t, f.Remove("a.json"), "twice is no error")
			_, err = f.Read("a.json")
			require.ErrorIs(t, err, fs.ErrNotExist)
			entries, err := os.ReadDir(f.Path)
			require.NoError(t, err)
			assert.Len(t, entries, 2, "no temporary file stays")
		})
	}
}

func TestFolder_Names(t *testing.T) {
	f := newFolder(t)
	for _, name := range []string{"", ".", "..", ".hidden", "a/b", "../x", "a\x00b"} {
		assert.ErrorIs(t, f.Put(name, nil), spool.ErrName, name)
		_, err := f.Read(name)
		assert.ErrorIs(t, err, spool.ErrName, name)
		assert.ErrorIs(t, f.Remove(name), spool.ErrName, name)
		assert.ErrorIs(t, f.Quarantine(name, t.TempDir(), "x"), spool.ErrName, name)
	}
	assert.NoDirExists(t, f.Path)
}

func TestFolder_ListSkips(t *testing.T) {
	f := newFolder(t)
	require.NoError(t, f.Put("item", nil))
	require.NoError(t, os.WriteFile(filepath.Join(f.Path, ".item.tmp"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(f.Path, ".folder"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(f.Path, "folder"), 0o700))
	names, err := f.List()
	require.NoError(t, err)
	assert.Equal(t, []string{"folder", "item"}, names, "a folder in the place of an item is to be noticed")
}

func TestFolder_ReadRefuses(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		want error
	}{
		{"a link to a good file", func(t *testing.T, path string) {
			target := filepath.Join(t.TempDir(), "target")
			require.NoError(t, os.WriteFile(target, []byte("x"), 0o600))
			require.NoError(t, os.Symlink(target, path))
		}, spool.ErrForeign},
		{"a link to nothing", func(t *testing.T, path string) { require.NoError(t, os.Symlink("/nowhere", path)) }, spool.ErrForeign},
		{"a pipe nobody writes to", func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) }, spool.ErrForeign},
		{"a folder", func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, spool.ErrForeign},
		{"too big", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 1001)), 0o600))
		}, spool.ErrTooBig},
		{"absent", func(*testing.T, string) {}, fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFolder(t)
			require.NoError(t, f.Make())
			tt.make(t, filepath.Join(f.Path, "item"))
			_, err := f.Read("item")
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

func TestFolder_ReadRefusesForeignFile_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	f := newFolder(t)
	require.NoError(t, f.Put("item", []byte("x")))
	require.NoError(t, os.Chown(filepath.Join(f.Path, "item"), 65534, -1))
	_, err := f.Read("item")
	assert.ErrorIs(t, err, spool.ErrForeign)
}

func TestFolder_Size(t *testing.T) {
	f := newFolder(t)
	require.ErrorIs(t, f.Put("item", make([]byte, 1001)), spool.ErrTooBig)
	require.NoError(t, f.Put("item", make([]byte, 1000)))
	data, err := f.Read("item")
	require.NoError(t, err)
	assert.Len(t, data, 1000)
}

func TestFolder_failedPutKeepsOldItem(t *testing.T) {
	for _, fsync := range []bool{false, true} {
		f := newFolder(t)
		f.Fsync = fsync
		// a rename over it fails
		require.NoError(t, os.MkdirAll(filepath.Join(f.Path, "item", "full"), 0o700))
		require.Error(t, f.Put("item", []byte("x")))
		entries, err := os.ReadDir(f.Path)
		require.NoError(t, err)
		assert.Len(t, entries, 1, "no temporary file stays")
	}
}

func TestFolder_ManyWriters(t *testing.T) {
	f := newFolder(t)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { assert.NoError(t, f.Put("item", []byte(strings.Repeat(string(rune('a'+i%26)), 500)))) })
	}
	wg.Wait()
	data, err := f.Read("item")
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat(string(data[:1]), 500), string(data), "whole, of one writer")
}

func TestQuarantine(t *testing.T) {
	for _, fsync := range []bool{false, true} {
		f := newFolder(t)
		f.Fsync = fsync
		dir := filepath.Join(t.TempDir(), "quarantine")
		for _, body := range []string{"first", "second"} {
			require.NoError(t, f.Put("item", []byte(body)))
			require.NoError(t, f.Quarantine("item", dir, "why "+body))
			require.NoError(t, f.Quarantine("item", dir, "it is gone: no error"))
		}
		require.NoError(t, os.Symlink("/nowhere", filepath.Join(f.Path, "link")))
		require.NoError(t, f.Quarantine("link", dir, "a link"))

		names, err := f.List()
		require.NoError(t, err)
		assert.Empty(t, names)
		got := map[string]string{}
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			data, _ := os.ReadFile(filepath.Join(dir, entry.Name()))
			got[entry.Name()] = string(data)
		}
		assert.Equal(t, map[string]string{
			"queue-item": "first", "queue-item.reason": "why first\n",
			"queue-item.1": "second", "queue-item.1.reason": "why second\n",
			"queue-link": "", "queue-link.reason": "a link\n",
		}, got)
	}
}

func TestQuarantine_ThatFailsLeavesTheItem(t *testing.T) {
	f := newFolder(t)
	require.NoError(t, f.Put("item", []byte("x")))
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Error(t, f.Quarantine("item", file, "why"))
	data, err := f.Read("item")
	require.NoError(t, err)
	assert.Equal(t, "x", string(data))
}

// A read-only disk refuses also to remove a file that is not there, although nothing is left to do.
func TestRemoveOfAbsentFileOnReadOnlyDisk(t *testing.T) {
	f := newFolder(t)
	require.NoError(t, f.Put("a.json", []byte("{}")))
	t.Cleanup(disk.Fail(func(op, _ string) error {
		if op == "remove" {
			return syscall.EROFS
		}
		return nil
	}))
	assert.NoError(t, f.Remove("b.json"))
	assert.Error(t, f.Remove("a.json"))
}
