package lifecycle

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/hookwire"
	"ccbot/internal/presence"
)

// TestTurnAsksTmuxLittle counts what one turn asks of tmux with a person's default settings, from the
// text in the queue to a quarter of an hour after the answer. A look is a server, a pane and a capture, in
// one line of tmux commands. If a change needs fewer, lower the figures.
func TestTurnAsksTmuxLittle(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = works })
		w.pass(time.Hour)
		before := len(w.tmux.Calls())
		w.held(r, "k", said)
		w.pass(time.Second)
		w.hook(r, hookwire.UserPromptSubmit, prompted(said))
		w.WakeAgent(a.id.PID)
		assert.Equal(t, map[string]int{"Server": 9, "Pane": 9, "Capture": 9, "Paste": 1, "Enter": 1, "Rename": 1}, counted(w.tmux.Calls()[before:]))

		before = len(w.tmux.Calls())
		w.pass(5 * time.Minute)
		a.set(func(a *agent) { a.status = presence.Idle })
		w.WakeAgent(a.id.PID)
		w.hook(r, hookwire.Stop, func(*hookwire.Event) {})
		w.pass(15 * time.Minute)
		assert.Equal(t, map[string]int{"Server": 13, "Pane": 13, "Capture": 13}, counted(w.tmux.Calls()[before:]))
	})
}

func counted(calls []string) map[string]int {
	n := map[string]int{}
	for _, name := range slices.Sorted(slices.Values(calls)) {
		n[name]++
	}
	return n
}
