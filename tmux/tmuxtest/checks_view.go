package tmuxtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/tmux"
)

// checkLeaveView leaves copy mode, and nothing else.
func checkLeaveView(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	g := r.guard()
	assert.ErrorIs(t, w.Tmux.LeaveView(t.Context(), g), tmux.ErrGuard, "it is in no mode")
	w.Person.CopyMode(t, g.Pane)
	wrong := g
	wrong.PID++
	assert.ErrorIs(t, w.Tmux.LeaveView(t.Context(), wrong), tmux.ErrGuard)
	requireRefused(t, w, g, nil)
	require.NoError(t, w.Tmux.LeaveView(t.Context(), g))
	p, err := w.Tmux.Pane(t.Context(), g.Pane)
	require.NoError(t, err)
	assert.False(t, p.InMode)
	r.requireInput(t, "")
	require.NoError(t, w.Tmux.Paste(t.Context(), g, "after"))
	r.requireInput(t, "after")
}
