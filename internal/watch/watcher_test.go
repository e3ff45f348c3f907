package watch

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func anything(string, bool) bool { return true }

// counted is the number of lines that were logged.
type counted int

func (c *counted) Write(line []byte) (int, error) {
	*c++
	return len(line), nil
}

// Without an instance, waiters are woken periodically, and by events once there is one.
func TestWatcherWithoutInstance(t *testing.T) {
	dir := t.TempDir()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	restore := func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }
	defer restore()
	synctest.Test(t, func(t *testing.T) {
		logged := new(counted)
		watcher := New(slog.New(slog.NewTextHandler(logged, nil)))
		w := watcher.Watch(dir, anything)
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: limit.Max}))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- watcher.Run(ctx) }()
		for range 5 {
			synctest.Wait()
			assert.Nil(t, woken(t, w))
			assert.Empty(t, w.news)
			time.Sleep(slowRetry)
		}
		synctest.Wait()
		assert.EqualValues(t, 1, *logged)
		assert.Nil(t, woken(t, w))

		restore()
		time.Sleep(slowRetry)
		for n := 0; ; n++ { // nil names, the whole folder, come first
			require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), nil, 0o600))
			if names, err := w.Wait(ctx); names != nil || err != nil {
				require.NoError(t, err)
				break
			}
		}
		stop()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}

// Without an instance, a busy Watcher wakes its waiters every second, an idle one every 30 seconds.
func TestBusyWatcherRetriesEverySecond(t *testing.T) {
	dir := t.TempDir()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	restore := func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }
	defer restore()
	synctest.Test(t, func(t *testing.T) {
		watcher := New(slog.New(slog.DiscardHandler))
		var busy atomic.Bool
		watcher.Busy = busy.Load
		w := watcher.Watch(dir, anything)
		assert.Empty(t, watcher.Problem())
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: limit.Max}))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- watcher.Run(ctx) }()
		wakes := func(d time.Duration) (n int) {
			for range d / quickRetry {
				time.Sleep(quickRetry)
				synctest.Wait()
				if len(w.news) > 0 {
					<-w.news
					n++
				}
			}
			return n
		}
		synctest.Wait()
		assert.Nil(t, woken(t, w))
		assert.Equal(t, NoInstance, watcher.Problem())
		assert.Equal(t, 2, wakes(2*slowRetry))
		busy.Store(true)
		assert.Equal(t, 10, wakes(10*quickRetry))
		busy.Store(false)
		assert.Equal(t, 1, wakes(slowRetry))
		restore()
		time.Sleep(slowRetry)
		for n := 0; ; n++ { // nil names, the whole folder, come first
			require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), nil, 0o600))
			if names, err := w.Wait(ctx); names != nil || err != nil {
				require.NoError(t, err)
				break
			}
		}
		assert.Empty(t, watcher.Problem())
		stop()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}

// The waiter of an unwatchable folder is woken periodically, and by events once it can be watched.
func TestUnwatchableFolderIsRetried(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "loop")
	require.NoError(t, os.Symlink(dir, dir))
	logged := new(counted)
	watcher, notify := unread(t)
	watcher.log = slog.New(slog.NewTextHandler(logged, nil))
	w, other := watcher.Watch(dir, anything), watcher.Watch(t.TempDir(), anything)
	for range 3 {
		assert.Nil(t, woken(t, w))
		assert.Nil(t, woken(t, other))
		begin(watcher, notify)
	}
	assert.True(t, watcher.again.Stop(), "and so on")
	assert.EqualValues(t, 1, *logged)
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Mkdir(dir, 0o700))
	begin(watcher, notify)
	assert.Empty(t, watcher.problem)
	assert.Nil(t, woken(t, w))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
	watcher.dispatch(<-notify.Events)
	watcher.lookingUp.Wait()
	assert.Contains(t, woken(t, w), "x")
}

// unread returns a Watcher with an instance whose events are not read.
func unread(t *testing.T) (*Watcher, *fsnotify.Watcher) {
	notify, err := fsnotify.NewWatcher()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, notify.Close()) })
	watcher := New(slog.New(slog.DiscardHandler))
	begin(watcher, notify)
	return watcher, notify
}

// begin re-adds all watches and waits until they are installed.
func begin(watcher *Watcher, notify *fsnotify.Watcher) {
	watcher.begin(notify)
	watcher.lookingUp.Wait()
}

// woken returns the names that w reports now.
func woken(t *testing.T, w *Watch) map[string]bool {
	t.Helper()
	select {
	case names := <-w.news:
		return names
	default:
		require.Fail(t, "nothing was told")
		return nil
	}
}

// The end of a folder is not reported when its parent is watched before that end is read.
func TestFolderRemovedBeforeParentIsWatched(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "dir")
	require.NoError(t, os.Mkdir(dir, 0o700))
	watcher, _ := unread(t)
	w := watcher.Watch(dir, anything)
	assert.Nil(t, woken(t, w))
	// keeps fsnotify from reading on
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
	require.NoError(t, os.RemoveAll(dir))
	watcher.Watch(filepath.Join(parent, "missing"), anything)
	assert.Nil(t, woken(t, w))
	assert.Len(t, watcher.lost, 1, "and all are placed anew")
}

// Events of a folder are reported under one path only; under the other it is retried periodically.
func TestBindMountedFolderIsRetried(t *testing.T) {
	parent := t.TempDir()
	dir, other := filepath.Join(parent, "dir"), filepath.Join(parent, "other")
	require.NoError(t, os.Mkdir(dir, 0o700))
	watcher, _ := unread(t)
	first := watcher.Watch(dir, anything)
	// keeps fsnotify from reading on
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
	require.NoError(t, os.Rename(dir, other))
	second := watcher.Watch(other, anything)
	assert.NotEmpty(t, watcher.problem)
	assert.Equal(t, dir, first.at)
	assert.Empty(t, second.at)
	assert.Nil(t, woken(t, second))
}

// A network file system that is gone hangs whoever looks at it.
func TestHangingFolderDelaysNoOther(t *testing.T) {
	gone, dir := t.TempDir(), t.TempDir()
	hangs, comesBack := make(chan struct{}, 1), make(chan struct{})
	watcher := New(slog.New(slog.DiscardHandler))
	watcher.lookUp = func(path string) (at, next string, err error) {
		if path == gone {
			select {
			case hangs <- struct{}{}:
			default:
			}
			<-comesBack
		}
		return nearest(path)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	w, slow := watcher.Watch(dir, anything), watcher.Watch(gone, anything)
	go func() { done <- watcher.Run(ctx) }()
	<-hangs
	for n := 0; ; n++ { // nil names, the whole folder, come first
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), nil, 0o600))
		if names, err := w.Wait(ctx); names != nil || err != nil {
			require.NoError(t, err)
			break
		}
	}
	assert.Nil(t, woken(t, slow))
	watcher.retry()
	assert.Nil(t, woken(t, slow), "it has its slow look")
	assert.Empty(t, hangs, "and is not looked up once more")
	watcher.Watch(t.TempDir(), anything).Close()
	close(comesBack)
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
}
