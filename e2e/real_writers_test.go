package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// TestRealP1_BackgroundIsNamed lets a person move an adopted session into the background of Claude Code, first by ←, then by
// /background: the chat names the command that shows it, types nothing into the window, and starts no second writer.
func TestRealP1_BackgroundIsNamed(t *testing.T) {
	// Not beside other tests: Claude Code stops a job in the background whose process has not begun within 14 s.
	w, _ := newRealWorld(t)
	w.start()
	desk, pane, _, agent := w.adopted()
	w.hear(w.say("say typed by the chat"), "typed by the chat")
	w.until("the turn is over", func() bool { return w.record("work").Phase == "idle" })

	desk.tmux("send-keys", "-t", pane, "Left") // in the empty box
	w.until("it is seen", func() bool { return strings.Contains(w.record("work").PhaseWhat, "claude attach ") })
	held := w.say("say nowhere")
	w.hear(held, "is in the background of Claude Code: claude attach ")
	assert.NotContains(t, desk.screen(pane), "nowhere")
	assert.Contains(t, w.hear(w.say("/list"), "work").Text, "in the background of Claude Code: claude attach ")
	old := w.claudeID()
	var there []process.Identity
	w.until("it works there", func() bool { // Claude Code says "parked" before it has moved
		_, id, moved := strings.Cut(w.transcript(old), `"continuedInSessionId":"`)
		if moved {
			there = w.writersOf(id[:len(old)])
		}
		return len(there) == 1
	})
	w.endLater(there[0])
	w.endLater(w.claudeDaemon()) // it writes its files once more when it ends, after the folder of the test is gone
	w.until("two ^C in a row have ended it", func() bool {
		desk.tmux("send-keys", "-t", pane, "C-c")
		return w.table.Liveness(agent) == process.Gone
	})
	ended := w.hear(held, "is in the background of Claude Code, so it is no longer open here")
	assert.Zero(t, w.heard("work ended on its own"))
	w.until("the record has the conversation there", func() bool { return w.stateOf("work") == "completed" && w.claudeID() != old })
	assert.Equal(t, process.Gone, w.table.Liveness(agent))
	assert.Contains(t, ended.Text, "claude attach "+w.claudeID()[:8])

	refused := w.offered(w.say("/resume work"), "Continue in a copy")
	assert.Contains(t, refused.Text, pid(there[0]))
	assert.True(t, w.alive(there[0]), "nobody has asked to end it")
	w.takeOver(refused.ID, "Take over", there[0])
	w.hear(refused.ID, "work is ready")
	w.hear(w.say("say back here"), "back here")
	w.stop()
}

// claudeDaemon is the process of Claude Code above the conversations in its background.
func (w *world) claudeDaemon() process.Identity {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.claude, "daemon", "roster.json"))
	require.NoError(w.t, err)
	var roster struct {
		PID int `json:"supervisorPid"`
	}
	require.NoError(w.t, json.Unmarshal(data, &roster))
	id, err := w.table.Identify(roster.PID)
	require.NoError(w.t, err)
	return id
}
