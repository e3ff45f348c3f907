package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/try/botapi"
)

// TestP7_SynchronizedPanesGetNoText: a window passes its keys on to a person's pane. The prompt
// waits with the reason and the remedy, and is sent once when the remedy was used.
func TestP7_SynchronizedPanesGetNoText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("api", w.dir)
	mine := w.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=ccbot:api", "--", "sh", "-c", "exec cat")
	w.tmux("set-option", "-w", "-t", "=ccbot:api", "synchronize-panes", "on")
	id := w.say("say together")
	asked := w.hear(id, "set-option -w synchronize-panes off")
	assert.Equal(t, 1, w.heard("set-option -w synchronize-panes off"))
	assert.Empty(t, w.tmux("capture-pane", "-p", "-t", mine))
	w.tmux("set-option", "-w", "-t", "=ccbot:api", "synchronize-panes", "off")
	w.find("the answer", func(m botapi.Message) bool { return m.Text == "together" })
	w.shows(asked.ID, "Your message was sent to api.")
	assert.Empty(t, w.tmux("capture-pane", "-p", "-t", mine))
	w.stop()
}

// TestRealP7_SmallWindowHoldsText: the real CLI draws no box in five rows, and only a part of a
// long draft in ten. Both are named, and the text is sent once when the window is larger.
func TestRealP7_SmallWindowHoldsText(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say first"), "first")
	for _, c := range []struct{ name, width, height, text string }{
		{"no box", "80", "5", "say flat"},
		{"a part of a draft", "40", "10", "say narrow, and do not mind that this prompt is far longer than it has to be: " +
			"its rows in the box are more than a terminal of forty columns and ten rows can show at once, so that the " +
			"edge of the box is not to be seen, and Enter has to wait"},
	} {
		w.tmux("resize-window", "-t", "=ccbot:work", "-x", c.width, "-y", c.height)
		id := w.say(c.text)
		asked := w.hear(id, "is too small to show its prompt box")
		w.tmux("resize-window", "-t", "=ccbot:work", "-x", "120", "-y", "40")
		w.hear(id, c.text[len("say "):len("say flat")])
		w.shows(asked.ID, "Your message was sent to work.")
	}
	w.stop()
}

// A session starts, answers and ends under a person's tmux.conf that changes windows, shells and
// options.
func TestP1_SessionsUnderPeoplesConfigurations(t *testing.T) {
	for name, line := range map[string]string{
		"rename":        "set-hook -g after-new-window 'rename-window mine'",
		"split":         "set-hook -g after-new-window 'split-window -d'",
		"default-shell": "set-option -g default-shell /bin/false",
		"small":         "set-option -g default-size 20x5 ; set-option -g window-size smallest",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(w.dir), ".tmux.conf"), []byte(line+"\n"), 0o600))
			w.start()
			w.open("api", w.dir)
			w.hear(w.say("say hello"), "hello")
			w.tap(w.hear(w.say("/kill"), "api"), "Kill")
			w.until("it is archived", func() bool { return w.records()[0].State == session.Archived })
			w.stop()
		})
	}
}
