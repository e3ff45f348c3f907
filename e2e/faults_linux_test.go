package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ccbot/internal/longtest"
	"ccbot/internal/session/disktest"
)

// TestP4_FoldersHealWhileBotRuns: folders of ccbot become read-only, one after the other, and
// writable again. Work that was accepted is done then. A command that needs the disk is answered
// with the reason, and works afterwards. A command that needs no disk is answered. The same ccbot
// runs to the end.
func TestP4_FoldersHealWhileBotRuns(t *testing.T) {
	longtest.Mark(t, "runs the whole program on a disk of its own")
	t.Parallel()
	disktest.Run(t, 16<<20, func(dir string) {
		w := onSmallDisk(t, dir)
		w.start()
		w.open("work", w.dir)
		w.drained()
		in := func(folder string) string {
			path := filepath.Join(dir, folder)
			require.NoError(t, os.MkdirAll(path, 0o700))
			return path
		}
		for _, folder := range []string{"inbox", "sessions"} { // class retried
			noticed := strings.Count(w.bot.log.String(), "read-only file system")
			heal := disktest.Protect(t, in(folder))
			id := w.say("say during " + folder)
			w.until(folder+" is read-only", func() bool { return strings.Count(w.bot.log.String(), "read-only file system") > noticed })
			heal()
			w.hear(id, "during "+folder)
		}
		assert.Equal(t, []string{"say during inbox", "say during sessions"}, w.received())

		heal := disktest.Protect(t, in("launch")) // class reported
		w.hear(w.say("/new other "+w.dir), "is read-only")
		heal()
		w.open("other", w.dir)
		heal = disktest.Protect(t, in("chats"))
		list := w.hear(w.say("/list"), "2 sessions")
		w.tap(list, "work")
		w.hear(w.say("/list"), "✓ other")
		heal()
		w.tap(list, "work")
		w.hear(w.say("/list"), "✓ work")

		heal = disktest.Protect(t, in("usage")) // class repeated
		w.hear(w.say("/usage"), "Usage")
		heal()
		w.until("what was counted is kept", func() bool {
			w.hear(w.say("/usage"), "Usage")
			_, err := os.Stat(filepath.Join(dir, "usage", "index"))
			return err == nil
		})
		heal = disktest.Protect(t, in("status"))
		w.hear(w.say("say once more"), "once more")
		heal()
		w.drained()
		stopped := time.Now()
		w.stop()
		alive, err := os.Stat(filepath.Join(dir, "alive"))
		require.NoError(t, err)
		assert.WithinRange(t, alive.ModTime(), stopped.Add(-time.Second), time.Now().Add(time.Second))
	})
}

// TestP4_DescriptorsRunOut: for a while ccbot may open no file.
func TestP4_DescriptorsRunOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say before"), "before")
	w.drained()
	pid := w.bot.cmd.Process.Pid
	var limit unix.Rlimit
	require.NoError(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit))
	allow := func(files uint64) {
		require.NoError(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: files, Max: limit.Max}, nil))
	}
	allow(3)
	id := w.say("say without descriptors")
	w.until("no file can be opened", func() bool { return strings.Contains(w.bot.log.String(), "too many open files") })
	allow(limit.Cur)
	w.hear(id, "without descriptors")
	w.hear(w.say("say after"), "after")
	w.drained()
	assert.Equal(t, []string{"say before", "say without descriptors", "say after"}, w.received())
	w.stop()
}
