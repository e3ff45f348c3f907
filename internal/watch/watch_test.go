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

	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func running(t *testing.T) *watch.Room { return watchtest.Run(t, watch.New(quiet())) }

func anything(string, bool) bool { return true }

func write(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, nil, 0o600))
}

// hears waits until a watch tells a name, or for "" to look at everything.
func hears(t *testing.T, w *watch.Watch, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // only a broken room meets it
	defer cancel()
	for {
		names, err := w.Wait(ctx)
		require.NoError(t, err, "not told: %q", want)
		if names[want] || names == nil && want == "" {
			return
		}
	}
}

// tellsNames waits until what happens in a folder is told by name: what is to be looked at as a
// whole comes first.
func tellsNames(t *testing.T, w *watch.Watch, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // only a broken room meets it
	defer cancel()
	for n := 0; ; n++ {
		write(t, filepath.Join(dir, "n"+strconv.Itoa(n)))
		names, err := w.Wait(ctx)
		require.NoError(t, err)
		if names != nil {
			return
		}
	}
}

// served waits until the room runs and has told all that has happened up to now.
func served(t *testing.T, room *watch.Room) {
	t.Helper()
	dir := t.TempDir()
	w := room.Watch(dir, anything)
	defer w.Close()
	tellsNames(t, w, dir)
}

// silent says that a watch has nothing to tell.
func silent(t *testing.T, room *watch.Room, w *watch.Watch) {
	t.Helper()
	served(t, room)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // where there is something, a select takes either
		names, err := w.Wait(ctx)
		require.ErrorIs(t, err, context.Canceled, "%v", names)
	}
}

func TestWatchTellsTheNamesThatMatter(t *testing.T) {
	dir, room := t.TempDir(), running(t)
	served(t, room)
	w := room.Watch(dir, func(name string, made bool) bool { return made && name != "c" || name == "b" })
	hears(t, w, "")
	write(t, filepath.Join(dir, "a"))
	hears(t, w, "a")
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	write(t, filepath.Join(dir, "c"))
	silent(t, room, w)
	write(t, filepath.Join(dir, "b"))
	hears(t, w, "b")
	require.NoError(t, os.Remove(filepath.Join(dir, "b")))
	hears(t, w, "b")
	w.Close()
	write(t, filepath.Join(dir, "b"))
	silent(t, room, w)
}

func TestWatchKeepsWhatHappensWhileNobodyWaits(t *testing.T) {
	dir, room := t.TempDir(), running(t)
	served(t, room)
	w := room.Watch(dir, anything)
	hears(t, w, "")
	write(t, filepath.Join(dir, "a"))
	write(t, filepath.Join(dir, "b"))
	served(t, room)
	names, err := w.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"a": true, "b": true}, names)

	write(t, filepath.Join(dir, "a"))
	require.NoError(t, os.RemoveAll(dir))
	hears(t, w, "") // everything, which is more than a name
}

func TestWatchWaitsForTheFolder(t *testing.T) {
	home, room := t.TempDir(), running(t)
	served(t, room)
	dir := filepath.Join(home, "a", "b", "c")
	w := room.Watch(dir, anything)
	hears(t, w, "")
	write(t, filepath.Join(home, "noise"))
	require.NoError(t, os.Mkdir(filepath.Join(home, "b"), 0o700))
	silent(t, room, w)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	tellsNames(t, w, dir)
}

func TestWatchBeforeTheRoomRuns(t *testing.T) {
	dir, room := t.TempDir(), watch.New(quiet())
	w := room.Watch(dir, anything)
	hears(t, w, "")
	watchtest.Run(t, room)
	hears(t, w, "")
	tellsNames(t, w, dir)
}

// Both users of one folder hear of it, whatever name they know it by, and one goes on when the
// other one ends.
func TestOneFolderUnderTwoNames(t *testing.T) {
	dir, room := t.TempDir(), running(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	served(t, room)
	first, second := room.Watch(dir, anything), room.Watch(link, anything)
	hears(t, first, "")
	hears(t, second, "")
	write(t, filepath.Join(dir, "a"))
	hears(t, first, "a")
	hears(t, second, "a")
	first.Close()
	write(t, filepath.Join(dir, "b"))
	hears(t, second, "b")
}

func TestALostFolderHasEverybodyLook(t *testing.T) {
	for name, lose := range map[string]func(string) error{
		"removed":                os.Remove,
		"under another name":     func(dir string) error { return os.Rename(dir, dir+".away") },
		"removed and made again": func(dir string) error { return errors.Join(os.Remove(dir), os.Mkdir(dir, 0o700)) },
		"another one in its place": func(dir string) error {
			return errors.Join(os.Mkdir(dir+".new", 0o700), syscall.Rename(dir+".new", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			room, parent := running(t), t.TempDir()
			served(t, room)
			dir := filepath.Join(parent, "dir")
			require.NoError(t, os.Mkdir(dir, 0o700))
			all := []*watch.Watch{room.Watch(dir, anything), room.Watch(filepath.Join(dir, "missing"), anything), room.Watch(t.TempDir(), anything)}
			for _, w := range all {
				hears(t, w, "")
			}
			require.NoError(t, lose(dir))
			for _, w := range all {
				hears(t, w, "")
			}
			served(t, room)
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "missing"), 0o700))
			tellsNames(t, all[0], dir)
			tellsNames(t, all[1], filepath.Join(dir, "missing"))
		})
	}
}

const queueFile = "/proc/sys/fs/inotify/max_queued_events"

// queue is how many events the kernel keeps for an instance.
func queue(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(queueFile)
	if err != nil {
		t.Skip("not Linux")
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	return n
}

// TestAnOverflowHasEverybodyLook has the room stand still while more happens than the kernel keeps.
// It takes the queue as it is; with CCBOT_TEST_INOTIFY_QUEUE=16 root has the kernel keep 16, for
// the whole machine until this room has its instance.
func TestAnOverflowHasEverybodyLook(t *testing.T) {
	log := make(lines, 100)
	room := watch.New(slog.New(slog.NewTextHandler(log, nil)))
	most, restore := queue(t), func() {}
	if short := os.Getenv("CCBOT_TEST_INOTIFY_QUEUE"); short != "" {
		long := strconv.Itoa(most)
		restore = sync.OnceFunc(func() { assert.NoError(t, os.WriteFile(queueFile, []byte(long), 0)) })
		require.NoError(t, os.WriteFile(queueFile, []byte(short), 0))
		most = queue(t)
	}
	defer restore()
	watchtest.Run(t, room)
	served(t, room)
	restore()
	if most > 50_000 {
		t.Skip("the queue of this machine is too long to fill")
	}
	busy, idle := t.TempDir(), t.TempDir()
	files := [2]string{filepath.Join(busy, "a"), filepath.Join(busy, "b")}
	write(t, files[0])
	write(t, files[1])
	still, goOn := make(chan struct{}), make(chan struct{})
	stand := sync.OnceFunc(func() { close(still); <-goOn })
	all := []*watch.Watch{room.Watch(busy, func(string, bool) bool { stand(); return true }), room.Watch(idle, anything),
		room.Watch(filepath.Join(idle, "missing"), anything)}
	for _, w := range all {
		hears(t, w, "")
	}
	for i := range most + 8000 { // two files in turn: equal events in a row would be merged
		require.NoError(t, os.Chtimes(files[i%2], time.Time{}, time.Unix(int64(i), 0)))
	}
	<-still
	require.NoError(t, os.Mkdir(filepath.Join(idle, "missing"), 0o700)) // nobody is told
	close(goOn)
	for _, w := range all {
		hears(t, w, "")
	}
	assert.Contains(t, <-log, "watch_events_lost")
	tellsNames(t, all[2], filepath.Join(idle, "missing"))
}

// lines takes what is logged.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}
