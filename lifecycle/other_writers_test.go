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
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
	"ccbot/tmux"
)

// writersOf returns the other writers of a session's conversation, by pid.
func (w *world) writersOf(r session.Record) map[int]evidence.Writer {
	w.t.Helper()
	all, err := w.Writers(w.ctx, r.ID)
	require.NoError(w.t, err)
	found := map[int]evidence.Writer{}
	for _, one := range all {
		found[one.PID] = one
	}
	return found
}

func TestP1_WritersAreDescribed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		assert.Empty(t, w.writersOf(r), "its own agent is none")
		desk := w.tmux.byHand(resume(r.AgentSessionID)...)
		hidden := w.processes.StartNow(771, []string{"node", "/opt/claude", "--resume=" + r.AgentSessionID.String()})
		w.processes.StartNow(772, []string{"claude"})
		foreign := w.processes.StartNow(773, resume(r.AgentSessionID), func(p *process.Process) { p.UID = 0 })
		other, b := w.started()
		w.presences.claim(presence.File{PID: 772, SessionID: r.AgentSessionID},
			presence.File{PID: b.id.PID, SessionID: r.AgentSessionID})
		w.pass(time.Minute)

		all := w.writersOf(r)
		require.Len(t, all, 5)
		one := all[desk.id.PID]
		assert.True(t, one.Proven && one.Endable() && one.Adoptable() && one.InTmux)
		assert.Equal(t, process.SourcePresence, one.Source)
		assert.InDelta(t, time.Minute, one.Age, float64(5*time.Second))
		assert.Equal(t, "/src", one.Cwd)

		one = all[hidden.PID]
		assert.True(t, one.Proven && one.Endable())
		assert.False(t, one.InTmux || one.Adoptable())
		assert.Equal(t, process.SourceArgv, one.Source)

		one = all[772]
		assert.False(t, one.Proven || one.Endable() || one.Adoptable())
		assert.Equal(t, evidence.Unclear, one.Standing)

		one = all[foreign.PID]
		assert.True(t, one.Proven)
		assert.False(t, one.Endable())
		assert.Equal(t, process.GuardUser, one.Spared)

		one = all[b.id.PID]
		assert.Equal(t, other.Name, one.Session)
		assert.Equal(t, evidence.ReasonOtherAgent, one.Spared)
		assert.False(t, one.Endable() || one.Adoptable())

		_, err := w.Writers(w.ctx, uuid.New())
		assert.ErrorIs(t, err, session.ErrNotFound)
	})
}

func TestP6_UnreadableWritersAreError(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.processes.FailSnapshots(errors.New("/proc is not readable"))
		_, err := w.Writers(w.ctx, r.ID)
		assert.Error(t, err)
	})
}

// Without a clock or panes, unknown facts are left out and the rest is reported.
func TestWritersHaveOnlyKnownFacts(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		desk := w.tmux.byHand(resume(r.AgentSessionID)...)
		w.stop()
		w.processes.StopClock(errors.New("no clock"))
		w.processes.Hide(desk.id.PID, errors.New("permission denied"))
		w.tmux.Fail("Panes", tmux.ErrLost)
		one := w.writersOf(r)[desk.id.PID]
		assert.True(t, one.Proven)
		assert.Zero(t, one.Age)
		assert.Empty(t, one.Cwd)
		assert.False(t, one.InTmux || one.Adoptable())
	})
}

// ---- EndWriters

func TestP2_EndWritersEndsShownProcesses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		first := w.processes.StartNow(771, resume(r.AgentSessionID))
		second := w.processes.StartNow(772, resume(r.AgentSessionID))
		w.look()
		ended, err := w.EndWriters(w.ctx, r.ID, []process.Identity{first})
		require.NoError(t, err)
		require.Len(t, ended, 1)
		assert.Equal(t, first, ended[0].Process.Identity)
		assert.True(t, ended[0].Ended && ended[0].Verified)
		assert.Equal(t, process.HowTerm, ended[0].How)
		assert.True(t, w.processes.Alive(second), "the person decided about one")
		assert.True(t, w.processes.Alive(a.id))
		assert.Equal(t, []process.Identity{first}, w.processes.Signalled())
		assert.Equal(t, []process.Identity{second}, w.get(r.ID).SecondWriters)
		assert.Equal(t, session.Running, w.get(r.ID).State)
	})
}

// [Take over] and then the restore; text from the terminal is not a second writer's.
func TestP1_AfterEndWritersARestoreWorks(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.goneOn()
		require.Equal(t, 1, w.news.ghosts())
		_, err := w.restoreIt(r.ID)
		var refused *WriterError
		require.ErrorAs(t, err, &refused)
		ended, err := w.EndWriters(w.ctx, r.ID, []process.Identity{refused.Writers[0].Identity})
		require.NoError(t, err)
		assert.True(t, ended[0].Ended)
		assert.False(t, w.processes.Alive(h.id))
		assert.True(t, w.processes.Alive(h.shell))
		w.pass(time.Hour)
		assert.Equal(t, 1, w.news.ghosts())
		w.write(r, userLine("by a ghost"))
		w.pass(time.Hour)
		assert.Equal(t, 2, w.news.ghosts(), "what comes after is news again")
		_, err = w.restoreIt(r.ID)
		assert.NoError(t, err)
	})
}

func TestP2_EndWritersSpares(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, r session.Record, h hand) process.Identity // whom the person has seen
		want  string
	}{
		{"what has moved to another conversation", func(_ *world, _ session.Record, h hand) process.Identity {
			h.set(func(a *agent) { a.session = uuid.New() })
			return h.id
		}, process.ReasonUnproven},
		{"whose evidence contradicts itself by now", func(w *world, _ session.Record, h hand) process.Identity {
			w.bindings.claim(h.id, uuid.New())
			return h.id
		}, process.ReasonUnproven},
		{"what has become another user's", func(w *world, _ session.Record, h hand) process.Identity {
			w.processes.Change(h.id.PID, func(p *process.Process) { p.UID = 0 })
			return h.id
		}, process.GuardUser},
		{"what ccbot was started by", func(w *world, _ session.Record, h hand) process.Identity {
			w.processes.Change(w.Processes.Self().PID, tabletest.Below(h.id.PID))
			return h.id
		}, process.GuardAncestor},
		{"what is no agent", func(w *world, r session.Record, _ hand) process.Identity {
			id := w.processes.StartNow(777, []string{"vim"})
			w.presences.claim(presence.File{PID: 777, ProcStart: id.Start, SessionID: r.AgentSessionID})
			return id
		}, process.GuardNoAgent},
		{"the agent of another session", func(w *world, _ session.Record, h hand) process.Identity {
			other, _ := w.started()
			w.edit(other.ID, func(r *session.Record) { r.Binding.Agent = h.id })
			return h.id
		}, evidence.ReasonOtherAgent},
		{"what writes another conversation", func(w *world, _ session.Record, _ hand) process.Identity {
			return w.processes.StartNow(777, resume(uuid.New()))
		}, process.ReasonUnproven},
		{"an identity that names nobody", func(*world, session.Record, hand) process.Identity {
			return process.Identity{PID: 1}
		}, process.GuardIdentity},
		{"anybody while the processes cannot be read", func(w *world, _ session.Record, h hand) process.Identity {
			w.processes.FailSnapshots(errors.New("/proc is not readable"))
			return h.id
		}, process.ReasonUnproven},
		{"anybody while the evidence cannot be read", func(w *world, _ session.Record, h hand) process.Identity {
			w.presences.fail(errors.New("permission denied"))
			return h.id
		}, process.ReasonUnproven},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.goneOn()
				who := tc.spoil(w, r, h)
				before := w.processes.Signalled()
				ended, err := w.EndWriters(w.ctx, r.ID, []process.Identity{who})
				require.NoError(t, err)
				require.Len(t, ended, 1)
				assert.False(t, ended[0].Ended)
				assert.Equal(t, tc.want, ended[0].Reason)
				assert.NotEmpty(t, ended[0].Spared)
				assert.Equal(t, before, w.processes.Signalled())
				assert.True(t, w.processes.Alive(h.id))
			})
		})
	}
}

func TestP2_EndWritersSparesOwnAgent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		ended, err := w.EndWriters(w.ctx, r.ID, []process.Identity{a.id})
		require.NoError(t, err)
		assert.False(t, ended[0].Ended)
		assert.True(t, w.processes.Alive(a.id))
	})
}

// The pid was reused between the message and the tap.
func TestP2_EndWritersSparesReusedPid(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.goneOn()
		w.tmux.quit(h)
		stranger := w.processes.StartNow(h.id.PID, resume(r.AgentSessionID))
		ended, err := w.EndWriters(w.ctx, r.ID, []process.Identity{h.id})
		require.NoError(t, err)
		assert.Equal(t, process.HowAlreadyGone, ended[0].How)
		assert.True(t, w.processes.Alive(stranger))
	})
}

func TestEndWritersOfNoSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, err := w.EndWriters(w.ctx, uuid.New(), nil)
		assert.ErrorIs(t, err, session.ErrNotFound)
	})
}

// ---- all at once

// Thirty taps on one session at once end in one state with one writer at most.
func TestP1_ConcurrentTapsEndInOneState(t *testing.T) {
	for name, prepare := range map[string]func(w *world) session.Record{
		"running":                    func(w *world) session.Record { r, _ := w.started(); w.write(r, userLine("hello")); return r },
		"archived":                   func(w *world) session.Record { return w.archived() },
		"archived, open at the desk": func(w *world) session.Record { r, _ := w.goneOn(); return r },
		"its cleanup has failed": func(w *world) session.Record {
			r, a := w.survived()
			w.processes.YieldsTo(a.id.PID, process.HowTerm)
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := prepare(w)
				var seen []process.Identity
				for _, one := range w.writersOf(r) {
					seen = append(seen, one.Identity)
				}
				taps := []func(){
					func() { _ = w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}) },
					func() { _ = w.Archive(w.ctx, r.ID, session.Completed, port.Cause{Why: "asked"}) },
					func() { _, _ = w.restoreIt(r.ID) },
					func() { _, _ = w.EndWriters(w.ctx, r.ID, seen) },
					func() {
						_ = w.ArchiveQuiet(w.ctx, r.ID, port.Silence{Since: time.Now().AddDate(50, 0, 0), Quiet: time.Hour, Cause: port.Cause{Why: "nothing has happened"}})
					},
					func() { _ = w.noticeWriters(w.ctx) },
				}
				if len(seen) > 0 {
					taps[5] = func() { _, _ = w.adoptIt(r, seen[0]) }
				}
				var wg sync.WaitGroup
				for i := range 30 {
					wg.Go(taps[i%len(taps)])
				}
				wg.Wait()
				w.pass(time.Minute)
				got := w.get(r.ID)
				writers := w.writing(got.AgentSessionID)
				assert.LessOrEqual(t, len(writers), 1, "%s with %v", got.State, writers)
				if got.State.Live() {
					require.NotNil(t, got.Binding)
					assert.Equal(t, []process.Identity{got.Binding.Agent}, writers)
					return
				}
				assert.Contains(t, []session.State{session.Archived, session.Completed}, got.State)
				assert.Empty(t, writers)
				assert.Nil(t, got.Binding)
			})
		})
	}
}

// writing are the living processes that really write a conversation.
func (w *world) writing(id uuid.UUID) (found []process.Identity) {
	w.t.Helper()
	all, err := w.Evidence.Read(w.ctx, id)
	require.NoError(w.t, err)
	for _, v := range all.Verdicts {
		if v.Writer == process.Yes {
			found = append(found, v.Process.Identity)
		}
	}
	return found
}
