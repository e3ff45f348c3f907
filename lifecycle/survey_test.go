package lifecycle

import (
	coding "ccbot/agent"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
)

// survey takes a reading that must change nothing.
func (w *world) survey() evidence.Survey {
	w.t.Helper()
	before, told := w.Store.List(), len(w.news.all())
	v, err := w.Evidence.Survey(w.ctx, before)
	require.NoError(w.t, err)
	assert.Equal(w.t, before, w.Store.List())
	assert.Len(w.t, w.news.all(), told)
	assert.Empty(w.t, w.processes.Signalled())
	return v
}

// It finds the same as separate readings of each session.
func TestP1_SurveySeesAllWriters(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		running, a := w.started()
		over, ended := w.started()
		quiet, _ := w.started()
		launcher, b := w.started()
		w.stop()
		w.processes.Exit(ended.id.PID)
		w.edit(over.ID, func(r *session.Record) {
			r.State, r.Binding, r.EndedMoment = session.Archived, nil, w.Moment()
			r.Bound = []process.Identity{w.processes.StartNow(770, []string{"claude"})}
		})
		w.pass(time.Minute)
		line := []string{"sh", w.command(), "--session-id", launcher.AgentSessionID.String()}
		w.processes.Change(b.id.PID, func(p *process.Process) { p.Args = line })
		b.set(func(a *agent) { a.silent = true })
		child := w.processes.StartNow(771, append([]string{"claude"}, line[2:]...), tabletest.Below(b.id.PID))
		desk := w.tmux.byHand(resume(running.AgentSessionID)...)
		unclear := w.processes.StartNow(772, []string{"claude"})
		foreign := w.processes.StartNow(773, resume(over.AgentSessionID), func(p *process.Process) { p.UID = 0 })
		w.presences.claim(presence.File{PID: 772, SessionID: over.AgentSessionID}, presence.File{PID: 771, ProcStart: child.Start, SessionID: launcher.AgentSessionID})

		v := w.survey()
		scans := w.processes.Scanned()
		w.survey()
		assert.Equal(t, scans+1, w.processes.Scanned(), "one look at all processes")
		require.Len(t, v.Writers, 2)
		assert.NotContains(t, v.Writers, quiet.ID)
		require.Len(t, v.Writers[running.ID], 1)
		one := v.Writers[running.ID][0]
		assert.Equal(t, desk.id, one.Identity)
		assert.True(t, one.Adoptable())
		assert.Equal(t, running.AgentSessionID, one.AgentSessionID)
		assert.Equal(t, desk.pane, one.Pane.ID)
		found := map[int]evidence.Writer{}
		for _, one := range v.Writers[over.ID] {
			found[one.PID] = one
		}
		require.Len(t, found, 3)
		assert.Equal(t, evidence.Leftover, found[770].Standing)
		assert.False(t, found[770].Proven, "but it is not known to write")
		assert.Equal(t, evidence.Unclear, found[unclear.PID].Standing)
		assert.Equal(t, process.GuardUser, found[foreign.PID].Spared)
		for _, r := range []session.Record{running, quiet, launcher} {
			assert.Equal(t, process.Alive, v.Agents[r.ID])
		}
		assert.NotContains(t, v.Agents, over.ID)
		for _, r := range w.Store.List() {
			all, err := w.Writers(w.ctx, r.ID)
			require.NoError(t, err)
			for _, list := range [][]evidence.Writer{all, v.Writers[r.ID]} {
				for i := range list {
					list[i].Age = 0 // time goes by
				}
			}
			assert.ElementsMatch(t, all, v.Writers[r.ID])
		}
		assert.True(t, w.processes.Alive(a.id))
	})
}

func TestP6_SurveyWithoutEvidenceSeesAgents(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world)
	}{
		{"the processes cannot be listed", func(w *world) {
			w.processes.FailSnapshots(errors.New("/proc is not readable"))
		}},
		{"the presence files cannot be read", func(w *world) { w.presences.fail(errors.New("permission denied")) }},
		{"the hooks' bindings cannot be read", func(w *world) {
			w.bindings.set(func(b *bindings) { b.errs = []error{errors.New("permission denied")} })
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				alive, _ := w.started()
				gone, b := w.started()
				w.stop()
				w.processes.Exit(b.id.PID)
				tc.spoil(w)
				v, err := w.Evidence.Survey(w.ctx, w.Store.List())
				require.ErrorIs(t, err, evidence.ErrUnreadable)
				assert.Nil(t, v.Writers)
				assert.Equal(t, map[uuid.UUID]process.Liveness{alive.ID: process.Alive, gone.ID: process.Gone}, v.Agents)
			})
		})
	}
}

// Pid, start and boot stay when a process executes another program.
func TestP6_ReplacedBoundAgentIsUnknown(t *testing.T) {
	const exe = "/opt/claude/bin"
	argv := []string{"agent", "--session-id", uuid.NewString()}
	tests := []struct {
		name   string
		change func(p *process.Process)
		unset  bool // the record does not know what it was
		want   process.Liveness
	}{
		{"the same", func(*process.Process) {}, false, process.Alive},
		{"another program", func(p *process.Process) { p.Exe, p.Args = "/bin/bash", []string{"bash"} }, false, process.Unknown},
		{"another program, and nobody knows which it was", func(p *process.Process) { p.Exe, p.Args = "/bin/bash", []string{"bash"} }, true, process.Alive},
		{"an agent by name", func(p *process.Process) { p.Exe, p.Args = "/bin/node", []string{"claude"} }, false, process.Alive},
		{"an update replaced its file", func(p *process.Process) { p.Exe = exe + " (deleted)" }, false, process.Alive},
		{"its arguments alone", func(p *process.Process) { p.Args = []string{"agent"} }, false, process.Alive},
		{"its program alone", func(p *process.Process) { p.Exe = "/opt/claude/bin2" }, false, process.Alive},
		{"its program cannot be read", func(p *process.Process) { p.Exe, p.Args = "", []string{"bash"} }, false, process.Alive},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.stop()
				w.processes.Change(a.id.PID, func(p *process.Process) { p.Exe, p.Args = exe, argv })
				w.edit(r.ID, func(r *session.Record) {
					r.Binding.Exe, r.Binding.ArgvDigest = exe, process.ArgvHash(argv)
					if tc.unset {
						r.Binding.Exe, r.Binding.ArgvDigest = "", ""
					}
				})
				w.processes.Change(a.id.PID, tc.change)
				assert.Equal(t, tc.want, w.survey().Agents[r.ID])
			})
		})
	}
}

// After a reboot, or a restart of tmux, ids and pids are given out again.
func TestP2_RecycledIDsMatchNothing(t *testing.T) {
	tests := []struct {
		name    string
		recycle func(w *world, r session.Record, a *agent)
	}{
		{"the pid is another process", func(w *world, r session.Record, a *agent) {
			w.processes.StartNow(a.id.PID, resume(uuid.New()))
		}},
		{"the pid is another agent in the pane of that id", func(w *world, r session.Record, a *agent) {
			w.tmux.StopServer()
			require.NoError(w.t, w.tmux.Ensure(w.ctx))
			h := w.tmux.byHand(resume(uuid.New())...)
			w.edit(r.ID, func(r *session.Record) { r.Binding.Pane, r.Binding.Window = h.pane.String(), "@1" })
		}},
		{"of another boot", func(w *world, r session.Record, a *agent) {
			a.set(func(a *agent) { a.silent = true })
			w.processes.StartAt(a.id.Start, a.id.PID, resume(uuid.New()))
			w.edit(r.ID, func(r *session.Record) {
				r.Binding.Agent.Boot = "another"
				r.Bound = []process.Identity{r.Binding.Agent}
			})
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.restart()
				w.processes.Exit(a.id.PID)
				w.tmux.ClosePaneByHand(a.pane)
				tc.recycle(w, r, a)
				v := w.survey()
				assert.Equal(t, process.Gone, v.Agents[r.ID])
				assert.Empty(t, v.Writers)
				require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
				ended, err := w.EndLeftovers(w.ctx, r.ID, "test")
				require.NoError(t, err)
				assert.Empty(t, ended)
				assert.Empty(t, w.processes.Signalled())
			})
		})
	}
}

// crowd has many sessions and processes.
func crowd(t testing.TB, store *session.Store, ps *tabletest.Table, files *presences, records, processes int) {
	t.Helper()
	var ids []uuid.UUID
	for i := range records {
		id, err := uuid.NewV7()
		require.NoError(t, err)
		r := session.Record{ID: id, Name: fmt.Sprint("s", i), Dir: "/src", State: session.Archived, AgentSessionID: uuid.New(), CreatedAt: time.Now()}
		for range 40 {
			r.Note(time.Now(), "test", uuid.NewString())
		}
		ids = append(ids, r.AgentSessionID)
		require.NoError(t, store.Create(r))
	}
	var all []presence.File
	for i := range processes {
		who := ps.StartNow(100_000+i, resume(ids[i]))
		all = append(all, presence.File{PID: who.PID, ProcStart: who.Start, SessionID: ids[i]})
	}
	files.claim(all...)
}

func TestSurveyScansOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.stop()
		crowd(t, w.Store, w.processes, w.presences, 300, 60)
		calls := len(w.tmux.Calls())
		assert.Len(t, w.survey().Writers, 60)
		assert.Equal(t, 1, w.processes.Scanned())
		assert.Len(t, w.tmux.Calls(), calls+1)
	})
}

func BenchmarkSurvey(b *testing.B) {
	base, log, o := b.TempDir(), slog.New(slog.DiscardHandler), &order{}
	store, err := session.Open(filepath.Join(base, "sessions"), filepath.Join(base, "quarantine"), time.Now, log, nil)
	require.NoError(b, err)
	ps := newProcesses(o)
	d := newDesk(o, ps)
	files := &presences{desk: d}
	crowd(b, store, ps, files, 1000, 200)
	s := evidence.Sources{Instance: "4f0c", Agents: coding.Agents{coding.Default: {Witness: claude.Witness{Command: "claude"}, Presences: files}}, Records: store, Processes: ps,
		Bindings: (&bindings{}).read, Panes: d.Panes, Log: log}
	records := store.List()
	for b.Loop() {
		v, err := s.Survey(b.Context(), records)
		if err != nil || len(v.Writers) != 200 {
			b.Fatal(err, len(v.Writers))
		}
	}
}
