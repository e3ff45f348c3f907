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

// counted is how many lines were logged.
type counted int

func (c *counted) Write(line []byte) (int, error) {
	*c++
	return len(line), nil
}

// Without an instance everybody looks now and then, and is told as ever once there is one.
func TestARoomWithoutAnInstance(t *testing.T) {
	dir := t.TempDir()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	restore := func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }
	defer restore()
	synctest.Test(t, func(t *testing.T) {
		logged := new(counted)
		room := New(slog.New(slog.NewTextHandler(logged, nil)))
		w := room.Watch(dir, anything)
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: limit.Max}))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- room.Run(ctx) }()
		for range 5 {
			synctest.Wait()
			assert.Nil(t, told(t, w))
			assert.Empty(t, w.news)
			time.Sleep(slowLook)
		}
		synctest.Wait()
		assert.EqualValues(t, 1, *logged)
		assert.Nil(t, told(t, w))

		restore()
		time.Sleep(slowLook)
		for n := 0; ; n++ { // the first looks are at the whole folder
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

// TestBusyRoomLooksEverySecond while the kernel gives no instance, and every 30 seconds when idle.
func TestBusyRoomLooksEverySecond(t *testing.T) {
	dir := t.TempDir()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	restore := func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }
	defer restore()
	synctest.Test(t, func(t *testing.T) {
		room := New(slog.New(slog.DiscardHandler))
		var busy atomic.Bool
		room.Busy = busy.Load
		w := room.Watch(dir, anything)
		assert.Empty(t, room.Problem())
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: limit.Max}))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- room.Run(ctx) }()
		looks := func(d time.Duration) (n int) {
			for range d / quickLook {
				time.Sleep(quickLook)
				synctest.Wait()
				if len(w.news) > 0 {
					<-w.news
					n++
				}
			}
			return n
		}
		synctest.Wait()
		assert.Nil(t, told(t, w))
		assert.Equal(t, NoInstance, room.Problem())
		assert.Equal(t, 2, looks(2*slowLook))
		busy.Store(true)
		assert.Equal(t, 10, looks(10*quickLook))
		busy.Store(false)
		assert.Equal(t, 1, looks(slowLook))
		restore()
		time.Sleep(slowLook)
		for n := 0; ; n++ { // the first looks are at the whole folder
			require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), nil, 0o600))
			if names, err := w.Wait(ctx); names != nil || err != nil {
				require.NoError(t, err)
				break
			}
		}
		assert.Empty(t, room.Problem())
		stop()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}

// What cannot be watched has a look now and then, and is told as ever once it can be.
func TestAFolderThatCannotBeWatched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "loop")
	require.NoError(t, os.Symlink(dir, dir))
	logged := new(counted)
	room, notify := unread(t)
	room.log = slog.New(slog.NewTextHandler(logged, nil))
	w, other := room.Watch(dir, anything), room.Watch(t.TempDir(), anything)
	for range 3 {
		assert.Nil(t, told(t, w))
		assert.Nil(t, told(t, other))
		begin(room, notify)
	}
	assert.True(t, room.again.Stop(), "and so on")
	assert.EqualValues(t, 1, *logged)
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Mkdir(dir, 0o700))
	begin(room, notify)
	assert.Empty(t, room.problem)
	assert.Nil(t, told(t, w))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
	room.take(<-notify.Events)
	room.placed.Wait()
	assert.Contains(t, told(t, w), "x")
}

// unread gives a room with an instance whose events nobody takes.
func unread(t *testing.T) (*Room, *fsnotify.Watcher) {
	notify, err := fsnotify.NewWatcher()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, notify.Close()) })
	room := New(slog.New(slog.DiscardHandler))
	begin(room, notify)
	return room, notify
}

// begin places all watches anew, and returns when they stand.
func begin(room *Room, notify *fsnotify.Watcher) {
	room.begin(notify)
	room.placed.Wait()
}

// told is what a watch has to tell now.
func told(t *testing.T, w *Watch) map[string]bool {
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
func TestAFolderThatEndedBeforeItsParentWasWatched(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "dir")
	require.NoError(t, os.Mkdir(dir, 0o700))
	room, _ := unread(t)
	w := room.Watch(dir, anything)
	assert.Nil(t, told(t, w))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600)) // keeps fsnotify from reading on
	require.NoError(t, os.RemoveAll(dir))
	room.Watch(filepath.Join(parent, "missing"), anything)
	assert.Nil(t, told(t, w))
	assert.Len(t, room.lost, 1, "and all are placed anew")
}

// Events of a folder are reported under one name only: under another one it is looked at now and
// then.
func TestAFolderWithTwoNames(t *testing.T) {
	parent := t.TempDir()
	dir, other := filepath.Join(parent, "dir"), filepath.Join(parent, "other")
	require.NoError(t, os.Mkdir(dir, 0o700))
	room, _ := unread(t)
	first := room.Watch(dir, anything)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600)) // keeps fsnotify from reading on
	require.NoError(t, os.Rename(dir, other))
	second := room.Watch(other, anything)
	assert.NotEmpty(t, room.problem)
	assert.Equal(t, dir, first.at)
	assert.Empty(t, second.at)
	assert.Nil(t, told(t, second))
}

// A network file system that is gone hangs whoever looks at it.
func TestAFolderThatHangsHoldsUpNobodyElse(t *testing.T) {
	gone, dir := t.TempDir(), t.TempDir()
	hangs, comesBack := make(chan struct{}, 1), make(chan struct{})
	room := New(slog.New(slog.DiscardHandler))
	room.lookUp = func(path string) (at, next string, err error) {
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
	w, lame := room.Watch(dir, anything), room.Watch(gone, anything)
	go func() { done <- room.Run(ctx) }()
	<-hangs
	for n := 0; ; n++ { // the first looks are at the whole folder
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), nil, 0o600))
		if names, err := w.Wait(ctx); names != nil || err != nil {
			require.NoError(t, err)
			break
		}
	}
	assert.Nil(t, told(t, lame))
	room.retry()
	assert.Nil(t, told(t, lame), "it has its slow look")
	assert.Empty(t, hangs, "and is not looked up once more")
	room.Watch(t.TempDir(), anything).Close()
	close(comesBack)
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
}
