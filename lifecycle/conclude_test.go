package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// Recovery concludes an end even without steps.
func TestP8_EndIsConcludedWithoutStep(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.restart() // it does not run
		w.tmux.die(a, tmuxtest.Exit{Status: 7})
		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		got := w.get(r.ID)
		assert.Equal(t, session.Completed, got.State)
		assert.Equal(t, 7, got.Exit.Status)
		assert.Equal(t, 1, toldOf[news.Ended](w.news))
		assert.Empty(t, w.tmux.windows(), "the dead pane is closed")

		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		assert.Equal(t, got, w.get(r.ID), "once more is nothing")
	})
}

// tmux may cease to answer while ccbot waits for the status: the end is concluded when it can be
// read again.
func TestP6_UnreadableEndIsConcludedLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.restart() // it does not run
		w.tmux.die(a, tmuxtest.Exit{Status: 7})
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.DeadStatus = -1 })
		looks := 0
		w.core.Observer.Now = func() time.Time { // each check begins with it
			if looks++; looks == 2 {
				w.tmux.Fail("Server", tmux.ErrLost)
			}
			return time.Now()
		}
		require.Error(t, w.Settle(w.ctx, r.ID, testRule))
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.Zero(t, toldOf[news.Ended](w.news))

		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.DeadStatus = 7 })
		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		assert.Equal(t, 7, w.get(r.ID).Exit.Status)
		assert.Empty(t, w.tmux.windows(), "the dead pane is closed")
	})
}

// In the meantime its pane may have gone as well: then it is lost, as the report of the start says.
func TestP8_EndWithoutStatusIsLoss(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.crashed()
		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		assert.Equal(t, session.Lost, w.get(r.ID).State)
		assert.True(t, w.get(r.ID).Unreported)
	})
}

func TestP6_UnprovenEndIsNotConcluded(t *testing.T) {
	tests := map[string]func(w *world, r session.Record, a *agent){
		"its agent lives": func(*world, session.Record, *agent) {},
		"nobody knows of its agent": func(w *world, _ session.Record, a *agent) {
			w.tmux.die(a, tmuxtest.Exit{})
			w.processes.HideLiveness(true)
		},
		"its pane says nothing yet": func(w *world, _ session.Record, a *agent) { w.processes.Exit(a.id.PID) },
		"its tmux server is silent": func(w *world, _ session.Record, a *agent) {
			w.tmux.die(a, tmuxtest.Exit{})
			w.tmux.Fail("Server", tmux.ErrLost)
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.restart()
				spoil(w, r, a)
				before := w.get(r.ID)
				require.ErrorIs(t, w.Settle(w.ctx, r.ID, testRule), ErrChanged)
				assert.Equal(t, before, w.get(r.ID))
				assert.Zero(t, toldOf[news.Ended](w.news)+toldOf[news.Lost](w.news))
			})
		})
	}
}

// A stop that is under way has its own end.
func TestP3_StopIsNotConcluded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.restart()
		w.tmux.die(a, tmuxtest.Exit{})
		w.edit(r.ID, func(r *session.Record) { r.State, r.Final = session.Stopping, session.Archived })
		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Zero(t, toldOf[news.Ended](w.news))
		assert.Equal(t, 1, toldOf[ending.Receipt](w.news))
	})
}

// Whenever its agent begins, the binding gets the time of it.
func TestTimestamps_BindingHasAgentsTime(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.pass(time.Hour)
		at := time.Now().UTC()
		begins := func(e *hookwire.Event) { e.Received, e.Source = at, "compact" }
		w.hook(r, hookwire.SessionStart, begins)
		got := w.get(r.ID)
		assert.Equal(t, at, got.Binding.BoundAt)
		assert.Equal(t, r.ReportsAt, got.ReportsAt, "that is of the launch")

		w.hook(r, hookwire.SessionStart, begins)
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Received = at.Add(-time.Minute) }) // late
		w.pass(time.Minute)
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		assert.Equal(t, at, w.get(r.ID).Binding.BoundAt)
	})
}

// An exit still in the record proves nothing about a living agent.
func TestP3_OldExitDoesNotReplaceStop(t *testing.T) {
	for name, state := range map[string]session.State{"running": session.Running, "stopping": session.Stopping} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.restart()
				r, a := w.starting()
				w.edit(r.ID, func(r *session.Record) {
					r.State, r.Final, r.Exit = state, session.Archived, &session.Exit{Known: true}
				})
				receipt := &ending.Receipt{}
				require.NoError(t, w.Service.core.do(w.ctx, r.ID, func(k *work) error {
					return k.closing.archive(w.ctx, session.Archived, requestedEnd(port.Cause{Why: "asked"}), receipt)
				}))
				assert.Equal(t, session.Archived, w.get(r.ID).State)
				assert.NotNil(t, receipt.Agent)
				assert.False(t, w.processes.Alive(a.id))
				assert.Equal(t, 1, toldOf[ending.Receipt](w.news))
			})
		})
	}
}

// A file that was edited may name any state as what a stop ends in.
func TestP3_StopEndsInKnownState(t *testing.T) {
	for _, final := range append(session.States(), "", "unheard of") {
		t.Run(string(final), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.restart()
				r, _ := w.starting()
				w.edit(r.ID, func(r *session.Record) { r.State, r.Final = session.Stopping, final })
				require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
				want := session.Archived
				if final == session.Completed {
					want = final
				}
				assert.Equal(t, want, w.get(r.ID).State)
			})
		})
	}
}
