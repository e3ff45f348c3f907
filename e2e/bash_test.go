package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withText are the bot's messages that contain a text.
func (w *world) withText(text string) (texts []string) {
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && strings.Contains(m.Text, text) {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// untilThere is a command of the shell that waits for a file in the session's folder.
func untilThere(name string) string { return "until [ -e " + name + " ]; do sleep 0.1; done" }

// makes makes the file that a command waits for.
func (w *world) makes(name string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, name), nil, 0o600))
}

// TestP5_SlowCommandUsesOneMessage runs a command in bash mode: its output is shown while it runs,
// and is in one message at the end, although ccbot is killed in between.
func TestP5_SlowCommandUsesOneMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	rows := func(names string) string { return "for i in " + names + "; do echo row $i; done; " }
	id := w.say("!" + rows("1 2") + untilThere("more") + "; " + rows("3 4") + untilThere("last") + "; " + rows("end"))
	grown := w.hear(id, "row 2")
	assert.Equal(t, id, grown.ReplyTo.ID)
	assert.Contains(t, grown.Text, "$ for i in")
	assert.Contains(t, grown.Text, "Running…")
	w.makes("more")
	w.until("it grows", func() bool { return strings.Contains(w.withText("$ for i in")[0], "row 4") })
	w.kill9()
	w.start()
	w.makes("last")
	w.hear(id, "Seen:") // the agent's comment on it
	w.until("it has ended", func() bool {
		text := w.withText("$ for i in")[0]
		return strings.Contains(text, "row end") && !strings.Contains(text, "Running…")
	})
	end := w.withText("row 1\n")
	if assert.Len(t, end, 1, "one message") {
		assert.Contains(t, end[0], "row 1\nrow 2\nrow 3\nrow 4\nrow end")
		assert.NotContains(t, end[0], "Running…")
	}
	assert.Len(t, w.received(), 1, "it ran once")
	w.stop()
}

// TestP4_StoppedCommandRunsOnce stops a command from the chat: Claude puts it back into its prompt
// box, where it must neither run again nor block the next text.
func TestP4_StoppedCommandRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	id := w.say("!while :; do echo again; sleep 0.3; done")
	grown := w.hear(id, "again")
	w.say("/stop")
	w.shows(grown.ID, "Stopped")
	w.hear(w.say("say what comes next"), "what comes next")
	assert.Len(t, w.received(), 2)
	w.stop()
}
