package lifecycle

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
)

// haunt archives a session with a leftover from before ccbot's death. The Service does not run.
func (w *world) haunt() (r session.Record, left process.Identity) {
	w.t.Helper()
	r, _ = w.started()
	w.write(r, userLine("hello"))
	w.stop()
	left = w.leftover(777, r)
	w.processes.Hide(777, process.ErrGone) // the archive does not see it
	w.presences.claim()
	w.edit(r.ID, func(r *session.Record) {
		r.State, r.EndedMoment, r.EndedAt, r.Binding = session.Archived, w.Moment(), time.Now().UTC(), nil
		r.TranscriptEnd = w.tailOf(*r)
	})
	w.processes.Hide(777, nil)
	if a := w.tmux.agentOf(r); w.processes.Alive(a.id) {
		w.processes.Exit(a.id.PID)
	}
	w.pass(time.Minute)
	return w.get(r.ID), left
}

func (w *world) tailOf(r session.Record) int64 {
	return w.core.Observer.TranscriptSize(r)
}

const testRule session.Rule = "recovery.end_leftovers"

// A stop of ccbot while leftovers are being ended is not a failure: the next try is not postponed.
func TestP8_InterruptedLeftoversAreNotPostponed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, left := w.haunt()
		w.processes.YieldsTo(left.PID, process.HowKill)
		ctx, stop := context.WithTimeout(w.ctx, 5*time.Second)
		defer stop()
		_, err := w.EndLeftovers(ctx, r.ID, testRule)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, r, w.get(r.ID))
	})
}

func TestP3_EndedSessionsLeftoversAreEnded(t *testing.T) {
	for _, how := range []process.How{process.HowTerm, process.HowKill} {
		t.Run(string(how), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, left := w.haunt()
				w.processes.YieldsTo(left.PID, how)
				tool := w.processes.StartNow(778, []string{"sleep"}, tabletest.Below(left.PID))
				w.write(r, assistantLine) // it has continued
				ended, err := w.EndLeftovers(w.ctx, r.ID, testRule)
				require.NoError(t, err)
				require.NotEmpty(t, ended)
				assert.Equal(t, left, ended[0].Process.Identity)
				assert.Equal(t, how, ended[0].How)
				assert.False(t, w.processes.Alive(left))
				assert.Equal(t, how != process.HowKill, w.processes.Alive(tool), "what a kill has left running ends too")
				got := w.get(r.ID)
				assert.Equal(t, session.Archived, got.State)
				assert.Equal(t, r.EndedAt, got.EndedAt)
				assert.Nil(t, got.Cleanup)
				last := got.History[len(got.History)-1]
				assert.Equal(t, testRule, last.Rule)
				assert.Equal(t, []session.State{session.Archived, session.Archived}, []session.State{last.From, last.To})
				assert.Contains(t, last.Why, "process 777 ended ("+string(how)+")")
				assert.Contains(t, w.order.all(), "at leftovers-ended")

				again, err := w.EndLeftovers(w.ctx, r.ID, testRule)
				require.NoError(t, err)
				assert.Empty(t, again)
				assert.Equal(t, got, w.get(r.ID), "once more is nothing")
				w.run()
				w.pass(time.Hour)
				assert.Zero(t, w.news.ghosts(), "what it had written is no news")
				assert.Zero(t, toldOf[ending.Receipt](w.news))
			})
		})
	}
}

func TestP2_OnlyLeftoversAreEnded(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, r session.Record, left process.Identity)
	}{
		{"one that was told as a second writer", func(w *world, r session.Record, left process.Identity) {
			w.edit(r.ID, func(r *session.Record) { r.SecondWriters = []process.Identity{left} })
		}},
		{"one that was started after the end", func(w *world, r session.Record, left process.Identity) {
			w.edit(r.ID, func(r *session.Record) { r.EndedMoment = process.Moment{Boot: boot, Tick: left.Start} })
		}},
		{"one whose session's end nobody saw", func(w *world, r session.Record, _ process.Identity) {
			w.edit(r.ID, func(r *session.Record) { r.EndedMoment = process.Moment{} })
		}},
		{"one that has moved on", func(w *world, _ session.Record, left process.Identity) {
			w.presences.claim(presence.File{PID: 777, ProcStart: left.Start, SessionID: uuid.New()})
		}},
		{"one that contradicts itself", func(w *world, r session.Record, left process.Identity) {
			w.presences.claim(presence.File{PID: 777, ProcStart: left.Start, SessionID: r.AgentSessionID})
			w.bindings.claim(left, uuid.New())
		}},
		{"another user's", func(w *world, _ session.Record, _ process.Identity) {
			w.processes.Change(777, func(p *process.Process) { p.UID = 0 })
		}},
		{"what ccbot was started by", func(w *world, _ session.Record, _ process.Identity) {
			w.processes.Change(w.Processes.Self().PID, tabletest.Below(777))
		}},
		{"the agent of another session", func(w *world, _ session.Record, left process.Identity) {
			other, _ := w.starting()
			w.edit(other.ID, func(r *session.Record) { r.Binding.Agent = left })
		}},
		{"no agent", func(w *world, _ session.Record, _ process.Identity) {
			w.processes.Change(777, func(p *process.Process) { p.Args = append([]string{"vim"}, p.Args[1:]...) })
		}},
		{"another one with its pid", func(w *world, _ session.Record, _ process.Identity) {
			w.processes.Exit(777)
			w.processes.StartNow(777, resume(uuid.New()))
		}},
		{"what a session had bound that was given up unknown", func(w *world, r session.Record, left process.Identity) {
			w.edit(r.ID, func(r *session.Record) { r.State, r.Bound = session.Abandoned, []process.Identity{left} })
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, left := w.haunt()
				tc.spoil(w, r, left)
				_, err := w.EndLeftovers(w.ctx, r.ID, testRule)
				require.NoError(t, err)
				assert.Empty(t, w.processes.Signalled())
			})
		})
	}
}

func TestP6_WithoutEvidenceNothingIsEnded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, left := w.haunt()
		w.presences.fail(errors.New("permission denied"))
		_, err := w.EndLeftovers(w.ctx, r.ID, testRule)
		require.ErrorIs(t, err, evidence.ErrUnreadable)
		assert.True(t, w.processes.Alive(left))
		assert.Equal(t, r.History, w.get(r.ID).History)
		assert.Equal(t, r.UpdatedAt, w.get(r.ID).UpdatedAt)
	})
}

// It is noted with the record, with the time of the next try, which comes later
// each time. The record stays what it is.
func TestP3_SurvivingLeftoverIsNoted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, left := w.haunt()
		w.processes.YieldsTo(left.PID, tabletest.Never)
		for attempt := range 3 {
			_, err := w.EndLeftovers(w.ctx, r.ID, testRule)
			require.NoError(t, err)
			got := w.get(r.ID)
			assert.Equal(t, session.Archived, got.State)
			assert.Equal(t, r.EndedAt, got.EndedAt)
			assert.Equal(t, r.EndedMoment, got.EndedMoment)
			require.NotNil(t, got.Cleanup)
			assert.Equal(t, attempt+1, got.Cleanup.Attempts)
			assert.Equal(t, []process.Identity{left}, got.Cleanup.Processes)
			assert.Equal(t, time.Minute<<attempt, time.Until(got.Cleanup.NotBefore).Round(time.Second))
			assert.Contains(t, got.History[len(got.History)-1].Why, "left: process "+strconv.Itoa(left.PID)+": it survived KILL")
		}
		w.run()
		w.pass(3 * time.Hour)
		assert.Equal(t, 3, w.get(r.ID).Cleanup.Attempts, "recovery tries again, and no step")
		assert.Zero(t, toldOf[ending.Receipt](w.news))
		w.processes.YieldsTo(left.PID, process.HowTerm)
		_, err := w.EndLeftovers(w.ctx, r.ID, testRule)
		require.NoError(t, err)
		assert.Nil(t, w.get(r.ID).Cleanup)
	})
}

// A restored session is ended as any other: notes from before its restore belong to the earlier
// launch.
func TestP3_RestoreForgetsNotedLeftovers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, left := w.haunt()
		w.processes.YieldsTo(left.PID, tabletest.Never)
		_, err := w.EndLeftovers(w.ctx, r.ID, testRule)
		require.NoError(t, err)
		w.processes.Exit(left.PID)
		w.edit(r.ID, func(r *session.Record) { r.ClosedReason, r.Unreported = session.ClosedReboot, true })
		back, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		assert.Nil(t, back.Cleanup)
		assert.Empty(t, back.ClosedReason)
		assert.False(t, back.Unreported)
		w.run()
		w.report(back)
		w.pass(time.Second)
		own := w.leftover(779, back)
		w.archive(w.get(r.ID))
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(own), "it was started in the new life")
	})
}

func TestP2_OpenSessionHasNoLeftovers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.haunt()
		for _, state := range []session.State{session.Running, session.Starting, session.Restoring, session.Stopping, session.CleanupFailed} {
			w.edit(r.ID, func(r *session.Record) { r.State = state })
			_, err := w.EndLeftovers(w.ctx, r.ID, testRule)
			var wrong *StateError
			require.ErrorAs(t, err, &wrong, state)
		}
		_, err := w.EndLeftovers(w.ctx, uuid.New(), testRule)
		require.ErrorIs(t, err, session.ErrNotFound)
		assert.Empty(t, w.processes.Signalled())
	})
}

func TestP8_CrashAfterEndingLeftovers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, left := w.haunt()
		w.crash("leftovers-ended", func() {
			_, err := w.EndLeftovers(w.ctx, r.ID, testRule)
			assert.Error(t, err)
		})
		assert.False(t, w.processes.Alive(left))
		_, err := w.EndLeftovers(w.ctx, r.ID, testRule)
		require.NoError(t, err)
		assert.Equal(t, r.History, w.get(r.ID).History)
		assert.Equal(t, r.UpdatedAt, w.get(r.ID).UpdatedAt)
	})
}
