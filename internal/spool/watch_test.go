package spool_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/spool"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
)

// watching runs Watch until the test ends and returns the lists of items.
func watching(t *testing.T, f spool.Folder) <-chan []string {
	ctx, cancel := context.WithCancel(context.Background())
	watcher := watchtest.Run(t, watch.New(slog.New(slog.DiscardHandler)))
	seen := make(chan []string)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Watch(ctx, watcher, func() {
			names, _ := f.List()
			select {
			case seen <- names:
			case <-ctx.Done():
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return seen
}

// until waits for a listing that has the names; the test's own deadline is the bound.
func until(t *testing.T, seen <-chan []string, want ...string) {
	t.Helper()
	for names := range seen {
		if assert.ObjectsAreEqual(want, names) {
			return
		}
	}
}

func TestWatch(t *testing.T) {
	f := newFolder(t)
	require.NoError(t, f.Put("early", nil))
	seen := watching(t, f)
	until(t, seen, "early")
	require.NoError(t, f.Put("late", nil))
	until(t, seen, "early", "late")
}

func TestWatch_MakesTheFolder(t *testing.T) {
	f := newFolder(t)
	seen := watching(t, f)
	<-seen
	require.NoError(t, f.Put("item", nil))
	until(t, seen, "item")
}

func TestWatch_FolderTakenAway(t *testing.T) {
	f := newFolder(t)
	require.NoError(t, f.Make())
	seen := watching(t, f)
	<-seen
	require.NoError(t, os.Rename(f.Path, filepath.Join(filepath.Dir(f.Path), "away")))
	<-seen // it watches a new one
	require.NoError(t, f.Put("item", nil))
	until(t, seen, "item")
}

func TestWatchMakesFolderLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600)) // in the place of the folder
		ctx, end := context.WithCancel(t.Context())
		var changes atomic.Int64
		go spool.Folder{Path: filepath.Join(file, "queue")}.Watch(ctx, watch.New(slog.New(slog.DiscardHandler)), func() { changes.Add(1) })
		time.Sleep(time.Minute + time.Second)
		assert.EqualValues(t, 1+12, changes.Load(), "at the beginning, and at each try")
		require.NoError(t, os.Remove(file))
		time.Sleep(5 * time.Second)
		assert.DirExists(t, filepath.Join(file, "queue"))
		end()
		synctest.Wait()
	})
}
