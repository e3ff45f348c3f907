package recovery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/claude/presence"
	"ccbot/agent/witness"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// program is the process table with all that is done with it.
type program interface {
	view.Processes
	ending.Processes
}

// machine is the world at a start: real records and the real lifecycle, a fake tmux, fake
// processes.
type machine struct {
	*Recovery
	t         testing.TB
	base      string
	store     *session.Store
	service   *lifecycle.Service
	tmux      *tmuxtest.Fake
	processes *tabletest.Table
	table     program // the processes as the program sees them
	presences *presences
	now       time.Time

	log      *safeBuffer
	mu       sync.Mutex
	reported []string // the types of the news
	points   []string // failpoints that were passed
	backups  int
}

func newMachine(t testing.TB) *machine {
	m := &machine{t: t, base: t.TempDir(), tmux: tmuxtest.NewFake(), processes: tabletest.New(), presences: &presences{}, now: noon}
	m.table = m.processes
	m.tmux.Launch = func(p *tmuxtest.Process) { m.runs(p.PID, p.Spec.Argv) }
	require.NoError(t, os.MkdirAll(filepath.Join(m.base, "src"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(m.base, "claude"), []byte("#!/bin/sh\n"), 0o700))
	m.tmuxStarts()
	m.restart()
	return m
}

// tmuxStarts puts the process of the tmux server that runs into the table.
func (m *machine) tmuxStarts() {
	server, err := m.tmux.Server(context.Background())
	require.NoError(m.t, err)
	m.processes.StartAt(server.Start, server.PID, []string{"tmux"})
}

// runs starts a process that leads its own terminal.
func (m *machine) runs(pid int, argv []string) process.Identity {
	return m.processes.Start(pid, argv, func(p *process.Process) { p.TTY, p.Foreground = pid, pid })
}

// stopServer ends the tmux server and its process.
func (m *machine) stopServer() {
	server, err := m.tmux.Server(context.Background())
	require.NoError(m.t, err)
	m.processes.Exit(server.PID)
	m.tmux.StopServer()
}

// restart is another start of the program on the same disk and machine.
func (m *machine) restart() {
	m.log, m.points, m.reported = &safeBuffer{}, nil, nil
	log := slog.New(slog.NewJSONHandler(m.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	now := func() time.Time { return m.now }
	var err error
	m.store, err = session.Open(filepath.Join(m.base, "sessions"), filepath.Join(m.base, "quarantine"), now, log, nil)
	require.NoError(m.t, err)
	agents := agent.Agents{agent.Default: claude.New(m.base, agent.Launch{Command: filepath.Join(m.base, "claude")}, nil)}
	by := agents.Of("")
	by.Settings, by.Presences = launches{m.base}, m.presences
	agents[agent.Default] = by
	seen := &evidence.Sources{Instance: instance, Agents: agents, Records: m.store, Processes: m.table,
		Bindings: func() ([]hookwire.Binding, []error) { return nil, nil }, Panes: m.tmux.Panes, Log: log}
	m.service = lifecycle.New(
		lifecycle.Config{StateDir: m.base, OrphanGrace: limits.OrphanGrace},
		lifecycle.Deps{Store: m.store, News: m,
			Callbacks: &lifecycle.Callbacks{Failpoint: m.at, Came: func(ctx context.Context, w evidence.Writer) bool { return m.Came(ctx, w) }},
			Windows:   m.tmux, Ender: &ending.Ender{Processes: m.table, Panes: m.tmux, Evidence: seen, Log: log},
			Typist: typing.New(&view.Observer{Panes: m.tmux, Screens: m.tmux, Processes: m.table,
				Agents: agents, Now: now, Log: log}, m.tmux, prompts{}, launches{m.base}.HasPendingEvents)})
	m.Recovery = &Recovery{Instance: instance, Session: tmuxtest.Session, Dir: m.base, Limits: limits, Since: m.now, Store: m.store, Tmux: m.tmux,
		Processes: m.table, Evidence: seen, Lifecycle: m.service, Events: func(context.Context) error { return nil },
		Backup: m.backUp, Failpoint: m.at, Now: now, Log: log}
}

func (m *machine) at(point string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.points = append(m.points, point)
}

func (m *machine) backUp(context.Context) (string, error) {
	m.backups++
	return "2026-03-04T12-00-00.000Z", nil
}

func (m *machine) Translate(_ session.Record, n news.News) news.News { return n }

func (m *machine) View(r session.Record) port.Session {
	return port.Session{ID: r.ID, News: r.LastNews}
}

func (m *machine) SessionNews(_ context.Context, _ port.Session, n news.News) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reported = append(m.reported, fmt.Sprintf("%T", n))
	return nil
}

// recover runs a whole recovery and returns its first plan.
func (m *machine) recover() []Action {
	m.t.Helper()
	actions, _ := Plan(m.Collect(m.t.Context()))
	_, err := m.Run(m.t.Context())
	require.NoError(m.t, err)
	return actions
}

// start makes a session with a window, and puts it into a state.
func (m *machine) start(change func(r *session.Record)) session.Record {
	m.t.Helper()
	r, err := m.service.Start(m.t.Context(), port.Start{Dir: filepath.Join(m.base, "src")})
	require.NoError(m.t, err)
	return m.change(r.ID, change)
}

func (m *machine) change(id uuid.UUID, change func(r *session.Record)) session.Record {
	m.t.Helper()
	require.NoError(m.t, m.store.Do(m.t.Context(), id, func(r *session.Record, save func() error) error {
		change(r)
		return save()
	}))
	return m.get(id)
}

func (m *machine) get(id uuid.UUID) session.Record {
	m.t.Helper()
	r, err := m.store.Whole(id)
	require.NoError(m.t, err)
	return r
}

// onDisk are the files of all records.
func (m *machine) onDisk() map[string]string {
	m.t.Helper()
	names, err := filepath.Glob(filepath.Join(m.base, "sessions", "*.json"))
	require.NoError(m.t, err)
	files := make(map[string]string)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(m.t, err)
		files[name] = string(data)
	}
	return files
}

func (m *machine) paneOf(r session.Record) tmux.PaneID {
	id, err := tmux.ParsePaneID(r.Binding.Pane)
	require.NoError(m.t, err)
	return id
}

// lose ends a session's agent and takes its pane away.
func (m *machine) lose(r session.Record) {
	m.processes.Exit(r.Binding.Agent.PID)
	m.tmux.ClosePaneByHand(m.paneOf(r))
}

// closeTagged takes the windows of a session away that no record is bound to.
func (m *machine) closeTagged(r session.Record) {
	for _, p := range m.tagged(r) {
		m.processes.Exit(p.PID)
		m.tmux.ClosePaneByHand(p.ID)
	}
}

// tagged returns the panes of a session's windows.
func (m *machine) tagged(r session.Record) []tmux.Pane {
	panes, err := m.tmux.Panes(m.t.Context())
	require.NoError(m.t, err)
	return slices.DeleteFunc(panes, func(p tmux.Pane) bool { return p.Tag != tagOf(r) })
}

// inTerminal makes a person continue a conversation in a window outside of ccbot.
func (m *machine) inTerminal(claude uuid.UUID) process.Identity {
	p := m.tmux.AddWindow("desk", "notes")
	id := m.runs(p.PID, []string{"claude", "--resume", claude.String()})
	m.presences.put(id, claude)
	return id
}

// lines returns the log lines with this message.
func (m *machine) lines(message string) (found []map[string]any) {
	for line := range bytes.Lines(m.log.bytes()) {
		var attrs map[string]any
		require.NoError(m.t, json.Unmarshal(line, &attrs))
		if attrs["msg"] == message {
			found = append(found, attrs)
		}
	}
	return found
}

// changes are the calls to tmux that do something.
func (m *machine) changes() []string {
	return slices.DeleteFunc(m.tmux.Calls(), func(op string) bool {
		return slices.Contains([]string{"Server", "Answers", "Panes", "Pane", "Capture", "Ensure", "Environment"}, op)
	})
}

// rules are the rules of a session's history, in order.
func rules(r session.Record) (found []session.Rule) {
	for _, c := range r.History {
		found = append(found, c.Rule)
	}
	return found
}

func running(r *session.Record)  { r.State = session.Running }
func unbound(r *session.Record)  { r.Binding = nil }
func stopping(r *session.Record) { r.State, r.Final = session.Stopping, session.Completed }

// ---- the rest of the machine

type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes())
}

// presences are Claude Code's own files.
type presences struct {
	witness.Presences // not watched

	mu    sync.Mutex
	files []presence.File
	fail  error // of List
	torn  int   // pid whose file cannot be read
}

func (ps *presences) put(id process.Identity, claude uuid.UUID) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.files = append(ps.files, presence.File{PID: id.PID, ProcStart: id.Start, SessionID: claude, Status: presence.Idle})
}

func (ps *presences) Read(_ context.Context, pid int) (presence.File, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if pid == ps.torn {
		return presence.File{}, presence.ErrTorn
	}
	i := slices.IndexFunc(ps.files, func(f presence.File) bool { return f.PID == pid })
	if i < 0 {
		return presence.File{}, fs.ErrNotExist
	}
	return ps.files[i], nil
}

func (ps *presences) List(context.Context) ([]presence.File, map[int]error, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.Clone(ps.files), nil, ps.fail
}

type launches struct{ base string }

func (l launches) Write(id uuid.UUID, _ string, _ func([]string) (map[string]string, error)) (path, hook string, err error) {
	return filepath.Join(l.base, id.String()+".settings"), "digest of the hook", nil
}

func (launches) Remove(uuid.UUID) error { return nil }

func (launches) HasPendingEvents(uuid.UUID) (bool, error) { return false, nil }

// prompts is a store with nothing in it.
type prompts struct{}

func (prompts) Prompt(string) (typing.Prompt, error) { return typing.Prompt{}, fs.ErrNotExist }
func (prompts) SavePrompt(typing.Prompt) error       { return nil }
func (prompts) Accept(talk.Offer, uuid.UUID) (typing.Prompt, error) {
	return typing.Prompt{}, fs.ErrNotExist
}
func (prompts) FinishPrompt(string) error          { return nil }
func (prompts) TakeBack(string, int64, bool) error { return nil }
func (prompts) Withdraw(string, int64) error       { return nil }
func (prompts) Reword(string, int64, string, talk.PromptClass) error {
	return fs.ErrNotExist
}
func (prompts) MovePrompt(string, uuid.UUID) error { return fs.ErrNotExist }

var errDisk = errors.New("no space left on device")
