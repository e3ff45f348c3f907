//go:build linux

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRealP4_CodexFullContext: a limit has its time. A conversation that no longer fits into the model's
// context offers to compact it, and then takes the next text.
func TestRealP4_CodexFullContext(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start()
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	w.hear(w.say("say hello"), "hello")
	limited := w.hear(w.say("limit"), "cx has reached a limit")
	assert.Regexp(t, `It can continue (at|\w+ \d+ at) \d`, limited.Text)

	w.hear(0, "After that this can be sent") // above or below it
	w.until("ccbot knows the limit", func() bool { return w.record("cx").Phase == "limit_reached" })
	full := w.say("full")
	w.tap(w.offered(full, "Send now"), "Send now")
	assert.Contains(t, w.hear(full, "no longer fits into the model's context").Text, "begin a new one with /new")
	w.tap(w.offered(full, "Compact"), "Compact")
	w.until("Codex has compacted", func() bool { return strings.Contains(w.tmux("capture-pane", "-p", "-t", "=ccbot:=cx"), "ompacted") })
	w.hear(w.say("say after it"), "after it")
	assert.Contains(t, w.hear(w.say("//compact the tests"), "takes its own commands only in its terminal").Text, "not sent")
	assert.Zero(t, w.heard("Was it sent"))
	w.stop()
}
