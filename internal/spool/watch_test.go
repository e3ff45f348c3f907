package spool_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/spool"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
)

// watching runs Watch and gives what it tells. Everything has ended when the test has.
func watching(t *testing.T, f spool.Folder) <-chan []string {
	ctx, cancel := context.WithCancel(context.Background())
	room := watchtest.Run(t, watch.New(slog.New(slog.DiscardHandler)))
	seen := make(chan []string)
	done := make(chan error, 1)
	go func() {
		done <- f.Watch(ctx, room, func() {
			names, _ := f.List()
			select {
			case seen <- names:
			case <-ctx.Done():
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
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
	seen := watching(t, f)
	<-seen
	require.NoError(t, os.Rename(f.Path, filepath.Join(filepath.Dir(f.Path), "away")))
	<-seen // it watches a new one
	require.NoError(t, f.Put("item", nil))
	until(t, seen, "item")
}

func TestWatch_Impossible(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	f := spool.Folder{Path: filepath.Join(file, "queue")}
	assert.Error(t, f.Watch(t.Context(), watch.New(slog.New(slog.DiscardHandler)), func() {}))
}
