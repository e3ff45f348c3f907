package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
)

// TestRealClearThenKillLeavesNothing lets a person clear the conversation inside
// the window, which makes the command line stale: an archive leaves no process
// of either id.
func TestRealClearThenKillLeavesNothing(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say before"), "before")
	first := w.claudeID()
	w.typeInTerminal("work", "/clear")
	w.until("the conversation has another id", func() bool { return w.claudeID() != first })
	w.hear(w.say("say cleared"), "cleared")
	second := w.claudeID()
	agents := w.agents()
	require.Len(t, agents, 1)
	assert.Equal(t, agents, w.writersOf(second))
	assert.Equal(t, agents, w.writersOf(first), "its command line still names the first one")

	w.end("work")
	w.why("work", fmt.Sprintf("process %d ended (", agents[0].PID))
	assert.Equal(t, process.Gone, w.table.Liveness(agents[0]))
	assert.Empty(t, w.writersOf(first))
	assert.Empty(t, w.writersOf(second))
	assert.Empty(t, w.windows())
	w.stop()
}

// TestRealWriterAtTheDesk resumes an archived session in a terminal: a resume from the chat is
// refused, a fork has the conversation, and a take-over makes the session its only writer again.
func TestRealWriterAtTheDesk(t *testing.T) {
	t.Parallel()
	w, api := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say the first turn"), "the first turn")
	w.end("work")
	id := w.claudeID()
	agent := w.newPersonTerminal().agent("--resume", id)

	refused := w.offered(w.say("/resume work"), "Continue in a copy")
	assert.Contains(t, refused.Text, pid(agent))
	w.tap(refused, "Continue in a copy")
	w.hear(refused.ID, "work-fork is ready")
	w.hear(w.say("say from the fork"), "from the fork")
	asked, ok := api.Asked("say from the fork")
	require.True(t, ok)
	assert.True(t, asked.Says("the first turn"), "the model sees what was said before the fork")
	assert.Equal(t, []process.Identity{agent}, w.writersOf(id))
	assert.NotContains(t, w.transcript(id), "from the fork")

	refused = w.offered(w.say("/resume work"), "Continue in a copy")
	w.takeOver(refused.ID, "Take over", agent)
	w.hear(refused.ID, "work is ready")
	assert.Equal(t, process.Gone, w.table.Liveness(agent))
	w.hear(w.say("say back here"), "back here")
	assert.Len(t, w.writersOf(id), 1)
	w.stop()
}

// TestRealAdopted adopts the real CLI in a person's shell: it takes a prompt and
// answers, gets nothing while it is in the background, and /kill leaves the
// shell.
func TestRealAdopted(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	desk, pane, shell, agent := w.adopted()
	w.hear(w.say("say typed by the chat"), "typed by the chat")

	desk.suspend(pane)
	held := w.say("say after the shell")
	w.hear(held, "is queued")
	assert.NotContains(t, desk.screen(pane), "after the shell")
	desk.enter(pane, "fg")
	w.hear(held, "after the shell")

	w.end("work")
	assert.Equal(t, process.Gone, w.table.Liveness(agent))
	assert.True(t, w.alive(shell))
	desk.enter(pane, "echo still here $((6*9))")
	w.until("the shell works", func() bool { return strings.Contains(desk.screen(pane), "still here 54") })
	w.stop()
}
