package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/try/botapi"
)

// TestRealP5_WorktreeLosesNoAnswer has the agent enter a worktree, for which Claude Code renames the transcript. The answers of that
// turn and of the next ones reach the chat once, and a resume goes on there.
func TestRealP5_WorktreeLosesNoAnswer(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.repository()
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say first"), "first")
	w.hear(w.say("enter side"), "tool result")
	w.hear(w.say("say second"), "second")
	w.hear(w.say("leave"), "tool result")
	w.hear(w.say("enter side"), "tool result")
	w.hear(w.say("say third"), "third")
	w.end("work")
	w.hear(w.say("/resume work"), "work is ready")
	w.hear(w.say("say fourth"), "fourth")
	for _, text := range []string{"first", "second", "third", "fourth"} {
		assert.Len(t, w.after(0, func(m botapi.Message) bool { return m.Text == text }), 1, "the chat has it once")
	}
	w.stop()
}
