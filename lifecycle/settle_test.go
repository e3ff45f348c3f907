package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// An agent that ended before it could be identified has no start time. Its pane holds a person's shell by
// now, or the record names no valid pane. A later start knows no more, so each start would try again.
func TestP8_AnAgentThatWasNeverIdentifiedIsGone(t *testing.T) {
	tests := map[string]func(w *world, r session.Record, a *agent){
		"its pane was respawned": func(w *world, _ session.Record, a *agent) {
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Dead, p.PID, p.Command = false, 4242, "bash" })
		},
		"its pane has no id": func(w *world, r session.Record, _ *agent) {
			w.edit(r.ID, func(r *session.Record) { r.Binding.Pane = "?" })
		},
	}
	for name, after := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.restart()
				r, a := w.starting()
				w.edit(r.ID, func(r *session.Record) { r.Binding.Agent = process.Identity{PID: r.Binding.Agent.PID} })
				w.tmux.die(a, tmuxtest.Exit{})
				after(w, r, a)
				require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
				assert.Equal(t, session.Failed, w.get(r.ID).State)
				assert.True(t, w.get(r.ID).Unreported)
				assert.Len(t, w.tmux.windows(), 1, "the pane stays")
			})
		})
	}
}
