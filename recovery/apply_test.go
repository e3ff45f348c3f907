package recovery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

const boot = "8d6c7a52-0000-4000-8000-000000000001"

// machine is what a start-up finds: real records, a fake tmux, fake processes.
type machine struct {
	*Recovery
	t         *testing.T
	base      string
	tmux      *tmuxtest.Fake
	processes *processes
	log       *bytes.Buffer
	told      []lifecycle.NoteKind
}

func newMachine(t *testing.T) *machine {
	m := &machine{t: t, base: t.TempDir(), tmux: tmuxtest.NewFake(), processes: &processes{}}
	m.tmux.Launch = func(p *tmuxtest.Process) { m.processes.start(p.PID, p.Spec.Argv) }
	require.NoError(t, os.MkdirAll(filepath.Join(m.base, "src"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(m.base, "claude"), []byte("#!/bin/sh\n"), 0o700))
	m.restart()
	return m
}

// restart is another start of the program on the same disk and machine.
func (m *machine) restart() {
	m.log = &bytes.Buffer{}
	log := slog.New(slog.NewJSONHandler(m.log, nil))
	now := func() time.Time { return noon }
	store, err := session.Open(filepath.Join(m.base, "sessions"), filepath.Join(m.base, "quarantine"), now, log)
	require.NoError(m.t, err)
	service := lifecycle.New(
		lifecycle.Config{Instance: instance, StateDir: m.base, Command: filepath.Join(m.base, "claude"), ProjectsDir: m.base},
		lifecycle.Deps{Store: store, Tmux: m.tmux, Processes: m.processes, Presences: presences{}, Launches: launches{m.base},
			Prompts: prompts{}, News: m, Bindings: func() ([]hookwire.Binding, []error) { return nil, nil }, Now: now, Log: log})
	m.Recovery = &Recovery{Instance: instance, Session: tmuxtest.Session, Store: store, Tmux: m.tmux, Processes: m.processes,
		Lifecycle: service, Events: func(context.Context) error { return nil }, Now: now, Log: log}
}

func (m *machine) SessionNews(_ context.Context, n lifecycle.Note) error {
	m.told = append(m.told, n.Kind)
	return nil
}

func (m *machine) recover() []Action {
	m.t.Helper()
	actions, _ := Plan(m.Look(m.t.Context()))
	_, err := m.Run(m.t.Context())
	require.NoError(m.t, err)
	return actions
}

// start makes a session with a window, and puts it into a state.
func (m *machine) start(change func(r *session.Record)) session.Record {
	m.t.Helper()
	r, err := m.Lifecycle.Start(m.t.Context(), lifecycle.StartRequest{Dir: filepath.Join(m.base, "src")})
	require.NoError(m.t, err)
	require.NoError(m.t, m.Store.Do(m.t.Context(), r.ID, func(r *session.Record, save func() error) error {
		change(r)
		return save()
	}))
	return m.get(r.ID)
}

func (m *machine) get(id uuid.UUID) session.Record {
	r, ok := m.Store.Get(id)
	require.True(m.t, ok)
	return r
}

func (m *machine) paneOf(r session.Record) tmux.PaneID {
	id, err := tmux.ParsePaneID(r.Binding.Pane)
	require.NoError(m.t, err)
	return id
}

// lines gives the log lines with this message.
func (m *machine) lines(message string) (found []map[string]any) {
	for line := range bytes.Lines(m.log.Bytes()) {
		var attrs map[string]any
		require.NoError(m.t, json.Unmarshal(line, &attrs))
		if attrs["msg"] == message {
			found = append(found, attrs)
		}
	}
	return found
}

func running(r *session.Record)  { r.State = session.Running }
func unbound(r *session.Record)  { r.Binding = nil }
func stopping(r *session.Record) { r.State, r.Final = session.Stopping, session.Completed }

func TestP8_RunningRecoveryAgainChangesNothing(t *testing.T) {
	m := newMachine(t)
	alive := m.start(running)
	ended := m.start(running)
	m.processes.exit(ended.Binding.Agent.PID)
	m.tmux.End(m.paneOf(ended), tmuxtest.Exit{Status: 1})
	lost := m.start(running)
	m.processes.exit(lost.Binding.Agent.PID)
	m.tmux.ClosePaneByHand(m.paneOf(lost))
	left := m.start(unbound)
	never := m.start(func(r *session.Record) {
		r.State, r.RestoredFrom = session.Restoring, session.Archived
		r.Binding = nil
	})
	m.closeTagged(never)
	nothing := m.start(unbound)
	m.closeTagged(nothing)
	stopped := m.start(stopping)
	m.restart()

	did := map[uuid.UUID]Do{}
	for _, a := range m.recover() {
		did[a.Record] = a.Do
	}
	assert.Equal(t, map[uuid.UUID]Do{alive.ID: Reattach, ended.ID: Conclude, lost.ID: MarkLost, left.ID: Bind, never.ID: Fail,
		nothing.ID: Discard, stopped.ID: FinishStop}, did)
	assert.Equal(t, session.Running, m.get(alive.ID).State)
	assert.Equal(t, session.Lost, m.get(lost.ID).State)
	assert.NotNil(t, m.get(left.ID).Binding)
	assert.Equal(t, session.Failed, m.get(never.ID).State)
	_, ok := m.Store.Get(nothing.ID)
	assert.False(t, ok, "its command comes again")
	assert.Equal(t, session.Completed, m.get(stopped.ID).State)
	assert.Contains(t, m.told, lifecycle.NoteLost)
	assert.Contains(t, m.told, lifecycle.NoteFailed)
	require.Len(t, m.lines("Dropping stale window_state"), 1)
	assert.Equal(t, lost.Binding.Window, m.lines("Dropping stale window_state")[0]["window_id"])
	assert.Empty(t, m.lines("recovery_failed"))

	before, calls := m.Store.List(), m.changes()
	assert.Empty(t, m.recover())
	m.restart() // and after another kill -9
	m.recover()
	assert.Equal(t, before, m.Store.List())
	assert.Equal(t, calls, m.changes())
}

// changes are the calls to tmux that do something.
func (m *machine) changes() []string {
	return slices.DeleteFunc(m.tmux.Calls(), func(op string) bool {
		return slices.Contains([]string{"Server", "Panes", "Pane", "Capture", "Ensure"}, op)
	})
}

func (m *machine) closeTagged(r session.Record) {
	panes, err := m.tmux.Panes(m.t.Context())
	require.NoError(m.t, err)
	for _, p := range panes {
		if p.Tag == tagOf(r) {
			m.processes.exit(p.PID)
			m.tmux.ClosePaneByHand(p.ID)
		}
	}
}

func TestP2_OneWarningPerOrphanWindow(t *testing.T) {
	m := newMachine(t)
	m.start(running)
	orphan := m.tmux.AddWindow(tmuxtest.Session, "notes")
	m.tmux.Split(orphan.ID)
	m.tmux.AddWindow(tmuxtest.Session, "ccbot-usage")
	m.tmux.AddWindow("work", "mine")
	foreign := m.tmux.AddWindow(tmuxtest.Session, "theirs")
	m.tmux.Change(foreign.ID, func(p *tmux.Pane) { p.Tag = "other/" + uuid.NewString() })
	m.restart()
	before := m.changes()
	m.recover()
	warned := m.lines("orphan_window")
	require.Len(t, warned, 1)
	delete(warned[0], "time")
	assert.Equal(t, map[string]any{"level": "WARN", "msg": "orphan_window", "window_id": orphan.Window.String(), "name": "notes",
		"session_id": "unknown", "note": "no Session record references it"}, warned[0])
	assert.Equal(t, before, m.changes(), "nothing is done to it")
	panes, err := m.tmux.Panes(t.Context())
	require.NoError(t, err)
	assert.Len(t, panes, 7)
}

// After a tmux restart the ids begin again: another pane has the old one's.
func TestP2_ReusedIdsAreNotReattached(t *testing.T) {
	m := newMachine(t)
	r := m.start(running)
	m.processes.exit(r.Binding.Agent.PID)
	m.tmux.StopServer()
	require.NoError(t, m.tmux.Ensure(t.Context()))
	for {
		p := m.tmux.AddWindow(tmuxtest.Session, "mine")
		if p.ID == m.paneOf(r) {
			m.processes.start(p.PID, []string{"bash"})
			break
		}
	}
	m.restart()
	m.recover()
	assert.Equal(t, session.Lost, m.get(r.ID).State)
	assert.Empty(t, m.changes()[1:], "the other's pane is left alone")
	assert.NotEmpty(t, m.lines("orphan_window"))
}

func TestP6_WithoutAnAnswerOfTmuxNothingChanges(t *testing.T) {
	for _, op := range []string{"Server", "Panes"} {
		t.Run(op, func(t *testing.T) {
			m := newMachine(t)
			m.start(running)
			m.start(unbound)
			m.start(stopping)
			gone := m.start(running)
			m.processes.exit(gone.Binding.Agent.PID)
			m.restart()
			before, calls := m.Store.List(), m.changes()
			m.tmux.Fail(op, tmux.ErrLost)
			_, err := m.Run(t.Context())
			require.NoError(t, err)
			assert.Equal(t, before, m.Store.List())
			assert.Equal(t, calls, m.changes())
			assert.Len(t, m.lines("session_unclear"), 4)
			assert.Len(t, m.lines("tmux_unclear"), 1)
			assert.Empty(t, m.told)

			m.recover() // it answers again
			assert.Empty(t, m.lines("recovery_failed"))
			assert.NotEqual(t, before, m.Store.List())
		})
	}
}

// One that fails leaves its record as it is; the others go on.
func TestP8_AFailedActionDoesNotStopTheOthers(t *testing.T) {
	m := newMachine(t)
	broken := m.start(unbound)
	other := m.start(unbound)
	m.closeTagged(other)
	m.restart()
	m.processes.fail = errors.New("/proc is not readable")
	m.recover()
	assert.Len(t, m.lines("recovery_failed"), 1)
	assert.Nil(t, m.get(broken.ID).Binding)
	assert.Equal(t, session.Starting, m.get(broken.ID).State)
	_, ok := m.Store.Get(other.ID)
	assert.False(t, ok)
	m.processes.fail = nil
	m.recover()
	assert.NotNil(t, m.get(broken.ID).Binding, "it is planned again")
}

// A look beside a start must not take its window for an orphan.
func TestP2_AWindowThatIsJustMadeIsNoOrphan(t *testing.T) {
	m := newMachine(t)
	m.Recovery.Tmux = during{m.tmux, func() { m.start(func(*session.Record) {}) }}
	assert.Empty(t, m.Look(t.Context()).Orphans())
}

// during starts a session right before the panes are read.
type during struct {
	*tmuxtest.Fake
	start func()
}

func (d during) Panes(ctx context.Context) ([]tmux.Pane, error) {
	d.start()
	return d.Fake.Panes(ctx)
}

// ---- the rest of the machine

type processes struct {
	mu   sync.Mutex
	all  []process.Process
	fail error // of Inspect
}

func (ps *processes) start(pid int, argv []string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.all = append(ps.all, process.Process{Identity: process.Identity{PID: pid, Start: uint64(pid) + 1, Boot: boot}, UID: 1000, State: 'S', Args: argv})
}

func (ps *processes) exit(pid int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.all = slices.DeleteFunc(ps.all, func(p process.Process) bool { return p.PID == pid })
}

func (ps *processes) Moment() (process.Moment, error) {
	return process.Moment{Boot: boot, Tick: 1 << 40}, nil
}

func (ps *processes) Self() process.Identity {
	return process.Identity{PID: 4_000_000, Start: 1, Boot: boot}
}

func (ps *processes) Inspect(pid int) (process.Process, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p, ok := (process.Snapshot{Processes: ps.all}).Find(pid); ok || ps.fail != nil {
		return p, ps.fail
	}
	return process.Process{}, process.ErrGone
}

func (ps *processes) Snapshot(context.Context) (process.Snapshot, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	me := process.Process{Identity: ps.Self(), UID: 1000, State: 'R', Args: []string{"ccbot"}}
	return process.Snapshot{Processes: append(slices.Clone(ps.all), me)}, nil
}

func (ps *processes) Liveness(id process.Identity) process.Liveness {
	if !id.Valid() {
		return process.Unknown
	}
	if p, err := ps.Inspect(id.PID); err == nil && p.Identity == id {
		return process.Alive
	}
	return process.Gone
}

func (ps *processes) Wait(ctx context.Context, _ process.Identity) error {
	<-ctx.Done()
	return ctx.Err()
}

func (ps *processes) End(ctx context.Context, id process.Identity, prove func(process.Process) error, hangUp func(context.Context) error, _ process.Grace) (process.Outcome, error) {
	p, err := ps.Inspect(id.PID)
	if err != nil {
		return process.Outcome{How: process.HowAlreadyGone, Ended: true, Verified: true}, nil
	}
	if err := errors.Join(prove(p), hangUp(ctx)); err != nil {
		return process.Outcome{Process: p, Spared: err.Error()}, nil
	}
	ps.exit(id.PID)
	return process.Outcome{Process: p, How: process.HowHangUp, Ended: true, Verified: true}, nil
}

type presences struct{}

func (presences) Read(context.Context, int) (presence.File, error) {
	return presence.File{}, fs.ErrNotExist
}
func (presences) List(context.Context) ([]presence.File, []error) { return nil, nil }

type launches struct{ base string }

func (l launches) Write(id uuid.UUID, _ string) (string, error) {
	return filepath.Join(l.base, id.String()+".settings"), nil
}

func (launches) Remove(uuid.UUID) error { return nil }

type prompts struct{}

func (prompts) Prompt(string) (lifecycle.Prompt, error) { return lifecycle.Prompt{}, fs.ErrNotExist }
func (prompts) SavePrompt(lifecycle.Prompt) error       { return nil }
func (prompts) FinishPrompt(string) error               { return nil }
