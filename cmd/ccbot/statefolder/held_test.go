package statefolder

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
	"ccbot/internal/watch"
)

// guarded is a folder with an instance that this process holds and guards.
func guarded(t *testing.T) (*Held, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	_, h, err := Take(t.Context(), dir, "run", 0, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.Close()) })
	_, err = MakeInstance(dir)
	require.NoError(t, err)
	h.Guard()
	return h, dir
}

// ways are events of the folder, and whether it is gone then.
var ways = []struct {
	name string
	do   func(t *testing.T, dir string)
	gone bool
}{
	{"moved", func(t *testing.T, dir string) { require.NoError(t, os.Rename(dir, dir+"-moved")) }, true},
	{"removed", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) }, true},
	{"replaced by an empty folder", func(t *testing.T, dir string) {
		require.NoError(t, os.Mkdir(dir+"-empty", 0o700))
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.Rename(dir+"-empty", dir))
	}, true},
	{"without its instance", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, instanceFile))) }, true},
	{"replaced by a copy", func(t *testing.T, dir string) {
		require.NoError(t, os.CopyFS(dir+"-copy", os.DirFS(dir)))
		require.NoError(t, os.Rename(dir, dir+"-moved"))
		require.NoError(t, os.Rename(dir+"-copy", dir))
	}, true},
	{"a file", func(t *testing.T, dir string) {
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.WriteFile(dir, nil, 0o600))
	}, true},
	{"moved and a link to it", func(t *testing.T, dir string) {
		require.NoError(t, os.Rename(dir, dir+"-moved"))
		require.NoError(t, os.Symlink(dir+"-moved", dir))
	}, false},
	{"moved and back", func(t *testing.T, dir string) {
		require.NoError(t, os.Rename(dir, dir+"-moved"))
		require.NoError(t, os.Rename(dir+"-moved", dir))
	}, false},
	{"without its lock file", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, lockFile))) }, false},
}

// TestP1_GoneFolderIsNotWritten: nothing reaches a folder of the same path, which another ccbot may
// hold.
func TestP1_GoneFolderIsNotWritten(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			_, dir := guarded(t)
			elsewhere := filepath.Join(t.TempDir(), "file")
			way.do(t, dir)
			before, _ := os.ReadDir(dir)
			path := filepath.Join(dir, "file")
			for _, write := range []func(string) error{
				func(path string) error { return disk.WriteFile(path, nil, 0o600) },
				func(path string) error { return disk.Replace(path, filepath.Dir(path), nil, 0o600) },
				disk.Remove,
				func(path string) error { return disk.MkdirAll(path, 0o700) },
			} {
				require.NoError(t, write(elsewhere))
				if err := write(path); way.gone {
					require.ErrorIs(t, err, errGone)
				} else {
					require.NoError(t, err)
				}
			}
			after, _ := os.ReadDir(dir)
			if way.gone {
				assert.Len(t, after, len(before))
			}
		})
	}
}

// TestP1_GoneFolderEndsRun with one line in the log, and nothing else ends it.
func TestP1_GoneFolderEndsRun(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			h, dir := guarded(t)
			var out bytes.Buffer
			log := slog.New(slog.NewTextHandler(&out, nil))
			room := watch.New(log)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			watched, done := make(chan error, 1), make(chan error, 1)
			go func() { watched <- room.Run(ctx) }()
			go func() { done <- h.Run(ctx, room, log) }()
			way.do(t, dir)
			if !way.gone {
				end()
				require.ErrorIs(t, <-done, context.Canceled)
			} else {
				require.ErrorIs(t, <-done, errGone)
			}
			end()
			<-watched
			assert.Equal(t, way.gone, strings.Count(out.String(), "level=ERROR msg=state_folder_gone") == 1, out.String())
		})
	}
}

// TestP1_WriteNoticesGoneFolder if the kernel reports nothing, as for a folder above that was
// moved.
func TestP1_WriteNoticesGoneFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, dir := guarded(t)
		done := make(chan error, 1)
		go func() {
			done <- h.Run(t.Context(), watch.New(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler))
		}()
		synctest.Wait()
		require.NoError(t, os.Rename(dir, dir+"-moved"))
		require.ErrorIs(t, disk.WriteFile(filepath.Join(dir, "file"), nil, 0o600), errGone)
		synctest.Wait() // Run waits for the folder to come back
		require.NoError(t, os.Rename(dir+"-moved", dir))
		require.NoError(t, disk.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		time.Sleep(2 * goneConfirm)
		synctest.Wait()
		require.Empty(t, done)
		require.NoError(t, os.Rename(dir, dir+"-moved"))
		require.ErrorIs(t, disk.Remove(filepath.Join(dir, "file")), errGone)
		require.ErrorIs(t, <-done, errGone)
	})
}

// TestP6_UnknownFolderIsNotGone: a check that fails is not an answer.
func TestP6_UnknownFolderIsNotGone(t *testing.T) {
	for _, op := range []string{"stat", "lstat"} {
		for _, number := range []syscall.Errno{syscall.EIO, syscall.EACCES, syscall.EMFILE, syscall.ENOTDIR, syscall.ESTALE} {
			h, dir := guarded(t)
			end := disk.Fail(func(is, path string) error {
				if is == op && slices.Contains([]string{dir, filepath.Join(dir, instanceFile)}, path) {
					return number
				}
				return nil
			})
			assert.False(t, h.isGone(), "%s: %v", op, number)
			require.NoError(t, disk.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
			end()
		}
	}
}
