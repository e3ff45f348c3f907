package e2e

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/longtest"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// hang stops the world's tmux server, which then answers nothing until the returned function is
// called.
func (w *world) hang() (answers func()) {
	w.t.Helper()
	server := w.panes()[0]
	require.NoError(w.t, syscall.Kill(server.PID, syscall.SIGSTOP))
	answers = func() { _ = syscall.Kill(server.PID, syscall.SIGCONT) }
	w.t.Cleanup(answers)
	return answers
}

// While tmux hangs, each command of the chat reports that and changes nothing. Text waits, and the
// start and the end of the silence are reported once.
func TestP6_HangingTmuxIsNoEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("old", w.dir)
	w.tap(w.hear(w.say("/kill old"), "old"), "Kill")
	w.until("it is archived", func() bool { return w.records()[0].State == session.Archived })
	w.open("api", w.dir)
	w.hear(w.say("say hello"), "hello")
	shot := w.hear(w.say("/screenshot"), "") // its text is a caption
	kill := w.hear(w.say("/kill"), "api")
	agents, before := w.panes(), w.states()
	answers := w.hang()
	const silent = "tmux does not answer"
	// Each waits some seconds for tmux. The tests of lifecycle try all of them at each call to tmux.
	commands := []string{"/stop", "/new more " + w.dir, "/resume old", "/screenshot", "/mode api"}
	for _, command := range commands[:longtest.Size(2, len(commands))] {
		w.hear(w.say(command), silent)
	}
	w.tap(shot, "↑")
	last := w.hear(w.say("/stop"), silent)
	w.tap(kill, "Kill")
	w.hear(last.ID, silent)
	text := w.say("say later")
	w.hear(text, "tmux has not answered on the machine for 30 seconds")
	assert.Equal(t, before, w.states())
	for _, id := range agents {
		assert.Equal(t, process.Alive, w.table.Liveness(id))
	}
	answers()
	w.hear(text, "tmux answers again")
	w.hear(text, "later")
	assert.Equal(t, 1, w.heard("for 30 seconds"))
	assert.Equal(t, 1, w.heard("tmux answers again"))
	assert.Equal(t, before, w.states())
	assert.Equal(t, []string{"api"}, w.windows())
	w.stop()
}

// states are the states of all sessions.
func (w *world) states() map[string]session.State {
	w.t.Helper()
	all := make(map[string]session.State)
	for _, r := range w.records() {
		all[r.Name] = r.State
	}
	return all
}
