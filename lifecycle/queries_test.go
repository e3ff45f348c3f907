package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/agent/claude/presence"
	"ccbot/internal/hookwire"
	"ccbot/lifecycle/view/viewtest"
)

// TestTurnAsksTmuxLittle counts the tmux calls of one turn with a person's default settings, from
// the queued text to a quarter of an hour after the answer. A reading is a server, a pane and a
// capture, in one line of tmux commands. If a change needs fewer, lower the figures.
func TestTurnAsksTmuxLittle(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = works })
		w.pass(time.Hour)
		before := len(w.tmux.Calls())
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		w.WakeAgent(a.id.PID)
		atMost(t, map[string]int{"Server": 10, "Pane": 10, "Capture": 10, "Paste": 1, "Enter": 1, "Rename": 1}, w.tmux.Calls()[before:])

		before = len(w.tmux.Calls())
		w.pass(5 * time.Minute)
		a.set(func(a *agent) { a.status = presence.Idle })
		w.WakeAgent(a.id.PID)
		w.hook(r, hookwire.Stop, func(*hookwire.Event) {})
		w.pass(15 * time.Minute)
		atMost(t, map[string]int{"Server": 19, "Pane": 19, "Capture": 19}, w.tmux.Calls()[before:])
	})
}

// atMost asserts that each method was called no more often than its limit, and others never. Two
// wakes at the same time are one reading, so a run may need fewer: 9 and 17 are usual.
func atMost(t *testing.T, limits map[string]int, calls []string) {
	t.Helper()
	n := map[string]int{}
	for _, name := range calls {
		n[name]++
	}
	for name, times := range n {
		assert.LessOrEqual(t, times, limits[name], "%s: %v", name, n)
	}
}
