package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port"
)

// A crash between the record and the KILL, or after it: what ran below is on
// disk, and the next stop ends it.
func TestP8_KilledAgentsToolsEndAfterCrash(t *testing.T) {
	for _, point := range []string{"below-recorded", "ended"} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.processes.yieldsTo(a.id.PID, process.HowKill)
				tool := w.processes.startNow(901, []string{"bash", "-c", "npm start"}, below(a.id.PID))
				w.processes.startNow(902, []string{"node", "server.js"}, below(tool.PID))
				w.crash(point, func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"})) })
				assert.NotEmpty(t, w.get(r.ID).Descendants)
				w.comeBack()
				got := w.get(r.ID)
				assert.Equal(t, session.Archived, got.State)
				assert.Empty(t, got.Descendants)
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
func TestP8_GoneAgentsToolsEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		tool := w.processes.startNow(901, []string{"sleep", "1000"}, below(a.id.PID))
		w.crash("below-recorded", func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"})) })
		w.processes.exit(a.id.PID)
		w.comeBack()
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.alive(tool))
	})
}

// A descendant is not a writer: a protected one is spared and reported, and the archive has ended.
func TestP2_GuardsHoldBelowKilledAgent(t *testing.T) {
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

// Programs in the panes of a tmux server that an agent started no longer belong to the agent.
func TestP2_TmuxServersProcessesAreSpared(t *testing.T) {
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

func TestP2_ForeignNestedAgentIsSpared(t *testing.T) {
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

// A recorded pid may belong to another process now.
func TestP2_DescendantsReusedPidIsSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		w.processes.startNow(901, []string{"sleep", "1000"}, below(a.id.PID))
		w.crash("below-recorded", func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"})) })
		w.processes.exit(901)
		stranger := w.processes.startNow(901, []string{"sleep", "1000"})
		w.comeBack()
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.True(t, w.processes.alive(stranger))
	})
}

func TestP3_SurvivingDescendantIsRetried(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		tool := w.processes.startNow(901, []string{"dd"}, below(a.id.PID))
		w.processes.yieldsTo(tool.PID, never)
		receipt := w.archive(r)
		require.Len(t, receipt.Failures, 1)
		assert.Equal(t, ending.Failure{Kind: ending.FailureSurvived, ID: tool, Detail: "it survived KILL"}, receipt.Failures[0])
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		w.processes.yieldsTo(tool.PID, process.HowTerm)
		w.pass(2 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.alive(tool))
	})
}

// It ended after TERM, at the last moment: it has cleaned up itself.
func TestP2_EndBeforeKillNeedsNoCleanup(t *testing.T) {
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
		assert.Empty(t, w.get(r.ID).Descendants)
		assert.True(t, w.processes.alive(tool))
	})
}

// An agent that survives KILL still has its tools.
func TestP2_LivingAgentsToolsAreSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.yieldsTo(a.id.PID, never)
		tool := w.processes.startNow(901, []string{"sleep", "1000"}, below(a.id.PID))
		w.archive(r)
		require.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		assert.Contains(t, w.get(r.ID).Descendants, session.Tool{Process: tool, Of: a.id})
		assert.True(t, w.processes.alive(tool))
		w.processes.yieldsTo(a.id.PID, process.HowKill)
		w.pass(5 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.alive(tool))
	})
}

// A killed leftover also leaves its tools.
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
			w.restart() // no scan notices it in between
			w.processes.yieldsTo(left.PID, never)
			require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
			w.edit(r.ID, func(r *session.Record) {
				r.State, r.Cleanup, r.Binding, r.Descendants = session.Archived, nil, nil, nil
			})
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
				left := w.leftover(777, r)
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
