package lifecycle

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port/news"
	"ccbot/tmux"
)

// A new writer of a session whose own agent is gone may be the session itself: Came is called
// before any report, and not while the session's worker is held.
func TestP1_NewWriterIsSameSession(t *testing.T) {
	for _, state := range []session.State{session.Running, session.Lost, session.Failed, session.Abandoned} {
		t.Run(string(state), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.wentOn()
				w.edit(r.ID, func(r *session.Record) { r.State = state })
				var asked []evidence.Writer
				w.come = func(one evidence.Writer) bool {
					asked = append(asked, one)
					_, err := w.transfer(r, one.Identity)
					assert.NoError(t, err)
					return err == nil
				}
				require.NoError(t, w.noticeWriters(w.ctx))
				require.Len(t, asked, 1)
				assert.Equal(t, h.id, asked[0].Identity)
				assert.Equal(t, r.AgentSessionID, asked[0].AgentSessionID)
				assert.Equal(t, process.SourcePresence, asked[0].Source)
				assert.True(t, asked[0].Adoptable())
				w.run()
				w.write(r, assistantLine)
				w.pass(time.Hour)
				assert.Len(t, asked, 1)
				assert.Zero(t, w.news.seconds()+w.news.ghosts())
				assert.Equal(t, 1, toldOf[news.Transferred](w.news))
			})
		})
	}
}

func TestP1_WritersWithoutCameCall(t *testing.T) {
	state := func(s session.State) func(w *world, r session.Record, h hand) {
		return func(w *world, r session.Record, _ hand) { w.edit(r.ID, func(r *session.Record) { r.State = s }) }
	}
	tests := []struct {
		name  string
		spoil func(w *world, r session.Record, h hand)
	}{
		{"archived", state(session.Archived)},
		{"completed", state(session.Completed)},
		{"its own agent lives", func(w *world, r session.Record, _ hand) {
			w.edit(r.ID, func(r *session.Record) { r.Binding.Agent = w.processes.StartNow(777, []string{"claude"}) })
		}},
		{"only its command line says so", func(_ *world, _ session.Record, h hand) { h.set(func(a *agent) { a.silent = true }) }},
		{"in the background", func(w *world, _ session.Record, h hand) { w.tmux.suspend(h) }},
		{"the agent of another session", func(w *world, _ session.Record, h hand) {
			other, b := w.starting()
			w.processes.Exit(b.id.PID)
			w.edit(other.ID, func(r *session.Record) { r.Binding.Agent = h.id })
		}},
		{"it may not be ended", func(w *world, _ session.Record, h hand) {
			w.processes.Change(w.Processes.Self().PID, tabletest.Below(h.id.PID))
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.wentOn()
				tc.spoil(w, r, h)
				w.come = func(one evidence.Writer) bool { t.Errorf("asked about %s", one.Identity); return true }
				require.NoError(t, w.noticeWriters(w.ctx))
				assert.Equal(t, 1, w.news.seconds()+w.news.ghosts(), "it is told")
			})
		})
	}
}

// An unhandled writer is reported once.
func TestP1_UnmovedNewWriterIsReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		asked := 0
		w.come = func(evidence.Writer) bool { asked++; return false }
		for range 3 {
			require.NoError(t, w.noticeWriters(w.ctx))
		}
		assert.Equal(t, 1, asked)
		assert.Equal(t, 1, w.news.seconds())
		assert.Equal(t, []process.Identity{h.id}, w.get(r.ID).SecondWriters)
	})
}

// ---- sessions without further reports

func TestP1_ClosedSessionReportsNoWriter(t *testing.T) {
	tests := []struct {
		closed string
		told   int
	}{{session.ClosedStale, 0}, {session.ClosedReboot, 1}, {session.ClosedTmux, 1}, {"", 1}}
	for _, tc := range tests {
		t.Run("closed "+tc.closed, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.wentOn()
				w.edit(r.ID, func(r *session.Record) { r.State, r.ClosedReason, r.Binding = session.Lost, tc.closed, nil })
				w.run()
				w.WakeAgent(h.id.PID)
				w.pass(time.Hour)
				assert.Equal(t, tc.told, w.news.ghosts())
				assert.Empty(t, w.processes.Signalled())
			})
		})
	}
}

// The presence file of an agent changes with each turn: that triggers no scan of all processes for
// the session that the agent has left.
func TestAdoptedAgentsPresenceTriggersNoScan(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		_, err := w.transfer(r, h.id)
		require.NoError(t, err)
		w.run()
		w.pass(time.Second)
		before := w.processes.Scanned()
		for range 5 {
			w.WakeAgent(h.id.PID)
			w.pass(time.Second)
		}
		assert.Equal(t, before, w.processes.Scanned())
	})
}

// Of two sessions with one conversation the open one tells.
func TestP1_ArchivedTwinReportsNoWriter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		twin := w.archived()
		r, _ := w.started()
		w.edit(twin.ID, func(t *session.Record) { t.AgentSessionID = r.AgentSessionID })
		w.write(r, assistantLine)
		w.look()
		assert.Zero(t, w.news.ghosts(), "it is the open one's own agent")
		before := w.processes.Scanned()
		w.WakeAgent(r.Binding.Agent.PID)
		w.pass(time.Second)
		assert.Equal(t, before, w.processes.Scanned())
		w.tmux.byHand(resume(r.AgentSessionID)...)
		w.look()
		assert.Zero(t, w.news.ghosts())
		assert.Equal(t, 1, w.news.seconds())
		w.archive(r)
		w.pass(time.Hour)
		assert.Equal(t, 1, w.news.ghosts()+w.news.seconds(), "it is known who has written it meanwhile")
	})
}

// ---- where its window is

// A person may move a pane to another window; an event triggers the check.
func TestP1_SessionFollowsPaneToOtherWindow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		other := w.tmux.Fake.AddWindow("work", "theirs")
		pane, err := w.tmux.Fake.Pane(w.ctx, other.ID)
		require.NoError(t, err)
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Window = pane.Window })
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "compact" })
		assert.Equal(t, pane.Window.String(), w.get(r.ID).Binding.Window)
		assert.Equal(t, a.pane.String(), w.get(r.ID).Binding.Pane)

		before := w.get(r.ID).Binding
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { // a nested one, in a separate window
			e.AgentPID, e.SessionID = 999, uuid.NewString()
		})
		assert.Equal(t, before, w.get(r.ID).Binding)
	})
}
