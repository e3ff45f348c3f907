//go:build linux

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRealP4_CodexGoal: an agent that pursues a goal is named so, and a text that waits for it can pause
// it. A resume does not go on with the goal by itself.
func TestRealP4_CodexGoal(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start()
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	w.hear(w.say("say hello"), "hello")
	pursues := func() bool { r := w.record("cx"); return r.Phase == "working" && r.PhaseWhat == "pursuing" }
	w.codexTypes("/goal count to ten")
	w.until("the goal is known", pursues)
	w.until("/list names it, but for the moment between two turns", func() bool {
		return strings.Contains(w.hear(w.say("/list"), "1 session").Text, "pursues a goal")
	})

	text := w.say("say in between")
	w.tap(w.offered(text, "Pause the goal"), "Pause the goal")
	w.hear(text, "in between")
	w.until("the goal is paused", func() bool { return !w.record("cx").Progress.Pursues })

	w.codexTypes("/goal resume")
	w.until("the goal goes on", pursues)
	w.end("cx")
	resumed := w.say("/resume cx")
	w.hear(resumed, "cx is ready")
	w.hear(resumed, "cx's goal is paused")
	w.hear(w.say("say after the resume"), "after the resume")
	assert.False(t, pursues())
	w.stop()
}
