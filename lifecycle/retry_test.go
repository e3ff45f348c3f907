package lifecycle

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port"
	"ccbot/tmux"
)

func TestRetryAfter(t *testing.T) {
	want := []time.Duration{time.Minute, time.Minute, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute,
		32 * time.Minute, time.Hour, time.Hour}
	for i, pause := range want {
		assert.Equal(t, pause, retryAfter(i-1), "%d attempts", i-1)
	}
	assert.Equal(t, time.Hour, retryAfter(1<<40))
	assert.Equal(t, time.Minute, retryAfter(-1<<40))
}

// survived is a session whose agent survives its archive.
func (w *world) survived() (session.Record, *agent) {
	w.t.Helper()
	r, a := w.started()
	w.processes.YieldsTo(a.id.PID, tabletest.Never)
	require.NoError(w.t, w.Archive(w.ctx, r.ID, session.Completed, port.Cause{Why: "asked"}))
	require.Equal(w.t, session.CleanupFailed, w.get(r.ID).State)
	return w.get(r.ID), a
}

// tries returns the number of KILLs of a process.
func (w *world) tries(a *agent) int {
	kill := "kill " + a.pidText()
	return len(slices.DeleteFunc(w.order.all(), func(s string) bool { return s != kill }))
}

func TestP3_FailedCleanupIsRetriedSlowly(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.survived()
		require.NotNil(t, r.Cleanup)
		assert.Equal(t, []process.Identity{a.id}, r.Cleanup.Processes)
		assert.Equal(t, "process "+a.pidText()+": it survived KILL", r.Cleanup.Reason)
		for i, pause := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			r = w.get(r.ID)
			require.Equal(t, i+1, r.Cleanup.Attempts)
			assert.Equal(t, pause*time.Minute, r.Cleanup.NotBefore.Sub(r.EndedAt))
			require.Equal(t, i+1, w.tries(a))
			w.pass(time.Until(r.Cleanup.NotBefore) - time.Millisecond)
			require.Equal(t, i+1, w.tries(a), "before its time")
			w.pass(time.Minute)
		}
		assert.Equal(t, 1, toldOf[ending.Receipt](w.news), "the same failure is told once")

		w.processes.YieldsTo(a.id.PID, process.HowKill)
		w.pass(time.Hour)
		got := w.get(r.ID)
		assert.Equal(t, session.Completed, got.State, "as what it was asked to end")
		assert.Nil(t, got.Cleanup)
		assert.Equal(t, 2, toldOf[ending.Receipt](w.news), "success is told")
		assert.Empty(t, lastOf[ending.Receipt](w.news).Failures)
		calls := len(w.tmux.Calls())
		w.pass(24 * time.Hour)
		assert.Len(t, w.tmux.Calls(), calls, "it is over")
	})
}

func TestP8_FailedCleanupIsRetriedAfterRestart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.survived()
		w.restart()
		w.comeBack()
		require.Equal(t, 1, w.tries(a), "not before its time")
		assert.Equal(t, r.Cleanup, w.get(r.ID).Cleanup)
		w.pass(2 * time.Minute)
		require.Equal(t, 2, w.tries(a))
		w.restart()
		w.pass(24 * time.Hour) // its time has come while ccbot was away
		w.processes.YieldsTo(a.id.PID, process.HowTerm)
		w.comeBack()
		w.pass(time.Minute)
		assert.Equal(t, session.Completed, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(a.id))
	})
}

// Another reason is news, and so is the answer to a person's tap.
func TestP3_ReportOfRetry(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.survived()
		w.pass(2 * time.Minute)
		require.Equal(t, 2, w.tries(a))
		require.Equal(t, 1, toldOf[ending.Receipt](w.news))

		require.NoError(t, w.Archive(w.ctx, r.ID, r.Final, port.Cause{Why: "another try, asked for"}))
		assert.Equal(t, 3, w.tries(a), "a tap does not wait")
		assert.Equal(t, 2, toldOf[ending.Receipt](w.news), "the person waits for an answer")
		assert.Equal(t, 3, w.get(r.ID).Cleanup.Attempts)

		w.pass(10 * time.Minute)
		require.Equal(t, 2, toldOf[ending.Receipt](w.news))
		w.processes.FailSnapshots(errors.New("/proc is not readable"))
		w.pass(time.Hour)
		assert.Equal(t, 3, toldOf[ending.Receipt](w.news), "another reason")
		w.pass(10 * time.Hour)
		assert.Equal(t, 3, toldOf[ending.Receipt](w.news))
		assert.True(t, strings.Contains(w.get(r.ID).Cleanup.Reason, "/proc"), w.get(r.ID).Cleanup.Reason)
	})
}

// The person taps [Retry] and it works: no later try comes.
func TestP3_PersonsRetryEndsCleanup(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.survived()
		w.processes.YieldsTo(a.id.PID, process.HowTerm)
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "another try"}))
		got := w.get(r.ID)
		assert.Equal(t, session.Archived, got.State)
		before := len(w.processes.Signalled())
		w.pass(24 * time.Hour)
		assert.Len(t, w.processes.Signalled(), before)
		assert.Equal(t, got, w.get(r.ID))
		assert.Equal(t, 2, toldOf[ending.Receipt](w.news))
	})
}

// A person who continues in the terminal after the first try did it knowingly: no try ends that
// process, nor does the restore after all tries.
func TestP2_LaterResumeSurvivesAllRetries(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.survived()
		w.write(r, userLine("hello"))
		first := r.EndedMoment
		w.pass(time.Second)
		desk := w.tmux.byHand(resume(r.AgentSessionID)...)
		w.pass(5 * time.Minute)
		require.NoError(t, w.Archive(w.ctx, r.ID, r.Final, port.Cause{Why: "another try, asked for"}))
		w.restart()
		w.comeBack()
		w.pass(2 * time.Hour)
		w.crash("stop-recorded", func() { assert.Error(t, w.Archive(w.ctx, r.ID, r.Final, port.Cause{Why: "another try, asked for"})) })
		w.comeBack()
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		assert.Equal(t, first, w.get(r.ID).EndedMoment)
		w.processes.YieldsTo(a.id.PID, process.HowTerm)
		w.pass(2 * time.Hour)
		got := w.get(r.ID)
		require.Equal(t, session.Completed, got.State)
		assert.Equal(t, first, got.EndedMoment)
		assert.Equal(t, 1, w.news.ghosts())

		w.edit(r.ID, func(r *session.Record) { r.SecondWriters = nil })
		_, err := w.restoreIt(r.ID)
		var refused *WriterError
		require.ErrorAs(t, err, &refused)
		assert.True(t, w.processes.Alive(desk.id))
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
	})
}

// A file that a person has edited.
func TestP8_CleanupWithoutReasonIsRetriedImmediately(t *testing.T) {
	for name, cleanup := range map[string]*session.CleanupError{"none": nil, "nonsense": {Attempts: -100}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.survived()
				w.restart()
				w.edit(r.ID, func(r *session.Record) { r.Cleanup, r.Final = cleanup, "" })
				w.comeBack()
				w.pass(30 * time.Second)
				assert.Equal(t, 2, w.tries(a))
				assert.Equal(t, 1, w.get(r.ID).Cleanup.Attempts)
				w.processes.YieldsTo(a.id.PID, process.HowTerm)
				w.pass(2 * time.Minute)
				assert.Equal(t, session.Archived, w.get(r.ID).State)
			})
		})
	}
}

// ---- bad input: unknown is neither dead nor killed

func TestP6_UnknownFactIsRetried(t *testing.T) {
	tests := []struct {
		name   string
		spoil  func(w *world, a *agent)
		mend   func(w *world, a *agent)
		kind   ending.FailureKind
		spares bool // nothing is signalled
	}{
		{"the process table cannot be read", func(w *world, _ *agent) {
			w.processes.FailSnapshots(errors.New("/proc is not readable"))
		}, func(w *world, _ *agent) { w.processes.FailSnapshots(nil) }, ending.FailureProcesses, true},
		{"the agent cannot be read", func(w *world, a *agent) {
			w.processes.Hide(a.id.PID, errors.New("permission denied"))
		}, func(w *world, a *agent) { w.processes.Hide(a.id.PID, nil) }, ending.FailureUnknown, true},
		{"the presence files cannot be read", func(w *world, _ *agent) { w.presences.fail(errors.New("permission denied")) },
			func(w *world, _ *agent) { w.presences.fail(nil) }, ending.FailureProcesses, false},
		{"the hooks' bindings cannot be read", func(w *world, _ *agent) {
			w.bindings.set(func(b *bindings) { b.errs = []error{errors.New("permission denied")} })
		}, func(w *world, _ *agent) { w.bindings.set(func(b *bindings) { b.errs = nil }) }, ending.FailureProcesses, false},
		{"tmux does not answer", func(w *world, _ *agent) {
			for range 3 {
				w.tmux.Fail("Server", tmux.ErrLost)
			}
		}, func(*world, *agent) {}, ending.FailureTmux, false},
		{"the pane does not close", func(w *world, _ *agent) { w.tmux.refuseToClose(errors.New("server busy")) },
			func(w *world, _ *agent) { w.tmux.refuseToClose(nil) }, ending.FailureTmux, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				tc.spoil(w, a)
				receipt := w.archive(r)
				got := w.get(r.ID)
				require.Equal(t, session.CleanupFailed, got.State)
				require.NotEmpty(t, receipt.Failures)
				assert.Equal(t, tc.kind, receipt.Failures[0].Kind)
				assert.NotEmpty(t, got.Cleanup.Reason)
				assert.Equal(t, !tc.spares, slices.Contains(w.processes.Signalled(), a.id))
				_, err := w.restoreIt(r.ID)
				var wrong *StateError
				assert.ErrorAs(t, err, &wrong, "nothing is started beside it")
				tc.mend(w, a)
				w.pass(3 * time.Minute)
				assert.Equal(t, session.Archived, w.get(r.ID).State)
				assert.False(t, w.processes.Alive(a.id))
				assert.Empty(t, w.tmux.windows())
			})
		})
	}
}

// The pids are kept also of what cannot be read.
func TestP3_FailedCleanupNamesUnreadableProcess(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.Hide(a.id.PID, errors.New("permission denied"))
		w.archive(r)
		require.NotNil(t, w.get(r.ID).Cleanup)
		assert.Equal(t, []process.Identity{a.id}, w.get(r.ID).Cleanup.Processes)
	})
}

// Without a clock only processes bound by the record are leftovers.
func TestP2_WithoutClockNoLeftovers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.write(r, userLine("hello"))
		w.processes.StopClock(errors.New("no clock"))
		w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(a.id))
		w.restart()
		w.processes.Start(777, resume(r.AgentSessionID))
		_, err := w.restoreIt(r.ID)
		var refused *WriterError
		require.ErrorAs(t, err, &refused)
		assert.Zero(t, refused.Writers[0].Age)
	})
}

// The wall clock was ahead when the next try was noted: the try is due, and not years off.
func TestP3_WrongClocksRetryIsDue(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.survived()
		w.restart()
		w.edit(r.ID, func(r *session.Record) { r.Cleanup.NotBefore = time.Now().AddDate(4, 0, 0) })
		before := w.tries(a)
		w.run()
		w.pass(time.Hour)
		assert.Greater(t, w.tries(a), before)
	})
}
