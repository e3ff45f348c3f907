package lifecycle

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/tmux/tmuxtest"
)

// reasons returns why processes were spared, by pid.
func reasons(endings []ending.Ending) map[int]string {
	found := map[int]string{}
	for _, e := range endings {
		if !e.Ended {
			found[e.Process.PID] = e.Reason
		}
	}
	return found
}

// leftover starts a process for the session's conversation after the session, and
// before whatever comes next.
func (w *world) leftover(pid int, r session.Record, change ...func(*process.Process)) process.Identity {
	id := w.processes.StartNow(pid, resume(r.AgentSessionID), change...)
	w.pass(2 * tabletest.Tick)
	return id
}

// An unfinished stop counts from its request. A process started later is a person's, for this stop
// and all later ones.
func TestP2_ResumeDuringRestartIsNotLeftover(t *testing.T) {
	for _, point := range []string{"stop-recorded", "ended"} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.write(r, userLine("hello"))
				w.crash(point, func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"})) })
				w.pass(time.Minute)
				desk := w.tmux.byHand(resume(r.AgentSessionID)...)
				w.pass(time.Minute)
				w.restart()
				w.comeBack()
				require.Equal(t, session.Archived, w.get(r.ID).State)
				assert.False(t, w.processes.Alive(a.id))
				assert.Equal(t, map[int]string{desk.id.PID: ending.ReasonSecond}, reasons(lastOf[ending.Receipt](w.news).Others))

				w.restart() // no scan for second writers since
				w.edit(r.ID, func(r *session.Record) { r.SecondWriters = nil })
				_, err := w.restoreIt(r.ID)
				var refused *WriterError
				require.ErrorAs(t, err, &refused)
				assert.True(t, w.processes.Alive(desk.id), "the desk resume was ended")
			})
		})
	}
}

// The receipt cannot be kept, so the stop is taken up again and again; in between a person sees the
// window closed and continues in the terminal.
func TestP2_RepeatedStopSparesResume(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.write(r, userLine("hello"))
		w.news.set(func(n *heardNews) {
			n.fail = func(n news.News) error {
				if _, is := n.(ending.Receipt); is {
					return errors.New("disk full")
				}
				return nil
			}
		})
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		require.False(t, w.processes.Alive(a.id))
		w.pass(tabletest.Tick)
		desk := w.tmux.byHand(resume(r.AgentSessionID)...)
		w.pass(10 * time.Second)
		assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		w.news.set(func(n *heardNews) { n.fail = nil })
		w.pass(time.Minute)
		require.Equal(t, session.Archived, w.get(r.ID).State)
		w.stop()
		w.edit(r.ID, func(r *session.Record) { r.SecondWriters = nil })
		_, err := w.restoreIt(r.ID)
		var refused *WriterError
		require.ErrorAs(t, err, &refused)
		assert.True(t, w.processes.Alive(desk.id))
	})
}

// The agent ended at an unknown time while ccbot was away. A person continued in the terminal
// before ccbot came back.
func TestP2_UnseenEndSparesResume(t *testing.T) {
	tests := []struct {
		name string
		end  func(w *world, a *agent)
		want session.State
	}{
		{"its pane is dead", func(w *world, a *agent) { w.tmux.die(a, tmuxtest.Exit{Status: 1}) }, session.Completed},
		{"its pane is gone", func(w *world, a *agent) { w.processes.Exit(a.id.PID); w.tmux.ClosePaneByHand(a.pane) }, session.Lost},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.write(r, userLine("hello"))
				w.restart()
				tc.end(w, a)
				desk := w.tmux.byHand(resume(r.AgentSessionID)...)
				w.pass(time.Minute)
				_, err := w.step(w.ctx, r.ID)
				require.NoError(t, err)
				require.Equal(t, tc.want, w.get(r.ID).State)
				_, err = w.restoreIt(r.ID)
				var refused *WriterError
				require.ErrorAs(t, err, &refused)
				assert.True(t, w.processes.Alive(desk.id))
			})
		})
	}
}

// A restore that made no window ended nothing: the session has ended since it was archived, and not
// since now.
func TestP2_FailedRestoreMakesNoLeftover(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.pass(time.Minute)
		var desk hand
		w.order.onPoint(func(name string) {
			if name == "restore-recorded" {
				desk = w.tmux.byHand(resume(r.AgentSessionID)...)
				w.pass(time.Minute)
			}
		})
		w.tmux.Fail("NewWindow", errors.New("broken"))
		_, err := w.restoreIt(r.ID)
		require.Error(t, err)
		require.Equal(t, session.Failed, w.get(r.ID).State)
		w.edit(r.ID, func(r *session.Record) { r.SecondWriters = nil })
		_, err = w.restoreIt(r.ID)
		var refused *WriterError
		require.ErrorAs(t, err, &refused)
		assert.True(t, w.processes.Alive(desk.id))
	})
}

// ---- what the record bound

// A process that ended before it was identified has no identity. It must not prevent a cleanup for
// ever.
func TestP3_UnidentifiedAgentIsNotAwaited(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.tmux.onLaunch = func(a *agent, p *tmuxtest.Process) {
			p.Exit = &tmuxtest.Exit{Status: 1}
			w.processes.Exit(a.id.PID)
		}
		r, err := w.Start(w.ctx, w.request())
		require.NoError(t, err)
		w.pass(time.Second)
		require.Equal(t, session.Failed, w.get(r.ID).State)
		w.tmux.onLaunch = nil
		r, err = w.restoreIt(r.ID)
		require.NoError(t, err)
		w.report(r)
		w.pass(time.Second)
		w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
	})
}

// left has a session over whose earlier agent is still alive.
func (w *world) left() (r session.Record, earlier process.Identity) {
	w.t.Helper()
	r = w.archived()
	earlier = w.processes.Start(777, []string{"claude"}) // its command line proves nothing
	w.edit(r.ID, func(r *session.Record) { r.Bound = []process.Identity{earlier} })
	return w.get(r.ID), earlier
}

func TestP1_RestoreEndsBoundAgentFirst(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, earlier := w.left()
		back, err := w.Restore(w.ctx, port.Restore{Session: r.ID})
		require.NoError(t, err)
		require.Len(t, back.Ended, 1)
		assert.Equal(t, earlier, back.Ended[0].Process.Identity)
		assert.True(t, back.Ended[0].Ended && back.Ended[0].Verified)
		assert.False(t, w.processes.Alive(earlier))
		assert.Equal(t, []process.Identity{back.Record.Binding.Agent}, w.get(r.ID).Bound)
		all := w.order.after("term 777")
		assert.Contains(t, all, "new-window", "the window comes after the end")
	})
}

// A process that was spared and exited before the window was made is not among those ended by the
// restore.
func TestP1_RestoreReportsOnlyEndedProcesses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.goneOn()
		w.stop()
		w.bindings.set(func(b *bindings) {
			b.onRead = func() { w.processes.Exit(h.id.PID) } // right after the first scan of all processes
		})
		back, err := w.Restore(w.ctx, port.Restore{Session: r.ID})
		require.NoError(t, err)
		assert.Empty(t, back.Ended)
		assert.NotContains(t, w.processes.Signalled(), h.id)
	})
}

// Unknown never starts a second writer.
func TestP6_RestoreRefusesPossibleEarlierAgent(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, earlier process.Identity)
	}{
		{"nobody knows whether it lives", func(w *world, earlier process.Identity) {
			w.processes.Hide(earlier.PID, errors.New("permission denied"))
		}},
		{"it survives KILL", func(w *world, earlier process.Identity) { w.processes.YieldsTo(earlier.PID, tabletest.Never) }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, earlier := w.left()
				tc.spoil(w, earlier)
				_, err := w.restoreIt(r.ID)
				var refused *WriterError
				require.ErrorAs(t, err, &refused)
				require.Len(t, refused.Writers, 1)
				assert.Equal(t, earlier, refused.Writers[0].Identity)
				assert.False(t, refused.Writers[0].Endable())
				assert.Equal(t, session.Archived, w.get(r.ID).State)
				assert.Empty(t, w.tmux.windows())
			})
		})
	}
}

// A leftover that another session has bound in between is that session's.
func TestP2_OtherSessionsAgentIsNotLeftover(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, earlier := w.left()
		other, _ := w.started()
		w.edit(other.ID, func(r *session.Record) { r.Binding.Agent = earlier })
		_, err := w.restoreIt(r.ID)
		assert.NoError(t, err, "it does not write this conversation")
		assert.True(t, w.processes.Alive(earlier))
	})
}

// A process that changed its conversation between the check and the signal is spared, and does not
// keep the archive from ending.
func TestP2_MovedProcessIsSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		left := w.tmux.byHand(resume(r.AgentSessionID)...)
		w.bindings.set(func(b *bindings) { // hooks are read after the presence files
			b.onRead = func() { left.set(func(a *agent) { a.session = uuid.New() }) }
		})
		receipt := w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State, receipt.Failures)
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
		assert.True(t, w.processes.Alive(left.id))
	})
}

// A process that was unreadable right before the signal has not moved on.
func TestP6_UnprovenProcessIsRetried(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		left := w.leftover(777, r)
		w.bindings.set(func(b *bindings) {
			b.onRead = func() { w.presences.fail(errors.New("permission denied")) } // after the first scan
		})
		receipt := w.archive(r)
		require.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		require.Len(t, receipt.Failures, 1)
		assert.Equal(t, ending.FailureUnknown, receipt.Failures[0].Kind)
		assert.Equal(t, left, receipt.Failures[0].ID)
		w.bindings.set(func(b *bindings) { b.onRead = nil })
		w.presences.fail(nil)
		w.pass(2 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(left))
	})
}

// A panic while one of several processes is ended is that process's failure.
func TestP3_PanicDuringEndIsFailure(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		left := w.leftover(777, r)
		other := w.leftover(778, r)
		w.processes.OnStep(func(id process.Identity, _ process.How) {
			if id == left {
				panic("a bug")
			}
		})
		receipt := w.archive(r)
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		require.Len(t, receipt.Failures, 1)
		assert.Equal(t, left, receipt.Failures[0].ID)
		assert.False(t, w.processes.Alive(other))
		w.processes.OnStep(nil)
		w.pass(2 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
	})
}

// A launcher's descendant is the agent: it ends with the session, with any processes between the
// two.
func TestP3_LaunchersChildEndsWithIt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		line := []string{"claude", "--session-id", r.AgentSessionID.String()}
		w.processes.Change(a.id.PID, func(p *process.Process) { p.Args = line }) // a shim of the same name
		a.set(func(a *agent) { a.silent = true })
		w.processes.StartNow(776, []string{"sh", "-c", "claude"}, tabletest.Below(a.id.PID))
		child := w.processes.StartNow(777, line, tabletest.Below(776))
		w.presences.claim(presence.File{PID: 777, ProcStart: child.Start, SessionID: r.AgentSessionID})
		w.look()
		assert.Zero(t, w.news.seconds(), "it is the session's own")
		w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(child))
	})
}

// The agent of another session may be below that one's launcher.
func TestP2_OtherAgentsDescendantIsNotLeftover(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, b := w.started()
		r, a := w.started()
		child := w.processes.StartNow(777, resume(r.AgentSessionID), tabletest.Below(b.id.PID))
		receipt := w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State, receipt.Failures)
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
		assert.True(t, w.processes.Alive(child))
	})
}

// A session that comes to a conversation a person has open already does not end that a person.
func TestP2_EarlierProcessIsNotLeftover(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		id := uuid.New()
		before := w.processes.StartNow(777, resume(id))
		w.present(r, id)
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) {
			e.SessionID, e.TranscriptPath, e.Source = id.String(), w.transcript(id), "resume"
		})
		w.archive(r)
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
		assert.True(t, w.processes.Alive(before))
	})
}

// Two records may have one conversation; it gets one writer all the same.
func TestP1_SharedConversationHasOneWriter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		one, two := w.archived(), w.archived()
		w.edit(two.ID, func(r *session.Record) { r.AgentSessionID = one.AgentSessionID })
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for i, id := range []uuid.UUID{one.ID, two.ID} {
			wg.Go(func() { _, errs[i] = w.restoreIt(id) })
		}
		wg.Wait()
		assert.Len(t, w.tmux.windows(), 1)
		refused := (*WriterError)(nil)
		require.ErrorAs(t, errors.Join(errs...), &refused)
		assert.Equal(t, one.Name == refused.Writers[0].Session || two.Name == refused.Writers[0].Session, true)
		assert.False(t, refused.Writers[0].Endable())
	})
}
