package presence

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
)

// watching runs a watcher until the test ends and returns the pids that it reports.
func watching(t *testing.T, path string) <-chan int {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	return watchingIn(t, watchtest.Run(t, watch.New(log)), path, log)
}

func watchingIn(t *testing.T, watcher *watch.Watcher, path string, log *slog.Logger) <-chan int {
	t.Helper()
	reported := make(chan int, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	w := NewWatcher(path, watcher, func(pid int) {
		select {
		case reported <- pid:
		case <-ctx.Done():
		}
	}, log)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
	return reported
}

// waitFor waits for one pid and skips others: a change may be reported more than once.
func waitFor(t *testing.T, reported <-chan int, want int) {
	t.Helper()
	for waittest.Next(t, reported, "pid %d is told", want) != want {
	}
}

func file(dir string, pid int) string { return filepath.Join(dir, strconv.Itoa(pid)+".json") }

func TestWatcher_tellsWhatHappens(t *testing.T) {
	dir := t.TempDir()
	write(t, file(dir, 1), recorded)
	reported := watching(t, dir)
	waitFor(t, reported, 1) // there at the start

	write(t, file(dir, 2), recorded) // made
	waitFor(t, reported, 2)
	write(t, file(dir, 1), older) // rewritten in place
	waitFor(t, reported, 1)
	require.NoError(t, os.Remove(file(dir, 2))) // removed
	waitFor(t, reported, 2)
	write(t, filepath.Join(dir, "tmp"), recorded)
	require.NoError(t, os.Rename(filepath.Join(dir, "tmp"), file(dir, 3))) // renamed into place
	waitFor(t, reported, 3)

	write(t, filepath.Join(dir, "9.key"), "x") // skipped: the next pid is 4
	write(t, filepath.Join(dir, ".8.json"), "x")
	write(t, file(dir, 4), recorded)
	for pid := range reported {
		if pid == 3 {
			continue
		}
		assert.Equal(t, 4, pid)
		break
	}
}

func TestWatcher_waitsForTheFolder(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "deep", "sessions")
	reported := watching(t, dir)
	require.NoError(t, os.Mkdir(filepath.Join(home, "unrelated"), 0o700))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	write(t, file(dir, 5), recorded)
	waitFor(t, reported, 5)
}

func TestWatcher_folderComesAndGoes(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "sessions")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	write(t, file(dir, 1), recorded)
	reported := watching(t, dir)
	waitFor(t, reported, 1)

	require.NoError(t, os.RemoveAll(filepath.Join(home, ".claude")))
	waitFor(t, reported, 1) // it is gone
	require.NoError(t, os.MkdirAll(dir, 0o700))
	write(t, file(dir, 2), recorded)
	waitFor(t, reported, 2)

	require.NoError(t, os.Rename(dir, filepath.Join(home, "moved")))
	waitFor(t, reported, 2)
	write(t, file(filepath.Join(home, "moved"), 7), recorded) // no longer the watched folder
	require.NoError(t, os.Mkdir(dir, 0o700))
	write(t, file(dir, 3), recorded)
	for pid := range reported {
		require.NotEqual(t, 7, pid)
		if pid == 3 {
			break
		}
	}
}

// A folder that cannot be listed is listed again after a while. The room does not run: fake time
// waits for no instance.
func TestWatcher_retriesFailedListing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	write(t, dir, "a file in its place")
	synctest.Test(t, func(t *testing.T) {
		lost := make(warnings, 100)
		log := slog.New(slog.NewTextHandler(lost, nil))
		reported := watchingIn(t, watch.New(log), dir, log)
		synctest.Wait()
		require.Len(t, lost, 1)
		assert.Contains(t, <-lost, "presence_watch_lost")
		require.NoError(t, os.Remove(dir))
		require.NoError(t, os.Mkdir(dir, 0o700))
		write(t, file(dir, 1), recorded)
		time.Sleep(listAgain)
		synctest.Wait()
		require.Len(t, reported, 1)
		assert.Equal(t, 1, <-reported)
		assert.Empty(t, lost)
	})
}

// The watcher is blocked while more happens than the kernel's queue holds: events are lost, and the
// listing makes up for them.
func TestWatcher_listsAgainAfterAnOverflow(t *testing.T) {
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip("not Linux")
	}
	var queue int
	_, err = fmt.Sscan(string(data), &queue)
	require.NoError(t, err)
	if queue > 50_000 {
		t.Skip("the queue of this machine is too long to fill")
	}
	dir, other := t.TempDir(), t.TempDir()
	write(t, file(dir, 1), recorded)
	write(t, file(dir, 2), recorded)
	lost := make(warnings, 100)
	log := slog.New(slog.NewTextHandler(lost, nil))
	watcher := watchtest.Run(t, watch.New(log))
	reported := watchingIn(t, watcher, dir, log)
	waitFor(t, reported, 1)
	waitFor(t, reported, 2)
	for late := 3; len(lost) == 0; late++ { // again where the kernel kept all
		gone := late + 100
		write(t, file(dir, gone), recorded)
		waitFor(t, reported, gone)
		still, goOn := make(chan struct{}), make(chan struct{})
		stop := sync.OnceFunc(func() { close(still) })
		holds := watcher.Watch(other, func(string, bool) bool { stop(); <-goOn; return false })
		waittest.Until(t, func() bool { // the room may only just begin
			write(t, filepath.Join(other, "x"), "x")
			select {
			case <-still:
				return true
			default:
				return false
			}
		})
		for i := range queue + 8000 { // two files in turn: equal events in a row would be merged
			require.NoError(t, os.Chtimes(file(dir, 1+i%2), time.Time{}, time.Unix(int64(i), 0)))
		}
		write(t, file(dir, late), recorded) // its event is lost
		require.NoError(t, os.Remove(file(dir, gone)))
		close(goOn)
		waitFor(t, reported, late)
		waitFor(t, reported, gone)
		for range 50 { // the report of the loss may come after later events
			if len(lost) == 0 {
				time.Sleep(100 * time.Millisecond)
			}
		}
		holds.Close()
	}
	assert.Contains(t, <-lost, "watch_events_lost")
}

// warnings takes what is logged.
type warnings chan string

func (w warnings) Write(line []byte) (int, error) {
	w <- string(line)
	return len(line), nil
}
