package watch_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func running(t *testing.T) *watch.Watcher { return watchtest.Run(t, watch.New(quiet())) }

func anything(string, bool) bool { return true }

func write(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, nil, 0o600))
}

// waitFor waits until w reports the name want, or the whole folder if want is empty.
func waitFor(t *testing.T, w *watch.Watch, want string) {
	t.Helper()
	ctx := waittest.Context(t)
	for {
		names, err := w.Wait(ctx)
		require.NoError(t, err, "not told: %q", want)
		if names[want] || names == nil && want == "" {
			return
		}
	}
}

// waitForNames waits until w reports a change in dir by name, after any report of the whole folder.
func waitForNames(t *testing.T, w *watch.Watch, dir string) {
	t.Helper()
	ctx := waittest.Context(t)
	for n := 0; ; n++ {
		write(t, filepath.Join(dir, "n"+strconv.Itoa(n)))
		names, err := w.Wait(ctx)
		require.NoError(t, err)
		if names != nil {
			return
		}
	}
}

// served waits until the Watcher runs and has reported all earlier changes.
func served(t *testing.T, watcher *watch.Watcher) {
	t.Helper()
	dir := t.TempDir()
	w := watcher.Watch(dir, anything)
	defer w.Close()
	waitForNames(t, w, dir)
}

// silent says that a watch has nothing to tell.
func silent(t *testing.T, watcher *watch.Watcher, w *watch.Watch) {
	t.Helper()
	served(t, watcher)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // if both are ready, select takes either
		names, err := w.Wait(ctx)
		require.ErrorIs(t, err, context.Canceled, "%v", names)
	}
}

func TestWatchReportsConcernedNames(t *testing.T) {
	dir, watcher := t.TempDir(), running(t)
	served(t, watcher)
	w := watcher.Watch(dir, func(name string, made bool) bool { return made && name != "c" || name == "b" })
	waitFor(t, w, "")
	write(t, filepath.Join(dir, "a"))
	waitFor(t, w, "a")
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	write(t, filepath.Join(dir, "c"))
	silent(t, watcher, w)
	write(t, filepath.Join(dir, "b"))
	waitFor(t, w, "b")
	require.NoError(t, os.Remove(filepath.Join(dir, "b")))
	waitFor(t, w, "b")
	w.Close()
	write(t, filepath.Join(dir, "b"))
	silent(t, watcher, w)
}

func TestWatchKeepsChangesBetweenWaits(t *testing.T) {
	dir, watcher := t.TempDir(), running(t)
	served(t, watcher)
	w := watcher.Watch(dir, anything)
	waitFor(t, w, "")
	write(t, filepath.Join(dir, "a"))
	write(t, filepath.Join(dir, "b"))
	served(t, watcher)
	names, err := w.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"a": true, "b": true}, names)

	write(t, filepath.Join(dir, "a"))
	require.NoError(t, os.RemoveAll(dir))
	waitFor(t, w, "") // everything, which is more than a name
}

func TestWatchWaitsForFolder(t *testing.T) {
	home, watcher := t.TempDir(), running(t)
	served(t, watcher)
	dir := filepath.Join(home, "a", "b", "c")
	w := watcher.Watch(dir, anything)
	waitFor(t, w, "")
	write(t, filepath.Join(home, "noise"))
	require.NoError(t, os.Mkdir(filepath.Join(home, "b"), 0o700))
	silent(t, watcher, w)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	waitForNames(t, w, dir)
}

func TestWatchBeforeRun(t *testing.T) {
	dir, watcher := t.TempDir(), watch.New(quiet())
	w := watcher.Watch(dir, anything)
	waitFor(t, w, "")
	watchtest.Run(t, watcher)
	waitFor(t, w, "")
	waitForNames(t, w, dir)
}

// Both watches of one folder report its changes, under any of its paths, and closing one does not
// affect the other.
func TestTwoWatchesOfOneFolder(t *testing.T) {
	dir, watcher := t.TempDir(), running(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	served(t, watcher)
	first, second := watcher.Watch(dir, anything), watcher.Watch(link, anything)
	waitFor(t, first, "")
	waitFor(t, second, "")
	write(t, filepath.Join(dir, "a"))
	waitFor(t, first, "a")
	waitFor(t, second, "a")
	first.Close()
	write(t, filepath.Join(dir, "b"))
	waitFor(t, second, "b")
}

func TestLostFolderWakesAllWaiters(t *testing.T) {
	for name, reset := range map[string]func(string) error{
		"removed":                os.Remove,
		"under another name":     func(dir string) error { return os.Rename(dir, dir+".away") },
		"removed and made again": func(dir string) error { return errors.Join(os.Remove(dir), os.Mkdir(dir, 0o700)) },
		"another one in its place": func(dir string) error {
			return errors.Join(os.Mkdir(dir+".new", 0o700), syscall.Rename(dir+".new", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			watcher, parent := running(t), t.TempDir()
			served(t, watcher)
			dir := filepath.Join(parent, "dir")
			require.NoError(t, os.Mkdir(dir, 0o700))
			all := []*watch.Watch{watcher.Watch(dir, anything), watcher.Watch(filepath.Join(dir, "missing"), anything), watcher.Watch(t.TempDir(), anything)}
			for _, w := range all {
				waitFor(t, w, "")
			}
			require.NoError(t, reset(dir))
			for _, w := range all {
				waitFor(t, w, "")
			}
			served(t, watcher)
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "missing"), 0o700))
			waitForNames(t, all[0], dir)
			waitForNames(t, all[1], filepath.Join(dir, "missing"))
		})
	}
}

const queueFile = "/proc/sys/fs/inotify/max_queued_events"

// queueLength returns how many events the kernel queues for an instance.
func queueLength(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(queueFile)
	if err != nil {
		t.Skip("not Linux")
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	return n
}

// TestOverflowWakesAllWaiters blocks the Watcher while more happens than the kernel queues. It uses
// the queue as it is; with CCBOT_TEST_INOTIFY_QUEUE=16, root sets the limit to 16 for the whole
// machine until this Watcher has its instance.
func TestOverflowWakesAllWaiters(t *testing.T) {
	log := make(lines, 100)
	watcher := watch.New(slog.New(slog.NewTextHandler(log, nil)))
	most, restore := queueLength(t), func() {}
	if short := os.Getenv("CCBOT_TEST_INOTIFY_QUEUE"); short != "" {
		long := strconv.Itoa(most)
		restore = sync.OnceFunc(func() { assert.NoError(t, os.WriteFile(queueFile, []byte(long), 0)) })
		require.NoError(t, os.WriteFile(queueFile, []byte(short), 0))
		most = queueLength(t)
	}
	defer restore()
	watchtest.Run(t, watcher)
	served(t, watcher)
	restore()
	if most > 50_000 {
		t.Skip("the queue of this machine is too long to fill")
	}
	busy, idle := t.TempDir(), t.TempDir()
	files := [2]string{filepath.Join(busy, "a"), filepath.Join(busy, "b")}
	write(t, files[0])
	write(t, files[1])
	blocked, resume := make(chan struct{}), make(chan struct{})
	block := sync.OnceFunc(func() { close(blocked); <-resume })
	all := []*watch.Watch{watcher.Watch(busy, func(string, bool) bool { block(); return true }), watcher.Watch(idle, anything),
		watcher.Watch(filepath.Join(idle, "missing"), anything)}
	for _, w := range all {
		waitFor(t, w, "")
	}
	for i := range most + 8000 { // two files in turn: equal events in a row would be merged
		require.NoError(t, os.Chtimes(files[i%2], time.Time{}, time.Unix(int64(i), 0)))
	}
	<-blocked
	require.NoError(t, os.Mkdir(filepath.Join(idle, "missing"), 0o700)) // the event is lost
	close(resume)
	for _, w := range all {
		waitFor(t, w, "")
	}
	assert.Contains(t, <-log, "watch_events_lost")
	waitForNames(t, all[2], filepath.Join(idle, "missing"))
}

// lines takes what is logged.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}
