package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/longtest"
	"ccbot/internal/session/disktest"
)

// onSmallDisk returns a world whose CCBOT_DIR is on a small disk.
func onSmallDisk(t *testing.T, dir string) *world {
	t.Helper()
	w := newWorld(t, "CCBOT_DIR="+dir)
	w.state = dir
	return w
}

// startFails runs ccbot, which must exit with 1, and returns its output.
func (w *world) startFails() string {
	w.t.Helper()
	b := w.launch()
	w.until("ccbot has ended", b.over)
	assert.Equal(w.t, 1, b.cmd.ProcessState.ExitCode(), b.log)
	return b.log.String()
}

// TestP4_DiskFull sends messages while the disk is full: none is lost and none is typed twice, also
// across a restart. The start and the end of the fault are reported; /list is answered, and verbs
// are refused with the reason. A start without space reports it and changes nothing.
func TestP4_DiskFull(t *testing.T) {
	longtest.Mark(t, "runs the whole program on a disk of its own")
	t.Parallel()
	disktest.Run(t, 8<<20, func(dir string) {
		w := onSmallDisk(t, dir)
		w.start()
		w.open("work", w.dir)
		w.hear(w.say("say before"), "before")
		w.drained()
		term := w.newTerminal()

		free := disktest.Fill(t, dir)
		id := w.say("say while the disk is full")
		w.until("the bot has noticed", func() bool { return strings.Contains(w.bot.log.String(), "no space left on device") })
		w.hear(id, "the disk is full or cannot be written")
		w.hear(w.say("/list"), "✓ work")
		for _, verb := range []string{"send-prompt work never", "new other " + w.dir, "archive work --yes"} {
			assert.Contains(t, term.fails("ccbot "+verb), "there is no room left; make some and try again", verb)
		}
		free()
		w.hear(id, "There is room on the disk")
		w.hear(id, "while the disk is full")
		w.drained()
		assert.Equal(t, 1, w.heard("the disk is full or cannot be written"), "it is told once")
		assert.Equal(t, 1, w.heard("There is room on the disk"))
		assert.Equal(t, 1, w.heard("✓ work"), "and answered once")

		free = disktest.Fill(t, dir)
		id = w.say("say before a restart")
		w.kill9()
		records := w.recordBytes()
		said := w.startFails()
		assert.Contains(t, said, "there is no room left; make some and try again")
		assert.Contains(t, said, dir)
		assert.Equal(t, records, w.recordBytes())
		free()
		w.start()
		w.hear(id, "before a restart")
		w.hear(w.say("say after"), "after")
		assert.Equal(t, []string{"say before", "say while the disk is full", "say before a restart", "say after"}, w.received())
		assert.NoDirExists(t, filepath.Join(dir, "quarantine"))
		w.stop()
	})
}

// TestP8_ReadOnly starts in a read-only folder: a sentence names the next step, and nothing
// changes.
func TestP8_ReadOnly(t *testing.T) {
	longtest.Mark(t, "runs the whole program on a disk of its own")
	t.Parallel()
	disktest.Run(t, 8<<20, func(dir string) {
		w := onSmallDisk(t, dir)
		w.start()
		w.open("work", w.dir)
		w.hear(w.say("say hello"), "hello")
		w.stop()
		records, agents := w.recordBytes(), w.agents()
		disktest.ReadOnly(t, dir)
		said := w.startFails()
		assert.Contains(t, said, "it is read-only; mount it for writing, or set CCBOT_DIR to another folder")
		assert.Contains(t, said, dir)
		assert.Equal(t, records, w.recordBytes())
		assert.Equal(t, agents, w.agents(), "the session runs on")
	})
}

// recordBytes are the record files as they stand.
func (w *world) recordBytes() map[string]string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.state, "sessions", "*.json"))
	require.NoError(w.t, err)
	all := make(map[string]string)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(w.t, err)
		all[f] = string(data)
	}
	return all
}
