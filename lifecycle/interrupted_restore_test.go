package lifecycle

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// An agent that ended before it was identified has no start time. Its pane may hold a person's
// shell, or the record names no valid pane. A later start knows no more, so each start would try
// again.
func TestP8_UnidentifiedAgentIsGone(t *testing.T) {
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

// A stop whose window is not known is finished by what the processes show.
func TestP3_StopWithoutWindowNeedsNoTmux(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.restart()
		r, a := w.starting()
		w.edit(r.ID, func(r *session.Record) { r.State, r.Final, r.Binding = session.Stopping, session.Archived, nil })
		w.tmux.die(a, tmuxtest.Exit{})
		w.tmux.Fail("Panes", tmux.ErrLost)
		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		assert.Equal(t, session.Archived, w.get(r.ID).State)
	})
}

// interrupted returns a restore that was just requested and made no window.
func (w *world) interrupted() session.Record {
	w.t.Helper()
	r := w.archived()
	w.restart()
	w.edit(r.ID, func(r *session.Record) {
		r.State, r.RestoredFrom, r.StartedAt = session.Restoring, session.Archived, time.Now().UTC()
	})
	return w.get(r.ID)
}

func TestP8_InterruptedRestoreContinues(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.interrupted()
		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		got := w.get(r.ID)
		assert.Equal(t, session.Restoring, got.State)
		assert.NotNil(t, got.Binding)
		assert.Len(t, w.tmux.windows(), 1)
	})
}

// A restore that cannot be continued is reported, if need be by a step.
func TestP8_FailedInterruptedRestoreIsReported(t *testing.T) {
	for name, full := range map[string]bool{"at once": false, "when the disk has room again": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.interrupted()
				require.NoError(t, os.RemoveAll(r.Dir))
				if full {
					w.news.set(func(n *heardNews) { n.fail = func(news.News) error { return errors.New("no space left on device") } })
				}
				require.Error(t, w.Settle(w.ctx, r.ID, testRule))
				w.news.set(func(n *heardNews) { n.fail = nil })
				w.run()
				w.pass(10 * time.Minute)
				assert.Equal(t, session.Failed, w.get(r.ID).State)
				assert.Equal(t, 1, toldOf[news.Failed](w.news))
			})
		})
	}
}
