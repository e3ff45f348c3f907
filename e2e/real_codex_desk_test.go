//go:build linux

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// codexTypes types a line in the window of cx, as a person at the desk does. Enter right after letters
// would be a new line.
func (w *world) codexTypes(line string) {
	w.t.Helper()
	const window = "=ccbot:=cx"
	w.tmux("send-keys", "-t", window, "-l", line)
	w.until("the box shows "+line, func() bool { return strings.Contains(w.tmux("capture-pane", "-p", "-t", window), "› "+line) })
	w.tmux("send-keys", "-t", window, "Enter")
}

// codexCommand types one of Codex' own commands until it has its effect: for a moment after a turn the
// terminal refuses some.
func (w *world) codexCommand(command string, done func() bool) {
	w.t.Helper()
	refused := func() int {
		return strings.Count(w.tmux("capture-pane", "-p", "-t", "=ccbot:=cx"), "'"+command+"' is disabled")
	}
	for before := -1; refused() > before; {
		before = refused()
		w.codexTypes(command)
		w.until(command+" has its effect", func() bool { return done() || refused() > before })
	}
}

// TestRealP5_CodexFollowsDesk: after Codex' own /clear and /new at the desk its next conversation has no
// file before its first prompt. Its answers reach the chat, also those to a prompt that was typed there.
func TestRealP5_CodexFollowsDesk(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start()
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	w.codexTypes("say typed first")
	w.hear(0, "typed first")
	first := w.record("cx").AgentSessionID

	w.codexCommand("/clear", func() bool { return w.record("cx").AgentSessionID != first })
	second := w.record("cx").AgentSessionID
	w.hear(w.say("say after clear"), "after clear")
	w.hear(w.say("say once more"), "once more")

	w.codexCommand("/new", func() bool { return w.record("cx").AgentSessionID != second })
	w.codexTypes("say typed after new")
	w.hear(0, "typed after new")
	w.hear(w.say("say from the chat"), "from the chat")

	refused := w.hear(w.say("//clear"), "takes its own commands only in its terminal")
	assert.Equal(t, 1, strings.Count(refused.Text, "not sent"))
	w.hear(w.say("say not cleared"), "not cleared")
	w.end("cx")
	w.hear(w.say("/resume cx"), "cx is ready")
	w.hear(w.say("say still here"), "still here")
	w.stop()
}

// TestRealP5_CodexPlanComesBeforeItsQuestion: a person sees the plan that they are asked to approve.
func TestRealP5_CodexPlanComesBeforeItsQuestion(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start()
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	w.hear(w.say("say hello"), "hello")
	w.codexCommand("/plan", func() bool { return strings.Contains(w.tmux("capture-pane", "-p", "-t", "=ccbot:=cx"), "Plan mode (") })
	prompt := w.say("plan 1. Paint the shed green")
	w.hear(prompt, "Paint the shed green")
	asked := w.hear(0, "Implement this plan?")
	w.tap(w.offered(asked.ID-1, "No, stay in Plan mode"), "No, stay in Plan mode")

	asked = w.offered(w.say("ask Red Blue"), "Blue")
	assert.Contains(t, asked.Text, "Which one shall it be?")
	w.tap(asked, "Blue")
	answer := w.hear(asked.ID, "tool result")
	assert.Contains(t, answer.Text, "Blue")
	w.stop()
}
