package e2e

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// TestRealP5_WorktreeLosesNoAnswer has the agent enter a worktree, for which Claude Code renames the transcript. The answers of that
// turn and of the next ones reach the chat once, and a resume goes on there.
func TestRealP5_WorktreeLosesNoAnswer(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "first"}} {
		out, err := exec.Command("git", append([]string{"-C", w.dir}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
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
