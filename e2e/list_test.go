package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP9_GetSendsFileOfFolder asks for a file, for the folder's list, and for a file elsewhere.
func TestP9_GetSendsFileOfFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "a b.txt"), []byte("hello there"), 0o600))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(w.dir, "away")))
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("/get ."), "a b.txt  11 B")
	w.hear(w.say("/get away"), "is outside of work's folder")
	w.say("/get a b.txt")
	w.until("the file is in the chat", func() bool {
		for _, m := range w.api.Messages(w.chat()) {
			if m.FromBot && m.Document != nil && m.Document.FileName == "a b.txt" {
				return true
			}
		}
		return false
	})
	w.stop()
}

// TestP3_EndIdleSparesBusySessions ends two sessions that rest, and leaves one that works.
func TestP3_EndIdleSparesBusySessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	for _, name := range []string{"one", "two", "busy"} {
		w.open(name, w.dir)
	}
	w.say("slow 300")
	w.until("it works", func() bool { return w.begun("busy", "slow 300") && w.record("busy").Phase == "working" })
	list := w.offered(w.say("/list"), "End idle ones")
	assert.Contains(t, list.Text, "busy · working")
	assert.Contains(t, list.Text, "slow 300", "what it was asked last")
	w.tap(list, "End idle ones")
	asked := w.offered(list.ID, "End them")
	assert.Contains(t, asked.Text, "• busy: working")
	w.tap(asked, "End them")
	w.shows(asked.ID, "2 sessions are archived: one, two.")
	assert.Equal(t, []string{"busy"}, w.windows())
	assert.Equal(t, "archived", w.stateOf("one"))
	assert.Zero(t, w.heard("one is archived."), "one message tells of both")
	w.stop()
}
