package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
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
				w.processes.YieldsTo(a.id.PID, process.HowKill)
				tool := w.processes.StartNow(901, []string{"bash", "-c", "npm start"}, tabletest.Below(a.id.PID))
				w.processes.StartNow(902, []string{"node", "server.js"}, tabletest.Below(tool.PID))
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
		w.processes.YieldsTo(a.id.PID, process.HowKill)
		tool := w.processes.StartNow(901, []string{"sleep", "1000"}, tabletest.Below(a.id.PID))
		w.crash("below-recorded", func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"})) })
		w.processes.Exit(a.id.PID)
		w.comeBack()
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(tool))
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
				w.processes.YieldsTo(a.id.PID, process.HowKill)
				change := func(p *process.Process) {
					p.PPID = a.id.PID
					if tc.change != nil {
						tc.change(p)
					}
				}
				spared := w.processes.StartNow(901, tc.argv, change)
				tool := w.processes.StartNow(902, []string{"sleep", "1000"}, tabletest.Below(a.id.PID))
				receipt := w.archive(r)
				assert.Equal(t, session.Archived, w.get(r.ID).State, receipt.Failures)
				assert.Equal(t, []process.Identity{a.id, tool}, w.processes.Signalled())
				assert.Equal(t, map[int]string{spared.PID: tc.reason}, reasons(receipt.Others))
			})
		})
	}
}

// Programs in the panes of a tmux server that an agent started no longer belong to the agent.
func TestP2_TmuxServersProcessesAreSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.id.PID, process.HowKill)
		w.processes.StartNow(901, []string{"tmux", "-D"}, tabletest.Below(a.id.PID), func(p *process.Process) { p.Comm = "tmux: server" })
		w.processes.StartNow(902, []string{"bash"}, tabletest.Below(901))
		w.processes.StartNow(903, []string{"make", "all"}, tabletest.Below(902))
		w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
	})
}

func TestP2_ForeignNestedAgentIsSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		other, b := w.started()
		w.processes.YieldsTo(a.id.PID, process.HowKill)
		w.processes.Change(b.id.PID, tabletest.Below(a.id.PID))
		tool := w.processes.StartNow(901, []string{"sleep", "1000"}, tabletest.Below(b.id.PID))
		receipt := w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State, receipt.Failures)
		assert.Equal(t, session.Running, w.get(other.ID).State)
		assert.True(t, w.processes.Alive(tool), "a tool of the other session")
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
	})
}

// A recorded pid may belong to another process now.
func TestP2_DescendantsReusedPidIsSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.id.PID, process.HowKill)
		w.processes.StartNow(901, []string{"sleep", "1000"}, tabletest.Below(a.id.PID))
		w.crash("below-recorded", func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"})) })
		w.processes.Exit(901)
		stranger := w.processes.StartNow(901, []string{"sleep", "1000"})
		w.comeBack()
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.True(t, w.processes.Alive(stranger))
	})
}

func TestP3_SurvivingDescendantIsRetried(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.id.PID, process.HowKill)
		tool := w.processes.StartNow(901, []string{"dd"}, tabletest.Below(a.id.PID))
		w.processes.YieldsTo(tool.PID, tabletest.Never)
		receipt := w.archive(r)
		require.Len(t, receipt.Failures, 1)
		assert.Equal(t, ending.Failure{Kind: ending.FailureSurvived, ID: tool, Detail: "it survived KILL"}, receipt.Failures[0])
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		w.processes.YieldsTo(tool.PID, process.HowTerm)
		w.pass(2 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(tool))
	})
}

// It ended after TERM, at the last moment: it has cleaned up itself.
func TestP2_EndBeforeKillNeedsNoCleanup(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.id.PID, process.HowKill)
		tool := w.processes.StartNow(901, []string{"sleep", "1000"}, tabletest.Below(a.id.PID))
		w.order.onPoint(func(name string) {
			if name == "below-recorded" {
				w.processes.Exit(a.id.PID)
			}
		})
		receipt := w.archive(r)
		assert.Equal(t, process.HowTerm, receipt.Agent.How)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Empty(t, w.get(r.ID).Descendants)
		assert.True(t, w.processes.Alive(tool))
	})
}

// An agent that survives KILL still has its tools.
func TestP2_LivingAgentsToolsAreSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.id.PID, tabletest.Never)
		tool := w.processes.StartNow(901, []string{"sleep", "1000"}, tabletest.Below(a.id.PID))
		w.archive(r)
		require.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		assert.Contains(t, w.get(r.ID).Descendants, session.Tool{Process: tool, Of: a.id})
		assert.True(t, w.processes.Alive(tool))
		w.processes.YieldsTo(a.id.PID, process.HowKill)
		w.pass(5 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(tool))
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
			w.processes.YieldsTo(left.PID, tabletest.Never)
			require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
			w.edit(r.ID, func(r *session.Record) {
				r.State, r.Cleanup, r.Binding, r.Descendants = session.Archived, nil, nil, nil
			})
			w.processes.YieldsTo(left.PID, process.HowKill)
			_, err := w.restoreIt(r.ID)
			require.NoError(t, err)
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				own := w.processes.StartNow(900, []string{"npm", "test"}, tabletest.Below(a.id.PID))
				left := w.leftover(777, r)
				w.processes.YieldsTo(left.PID, process.HowKill)
				tool := w.processes.StartNow(901, []string{"sleep", "1000"}, tabletest.Below(left.PID))
				tc.end(t, w, r, left)
				assert.False(t, w.processes.Alive(left))
				assert.False(t, w.processes.Alive(tool))
				assert.True(t, w.processes.Alive(own), "a tool of an agent that was not killed")
			})
		})
	}
}
