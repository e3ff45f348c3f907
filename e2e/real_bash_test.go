package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/try/botapi"
)

// TestRealBashMode runs commands in the bash mode of the real CLI. Its transcript
// has nothing of one that runs, keeps nothing of one that was stopped, and names a
// file for what is long.
func TestRealBashMode(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)

	// longer than a proof is waited for
	id := w.say("!for i in 1 2 3 4 5 6; do echo row $i; sleep 4; done; echo the end")
	grown := w.hear(id, "row 1")
	w.until("it grows", func() bool { return strings.Contains(w.shows(grown.ID, "$ for i in").Text, "row 3") })
	w.shows(grown.ID, "row 6\nthe end")
	w.hear(grown.ID, "echo: <bash-stdout>")
	assert.Len(t, w.withText("row 1\n"), 2, "one message, and what the agent says to it")
	assert.Zero(t, w.heard("not certain that"))

	id = w.say("!echo be''gun; sleep 300")
	grown = w.hear(id, "begun")
	w.say("/stop")
	w.shows(grown.ID, "begun\nStopped")
	w.hear(w.say("say what comes next"), "what comes next")
	assert.Empty(t, w.withText("bash mode"), "nothing waits behind what was stopped")

	id = w.say("!seq 1 20000")
	shown := w.hear(id, "more lines")
	assert.Contains(t, shown.Text, "19999\n20000")
	w.find("all of it is a file", func(m botapi.Message) bool {
		return m.ID > id && m.Document != nil && strings.HasPrefix(m.Document.FileName, "output") && m.Document.FileSize > 100_000
	})
	w.stop()
}
