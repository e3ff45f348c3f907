package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
)

// adopted archives a session, continues it in a person's shell on ccbot's tmux server, and adopts
// it there.
func (w *world) adopted() (d *personTerminal, pane string, shell, agent process.Identity) {
	w.t.Helper()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.end("work")
	id := w.claudeID()
	d = w.ccbotTerminal()
	pane, shell = d.shell()
	d.enter(pane, w.agentPath()+" --resume "+id)
	told := w.offered(0, "Connect")
	writers := w.writersOf(id)
	require.Len(w.t, writers, 1)
	w.endLater(writers[0])
	w.tap(told, "Connect")
	w.hear(told.ID, "is connected")
	return d, pane, shell, writers[0]
}

// suspend presses C-z, so that the shell comes to the front.
func (d *personTerminal) suspend(pane string) {
	d.w.t.Helper()
	d.tmux("send-keys", "-t", pane, "C-z")
	d.w.until("the shell is in front", func() bool {
		return d.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}") == "bash"
	})
}

// TestP7_TextsGoToAdoptedAgentOnly adopts an agent in a person's own shell: the chat types to the
// agent, never to the shell, and /kill leaves the shell alone.
func TestP7_TextsGoToAdoptedAgentOnly(t *testing.T) {
	inShortRun(t, "an adopted window")
	t.Parallel()
	w := newWorld(t, "KILL_GRACE=2s")
	w.start()
	desk, pane, shell, agent := w.adopted()
	w.hear(w.say("say typed by the chat"), "typed by the chat")

	w.stop()
	w.start()
	w.hear(w.say("say after a restart"), "after a restart")

	desk.suspend(pane)
	held := w.say("touch never-by-the-shell")
	w.hear(held, "is queued")
	desk.enter(pane, "echo the shell says $((6*7))")
	w.until("the shell works", func() bool { return strings.Contains(desk.screen(pane), "the shell says 42") })
	assert.NotContains(t, desk.screen(pane), "never-by-the-shell")
	assert.NoFileExists(t, filepath.Join(w.dir, "never-by-the-shell"))
	desk.enter(pane, "fg")
	w.hear(held, "You wrote:")
	assert.Equal(t, []string{"say hello", "say typed by the chat", "say after a restart", "touch never-by-the-shell"}, w.received())

	desk.suspend(pane)
	receipt := w.end("work")
	assert.Contains(t, receipt.Text, "Everything else in its window stays open", "the pane is the person's")
	assert.Contains(t, receipt.Text, "KILL", "what is stopped hears no TERM")
	assert.Equal(t, process.Gone, w.table.Liveness(agent))
	assert.True(t, w.alive(shell))
	desk.enter(pane, "echo still here $((6*9))")
	w.until("the shell still works", func() bool { return strings.Contains(desk.screen(pane), "still here 54") })
	assert.NoFileExists(t, filepath.Join(w.dir, "never-by-the-shell"))
	w.stop()
}

// TestP2_ShellOutlivesAdoptedAgent lets an adopted agent exit by itself: that is reported, and the
// person's pane stays.
func TestP2_ShellOutlivesAdoptedAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	desk, pane, shell, agent := w.adopted()
	w.hear(w.say("/exit"), "work ended at your request")
	assert.Equal(t, process.Gone, w.table.Liveness(agent))
	w.until("its end is on disk", func() bool { return w.stateOf("work") == "completed" })
	desk.enter(pane, "echo still here $((6*9))")
	w.until("the shell works", func() bool { return strings.Contains(desk.screen(pane), "still here 54") })
	assert.True(t, w.alive(shell))
	w.hear(w.say("/resume work"), "work is ready")
	assert.Equal(t, []string{"work"}, w.windows(), "in a window of ccbot's again")
	w.stop()
}

// TestP7_SuspendedAgentGetsNoText presses C-z in ccbot's own window, where no shell can
// resume the agent: texts wait until the agent has its screen again.
func TestP7_SuspendedAgentGetsNoText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.tmux("send-keys", "-t", "=ccbot:work", "C-z")
	screen := func() string { return w.tmux("capture-pane", "-p", "-t", "=ccbot:work") }
	w.until("it is suspended", func() bool { return strings.Contains(screen(), "suspended") })
	held := w.say("say after the suspension")
	suspended := w.hear(held, "work is suspended")
	w.hear(held, "1 message waits.")
	assert.NotContains(t, screen(), "after the suspension")
	w.tap(suspended, "Continue")
	w.hear(held, "after the suspension")
	assert.Equal(t, []string{"say hello", "say after the suspension"}, w.received())
	w.stop()
}

// TestAdoptedConversationIsFollowed clears the conversation in an adopted window, which has no
// hooks: the chat continues with the new one.
func TestAdoptedConversationIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	_, _, _, agent := w.adopted()
	before := w.claudeID()
	w.hear(w.say("say before"), "before")
	w.say("/clear")
	w.until("the conversation has another id", func() bool { return w.claudeID() != before })
	w.hear(w.say("say after"), "after")
	id := w.claudeID()
	w.until("its agent alone writes it", func() bool { return slices.Equal(w.writersOf(id), []process.Identity{agent}) }) // its file is written in place
	w.end("work")
	assert.Empty(t, w.writersOf(id))
	w.hear(w.say("/resume work"), "work is ready")
	assert.Equal(t, id, w.claudeID())
	w.stop()
}
