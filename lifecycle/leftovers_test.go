package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux/tmuxtest"
)

// reasons are why processes were spared, by pid.
func reasons(endings []Ending) map[int]string {
	found := map[int]string{}
	for _, e := range endings {
		if !e.Ended {
			found[e.Process.PID] = e.Reason
		}
	}
	return found
}

// A stop that ccbot did not finish was over when it was asked for. Whoever
// started later is at the desk, for this stop and for all that follows.
func TestP2_ADeskResumeDuringARestartIsNeverALeftover(t *testing.T) {
	for _, point := range []string{"stop-recorded", "ended", "receipt-told"} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.write(r, userLine("hello"))
				w.crash(point, func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, "asked")) })
				w.pass(time.Minute)
				desk := w.tmux.byHand(resume(r.ClaudeSessionID)...)
				w.pass(time.Minute)
				w.restart()
				w.comeBack()
				require.Equal(t, session.Archived, w.get(r.ID).State)
				assert.False(t, w.processes.alive(a.id))
				assert.Equal(t, map[int]string{desk.id.PID: ReasonSecond}, reasons(w.news.last(NoteStopped).Receipt.Others))

				w.restart() // nobody has looked for second writers since
				w.edit(r.ID, func(r *session.Record) { r.Seconds = nil })
				_, err := w.restoreIt(r.ID)
				var refused *WriterError
				require.ErrorAs(t, err, &refused)
				assert.True(t, w.processes.alive(desk.id), "the desk resume was ended")
			})
		})
	}
}

// The agent ended while ccbot was away; nobody knows when. A person has gone on
// at the desk before ccbot came back.
func TestP2_ADeskResumeAfterAnEndThatNobodySawIsNoLeftover(t *testing.T) {
	tests := []struct {
		name string
		end  func(w *world, a *agent)
		want session.State
	}{
		{"its pane is dead", func(w *world, a *agent) { w.tmux.die(a, tmuxtest.Exit{Status: 1}) }, session.Completed},
		{"its pane is gone", func(w *world, a *agent) { w.processes.exit(a.id.PID); w.tmux.ClosePaneByHand(a.pane) }, session.Lost},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.write(r, userLine("hello"))
				w.restart()
				tc.end(w, a)
				desk := w.tmux.byHand(resume(r.ClaudeSessionID)...)
				w.pass(time.Minute)
				_, err := w.step(w.ctx, r.ID)
				require.NoError(t, err)
				require.Equal(t, tc.want, w.get(r.ID).State)
				_, err = w.restoreIt(r.ID)
				var refused *WriterError
				require.ErrorAs(t, err, &refused)
				assert.True(t, w.processes.alive(desk.id))
			})
		})
	}
}

// A restore that made no window ended nothing: the session is over since it was
// archived, and not since now.
func TestP2_AFailedRestoreMakesNobodyALeftover(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.pass(time.Minute)
		var desk hand
		w.order.onPoint(func(name string) {
			if name == "restore-recorded" {
				desk = w.tmux.byHand(resume(r.ClaudeSessionID)...)
				w.pass(time.Minute)
			}
		})
		w.tmux.Fail("NewWindow", errors.New("broken"))
		_, err := w.restoreIt(r.ID)
		require.Error(t, err)
		require.Equal(t, session.Failed, w.get(r.ID).State)
		w.edit(r.ID, func(r *session.Record) { r.Seconds = nil })
		_, err = w.restoreIt(r.ID)
		var refused *WriterError
		require.ErrorAs(t, err, &refused)
		assert.True(t, w.processes.alive(desk.id))
	})
}

// ---- what runs below an agent

// A crash between the record and the KILL, or after it: what ran below is on
// disk, and the next stop ends it.
func TestP8_WhatRanBelowAKilledAgentEndsAfterACrash(t *testing.T) {
	for _, point := range []string{"below-recorded", "ended", "receipt-told"} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.processes.yieldsTo(a.id.PID, process.HowKill)
				tool := w.processes.startNow(901, []string{"bash", "-c", "npm start"}, below(a.id.PID))
				w.processes.startNow(902, []string{"node", "server.js"}, below(tool.PID))
				w.crash(point, func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, "asked")) })
				assert.NotEmpty(t, w.get(r.ID).Below)
				w.comeBack()
				got := w.get(r.ID)
				assert.Equal(t, session.Archived, got.State)
				assert.Empty(t, got.Below)
				for _, pid := range []int{a.id.PID, 901, 902} {
					assert.Equal(t, process.Gone, w.processes.Liveness(process.Identity{PID: pid, Start: w.startOf(pid), Boot: boot}), pid)
				}
			})
		})
	}
}

// startOf is the start of a process that lives, or any other number.
func (w *world) startOf(pid int) uint64 {
	p, err := w.processes.Inspect(pid)
	if err != nil {
		return 1
	}
	return p.Start
}

// Killed from outside right after ccbot had put on disk what runs below: the
// record alone knows whose it was.
func TestP8_WhatRanBelowEndsThoughTheAgentIsGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		tool := w.processes.startNow(901, []string{"sleep", "1000"}, below(a.id.PID))
		w.crash("below-recorded", func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, "asked")) })
		w.processes.exit(a.id.PID)
		w.comeBack()
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.alive(tool))
	})
}

// A descendant is no writer: one that may not be ended is spared and told, and
// the archive is over.
func TestP2_BelowAKilledAgentTheGuardsHold(t *testing.T) {
	tests := []struct {
		name   string
		argv   []string
		change func(p *process.Process)
		reason string
	}{
		{"a tmux client", []string{"tmux", "attach"}, nil, process.GuardTmux},
		{"a tmux server", []string{"tmux", "-D"}, func(p *process.Process) { p.Comm = "tmux: server" }, process.GuardTmux},
		{"another user's", []string{"sudo", "make"}, func(p *process.Process) { p.UID = 0 }, process.GuardUser},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.processes.yieldsTo(a.id.PID, process.HowKill)
				change := func(p *process.Process) {
					p.PPID = a.id.PID
					if tc.change != nil {
						tc.change(p)
					}
				}
				spared := w.processes.startNow(901, tc.argv, change)
				tool := w.processes.startNow(902, []string{"sleep", "1000"}, below(a.id.PID))
				receipt := w.archive(r)
				assert.Equal(t, session.Archived, w.get(r.ID).State, receipt.Failures)
				assert.Equal(t, []process.Identity{a.id, tool}, w.processes.signalled())
				assert.Equal(t, map[int]string{spared.PID: tc.reason}, reasons(receipt.Others))
			})
		})
	}
}

// What runs in the panes of a tmux server that an agent has started is not the
// agent's any more.
func TestP2_BelowATmuxServerNothingIsEnded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		w.processes.startNow(901, []string{"tmux", "-D"}, below(a.id.PID), func(p *process.Process) { p.Comm = "tmux: server" })
		w.processes.startNow(902, []string{"bash"}, below(901))
		w.processes.startNow(903, []string{"make", "all"}, below(902))
		w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Equal(t, []process.Identity{a.id}, w.processes.signalled())
	})
}

func TestP2_BelowAKilledAgentAnotherSessionsAgentIsSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		other, b := w.started()
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		w.processes.change(b.id.PID, below(a.id.PID))
		tool := w.processes.startNow(901, []string{"sleep", "1000"}, below(b.id.PID))
		receipt := w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State, receipt.Failures)
		assert.Equal(t, session.Running, w.get(other.ID).State)
		assert.True(t, w.processes.alive(tool), "a tool of the other session")
		assert.Equal(t, []process.Identity{a.id}, w.processes.signalled())
	})
}

// A pid that was recorded and belongs to another process by now.
func TestP2_AReusedPidOfADescendantIsSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		w.processes.startNow(901, []string{"sleep", "1000"}, below(a.id.PID))
		w.crash("below-recorded", func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, "asked")) })
		w.processes.exit(901)
		stranger := w.processes.startNow(901, []string{"sleep", "1000"})
		w.comeBack()
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.True(t, w.processes.alive(stranger))
	})
}

func TestP3_ADescendantThatSurvivesIsTriedAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		tool := w.processes.startNow(901, []string{"dd"}, below(a.id.PID))
		w.processes.yieldsTo(tool.PID, never)
		receipt := w.archive(r)
		require.Len(t, receipt.Failures, 1)
		assert.Equal(t, Failure{FailureSurvived, tool.PID, "it survived KILL"}, receipt.Failures[0])
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		w.processes.yieldsTo(tool.PID, process.HowTerm)
		w.pass(2 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.alive(tool))
	})
}

// It ended after TERM, at the last moment: it has cleaned up itself.
func TestP2_WhatEndedRightBeforeItsKillHasCleanedUp(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		tool := w.processes.startNow(901, []string{"sleep", "1000"}, below(a.id.PID))
		w.order.onPoint(func(name string) {
			if name == "below-recorded" {
				w.processes.exit(a.id.PID)
			}
		})
		receipt := w.archive(r)
		assert.Equal(t, process.HowTerm, receipt.Agent.How)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Empty(t, w.get(r.ID).Below)
		assert.True(t, w.processes.alive(tool))
	})
}

// An agent that survives KILL still has its tools.
func TestP2_BelowAnAgentThatLivesNothingIsEnded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, never)
		tool := w.processes.startNow(901, []string{"sleep", "1000"}, below(a.id.PID))
		w.archive(r)
		require.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		assert.Contains(t, w.get(r.ID).Below, tool)
		assert.True(t, w.processes.alive(tool))
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		w.pass(5 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.alive(tool))
	})
}

// A leftover that has to be killed leaves its tools behind as well.
func TestP3_ToolsOfAKilledLeftoverEnd(t *testing.T) {
	tests := []struct {
		name string
		end  func(t *testing.T, w *world, r session.Record, left process.Identity)
	}{
		{"by an archive", func(t *testing.T, w *world, r session.Record, _ process.Identity) { w.archive(r) }},
		{"by a person's tap", func(t *testing.T, w *world, r session.Record, left process.Identity) {
			_, err := w.EndWriters(w.ctx, r.ID, []process.Identity{left})
			require.NoError(t, err)
		}},
		{"by a restore", func(t *testing.T, w *world, r session.Record, left process.Identity) {
			w.restart() // nobody notices it meanwhile
			w.processes.yieldsTo(left.PID, never)
			require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, "asked"))
			w.edit(r.ID, func(r *session.Record) { r.State, r.Cleanup, r.Binding, r.Below = session.Archived, nil, nil, nil })
			w.processes.yieldsTo(left.PID, process.HowKill)
			_, err := w.restoreIt(r.ID)
			require.NoError(t, err)
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				own := w.processes.startNow(900, []string{"npm", "test"}, below(a.id.PID))
				left := w.processes.start(777, resume(r.ClaudeSessionID))
				w.processes.yieldsTo(left.PID, process.HowKill)
				tool := w.processes.startNow(901, []string{"sleep", "1000"}, below(left.PID))
				tc.end(t, w, r, left)
				assert.False(t, w.processes.alive(left))
				assert.False(t, w.processes.alive(tool))
				assert.True(t, w.processes.alive(own), "a tool of an agent that was not killed")
			})
		})
	}
}

// ---- what the record bound

// A process that ended before it could be identified names nobody. It must not
// keep the session from ever being cleaned up.
func TestP3_AnAgentThatWasNeverIdentifiedIsNotWaitedFor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.tmux.onLaunch = func(a *agent, p *tmuxtest.Process) {
			p.Exit = &tmuxtest.Exit{Status: 1}
			w.processes.exit(a.id.PID)
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
	earlier = w.processes.start(777, []string{"claude"}) // its command line says nothing
	w.edit(r.ID, func(r *session.Record) { r.Bound = []process.Identity{earlier} })
	return w.get(r.ID), earlier
}

func TestP1_ARestoreEndsWhatTheRecordBoundFirst(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, earlier := w.left()
		back, err := w.Restore(w.ctx, RestoreRequest{Session: r.ID})
		require.NoError(t, err)
		require.Len(t, back.Ended, 1)
		assert.Equal(t, earlier, back.Ended[0].Process.Identity)
		assert.True(t, back.Ended[0].Ended && back.Ended[0].Verified)
		assert.False(t, w.processes.alive(earlier))
		assert.Equal(t, []process.Identity{back.Record.Binding.Agent}, w.get(r.ID).Bound)
		all := w.order.after("term 777")
		assert.Contains(t, all, "new-window", "the window comes after the end")
	})
}

// Unknown never starts a second writer.
func TestP6_ARestoreRefusesWhileAnEarlierAgentMayLive(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, earlier process.Identity)
	}{
		{"nobody knows whether it lives", func(w *world, earlier process.Identity) {
			w.processes.set(func(ps *processes) { ps.hidden[earlier.PID] = errors.New("permission denied") })
		}},
		{"it survives KILL", func(w *world, earlier process.Identity) { w.processes.yieldsTo(earlier.PID, never) }},
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

// A leftover that another session has bound meanwhile is that session's.
func TestP2_ABoundAgentOfAnotherSessionIsNoLeftover(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, earlier := w.left()
		other, _ := w.started()
		w.edit(other.ID, func(r *session.Record) { r.Binding.Agent = earlier })
		_, err := w.restoreIt(r.ID)
		assert.NoError(t, err, "it does not write this conversation")
		assert.True(t, w.processes.alive(earlier))
	})
}

// What changed its conversation between the look and the signal is spared. What
// could not be proven then is looked at again.
func TestP2_WhatMovedOnBeforeTheSignalIsSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		left := w.tmux.byHand(resume(r.ClaudeSessionID)...)
		w.bindings.set(func(b *bindings) { // hooks are asked after the presence files
			b.onRead = func() { left.set(func(a *agent) { a.session = uuid.New() }) }
		})
		w.archive(r)
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		w.pass(2 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Equal(t, []process.Identity{a.id}, w.processes.signalled())
	})
}
