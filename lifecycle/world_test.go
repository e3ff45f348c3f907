package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/claudeui"
	"ccbot/internal/hookwire"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

const boot = "8d6c7a52-0000-4000-8000-000000000001"

// world is a Service with everything around it in memory, but for the records,
// the program file and transcripts, which are real files.
type world struct {
	*Service
	t         *testing.T
	ctx       context.Context
	base      string
	tmux      *desk
	processes *processes
	presences *presences
	prompts   *prompts
	news      *news
	order     *order
	stop      func() // ends the Service that runs
}

// order is what happened, across all parts, one word each.
type order struct {
	mu   sync.Mutex
	what []string
}

func (o *order) add(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.what = append(o.what, fmt.Sprintf(format, args...))
}

func (o *order) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.what)
}

// after gives what happened from the first word on.
func (o *order) after(word string) []string {
	all := o.all()
	return all[max(0, slices.Index(all, word)):]
}

// inWorld runs a test in a bubble in which time passes only when all wait. The
// Service runs.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	base := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, base)
		w.run()
		test(t, w)
	})
}

func newWorld(t *testing.T, base string) *world {
	w := &world{t: t, base: base, order: &order{}, ctx: t.Context()}
	w.processes = newProcesses(w.order)
	w.tmux = newDesk(w.order, w.processes)
	w.presences = &presences{desk: w.tmux}
	w.prompts = &prompts{all: map[string]Prompt{}, order: w.order}
	w.news = &news{order: w.order}
	for _, dir := range []string{"src", "state", "projects/-src"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, dir), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(base, "claude"), []byte("#!/bin/sh\n"), 0o700))
	w.restart()
	return w
}

// restart makes a new Service over the same disk and the same machine; it does
// not run yet.
func (w *world) restart() {
	if w.stop != nil {
		w.stop()
	}
	log := slog.New(slog.DiscardHandler)
	store, err := session.Open(filepath.Join(w.base, "state", "sessions"), filepath.Join(w.base, "state", "quarantine"), time.Now, log)
	require.NoError(w.t, err)
	w.Service = New(
		Config{Instance: "4f0c", Host: "here", StateDir: filepath.Join(w.base, "state"), Command: filepath.Join(w.base, "claude"),
			Env: map[string]string{"HOME": "/home/u"}, Unset: []string{"CLAUDECODE"},
			ProjectsDir: filepath.Join(w.base, "projects"), KillGrace: 12 * time.Second},
		Deps{Store: store, Tmux: w.tmux, Processes: w.processes, Presences: w.presences, Launches: launches{w.base},
			Prompts: w.prompts, News: w.news, Bindings: func() ([]hookwire.Binding, []error) { return nil, nil },
			Now: time.Now, Log: log, Failpoint: func(name string) { w.order.add("at %s", name) }})
}

// run lets the Service run until the test ends or a restart.
func (w *world) run() {
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	s := w.Service
	go func() { defer close(done); _ = s.Run(ctx) }()
	w.stop = sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(w.stop)
}

// pass lets time go by, and everything come to rest.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) get(id uuid.UUID) session.Record {
	w.t.Helper()
	r, ok := w.Store.Get(id)
	require.True(w.t, ok, "no record %s", id)
	return r
}

func (w *world) request() StartRequest {
	return StartRequest{Dir: filepath.Join(w.base, "src"), Owner: 7, Conversation: session.Conversation{ChatID: 7}}
}

// started starts a session and waits until it runs.
func (w *world) started() (session.Record, *agent) {
	w.t.Helper()
	r, a := w.starting()
	w.report(r)
	w.pass(time.Second)
	r = w.get(r.ID)
	require.Equal(w.t, session.Running, r.State)
	return r, a
}

func (w *world) starting() (session.Record, *agent) {
	w.t.Helper()
	r, err := w.Start(w.ctx, w.request())
	require.NoError(w.t, err)
	return r, w.tmux.agentOf(r)
}

// hook gives an event of the bound agent.
func (w *world) hook(r session.Record, name string, change ...func(*hookwire.Event)) {
	w.t.Helper()
	require.NoError(w.t, w.HookEvent(w.ctx, w.event(r, name, change...)))
	synctest.Wait()
}

func (w *world) event(r session.Record, name string, change ...func(*hookwire.Event)) hookwire.Event {
	now := w.get(r.ID)
	e := hookwire.Event{Version: 1, Name: name, Received: time.Now().Add(time.Millisecond), Launch: r.ID.String(),
		SessionID: now.ClaudeSessionID.String(), TranscriptPath: w.transcript(now.ClaudeSessionID)}
	if b := r.Binding; b != nil {
		e.ClaudePID, e.ClaudeStart, e.Boot = b.Agent.PID, b.Agent.Start, b.Agent.Boot
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

func (w *world) report(r session.Record) {
	w.t.Helper()
	w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "startup" })
}

func prompted(text string) func(*hookwire.Event) {
	return func(e *hookwire.Event) { e.Prompt = text }
}

func (w *world) transcript(id uuid.UUID) string {
	return filepath.Join(w.base, "projects", "-src", id.String()+".jsonl")
}

// write adds a line to the session's transcript.
func (w *world) write(r session.Record, line string) {
	w.t.Helper()
	f, err := os.OpenFile(w.transcript(r.ClaudeSessionID), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	_, err = f.WriteString(line + "\n")
	require.NoError(w.t, errors.Join(err, f.Close()))
}

func userLine(text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"timestamp":"2026-03-04T12:00:00Z","message":{"role":"user","content":%q}}`, uuid.NewString(), text)
}

// held puts a prompt on disk and into the session's queue.
func (w *world) held(r session.Record, key, text string) {
	w.t.Helper()
	typed, class, ok := Normalise(text)
	require.True(w.t, ok)
	w.prompts.put(Prompt{Key: key, Text: typed, Class: class, State: Held})
	require.NoError(w.t, w.Queue(w.ctx, r.ID, key))
}

// ---- what runs in a pane

// agent is a scripted Claude Code. Its fields are changed with set.
type agent struct {
	mu         sync.Mutex
	id         process.Identity
	pane       tmux.PaneID
	box        string
	shell      bool // bash mode: "!" stands where the prompt sign stood
	status     presence.Status
	waitingFor string
	dialog     bool
	hidden     bool // its screen shows nothing that is known
	silent     bool // it writes no presence file
	unreadable error
	deaf       bool // it does not take Enter
	slow       bool // it draws nothing of what is typed
	onPaste    func(a *agent)
	onEnter    func(a *agent)

	said     []string // what was submitted
	chosen   int      // how often Enter went into a dialog
	strayed  string   // text that went into a dialog
	escapes  int
	stubborn bool
}

func (a *agent) set(change func(a *agent)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

func (a *agent) heard() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.said)
}

func (a *agent) input(data string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case data == "\r" && a.dialog:
		a.chosen++
	case data == "\r" && a.deaf:
	case data == "\r":
		a.said, a.box, a.shell = append(a.said, a.box), "", false
		if a.onEnter != nil {
			a.onEnter(a)
		}
	case data == "\x15":
		a.box = ""
	case data == "\x1b":
		a.escapes++
	case a.dialog:
		a.strayed += data
	default:
		if rest, ok := strings.CutPrefix(data, "!"); ok && a.box == "" {
			a.shell, data = true, rest
		}
		a.box += data
		if a.onPaste != nil {
			a.onPaste(a)
		}
	}
}

func (a *agent) screen() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	rule := strings.Repeat("─", 60)
	if a.hidden {
		return "something else\n"
	}
	if a.dialog {
		return "● Running Bash.\n\n" + rule + "\n Bash command\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n"
	}
	footer := "  ⏸ manual mode on · ? for shortcuts"
	if a.status == presence.Busy {
		footer = "  ⏸ manual mode on · esc to interrupt"
	}
	box := a.box
	if a.slow {
		box = ""
	}
	sign := "❯"
	if a.shell {
		sign = "!"
	}
	return "● hello\n\n" + rule + "\n" + sign + "\u00a0" + strings.ReplaceAll(box, "\n", "\n  ") + "\n" + rule + "\n" + footer + "\n"
}

// TestTheAgentLooksReal holds the stand-in to what the reader of screens sees.
func TestTheAgentLooksReal(t *testing.T) {
	a := &agent{status: presence.Idle}
	assert.True(t, claudeui.Read(a.screen()).ReadyToType())
	a.input("one\ntwo")
	s := claudeui.Read(a.screen())
	assert.True(t, s.Box.Present && !s.Box.Empty && s.Box.Holds("one\ntwo"), "%+v", s.Box)
	a.status = presence.Busy
	assert.True(t, claudeui.Read(a.screen()).Busy)
	a.dialog = true
	s = claudeui.Read(a.screen())
	require.NotNil(t, s.Dialog)
	assert.False(t, s.Box.Present)
	assert.Equal(t, []string{"Yes", "No"}, s.Dialog.Options)
	a = &agent{hidden: true}
	s = claudeui.Read(a.screen())
	assert.False(t, s.Box.Present || s.Dialog != nil)
	a = &agent{}
	a.input("!ls")
	s = claudeui.Read(a.screen())
	assert.True(t, s.Box.Bash && s.Box.Text == "ls")
}

// ---- tmux

// desk is the fake tmux with agents in its panes.
type desk struct {
	*tmuxtest.Fake
	order     *order
	processes *processes
	mu        sync.Mutex
	agents    map[tmux.PaneID]*agent
	onLaunch  func(a *agent, p *tmuxtest.Process)
}

func newDesk(o *order, ps *processes) *desk {
	d := &desk{Fake: tmuxtest.NewFake(), order: o, processes: ps, agents: map[tmux.PaneID]*agent{}}
	d.Fake.Launch = func(p *tmuxtest.Process) {
		a := &agent{pane: p.Pane, status: presence.Idle}
		a.id = ps.start(p.PID, p.Spec.Argv)
		p.OnInput = a.input
		d.mu.Lock()
		defer d.mu.Unlock()
		d.agents[p.Pane] = a
		if d.onLaunch != nil {
			d.onLaunch(a, p)
		}
	}
	return d
}

func (d *desk) agentOf(r session.Record) *agent {
	id, err := tmux.ParsePaneID(r.Binding.Pane)
	if err != nil {
		panic(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.agents[id]
}

func (d *desk) byPID(pid int) *agent {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.agents {
		if a.id.PID == pid {
			return a
		}
	}
	return nil
}

func (d *desk) NewWindow(ctx context.Context, s tmux.Spec) (tmux.Pane, error) {
	d.order.add("new-window")
	return d.Fake.NewWindow(ctx, s)
}

func (d *desk) Paste(ctx context.Context, g tmux.Guard, text string) error {
	d.order.add("paste %s", text)
	return d.Fake.Paste(ctx, g, text)
}

func (d *desk) Enter(ctx context.Context, g tmux.Guard) error {
	d.order.add("enter")
	return d.Fake.Enter(ctx, g)
}

func (d *desk) Capture(ctx context.Context, id tmux.PaneID, lines int) (string, error) {
	text, err := d.Fake.Capture(ctx, id, lines)
	d.mu.Lock()
	a := d.agents[id]
	d.mu.Unlock()
	if err != nil || a == nil {
		return text, err
	}
	return a.screen(), nil
}

func (d *desk) ClosePane(ctx context.Context, g tmux.Guard) error {
	d.order.add("close %s", g.Pane)
	err := d.Fake.ClosePane(ctx, g)
	if a := d.byPID(g.PID); err == nil && a != nil && !a.stubborn {
		d.processes.exit(g.PID)
	}
	return err
}

// die ends an agent by itself, leaving its dead pane.
func (d *desk) die(a *agent, e tmuxtest.Exit) {
	d.Fake.End(a.pane, e)
	d.processes.exit(a.id.PID)
}

func (d *desk) windows() (names []string) {
	panes, _ := d.Fake.Panes(context.Background())
	for _, p := range panes {
		if p.WindowName != "__main__" {
			names = append(names, p.WindowName)
		}
	}
	return names
}

// ---- processes

const me = 4_000_000

type processes struct {
	order *order

	mu       sync.Mutex
	all      []process.Process
	gone     map[process.Identity]chan struct{}
	liveness func(process.Identity) process.Liveness // overrules
	failing  error                                   // of Snapshot
	survive  map[int]bool
	how      process.How
	ended    []process.Identity
}

func newProcesses(o *order) *processes {
	ps := &processes{order: o, gone: map[process.Identity]chan struct{}{}, survive: map[int]bool{}, how: process.HowHangUp}
	ps.start(me, []string{"ccbot", "run"})
	return ps
}

func (ps *processes) start(pid int, argv []string) process.Identity {
	return ps.add(process.Process{Identity: process.Identity{PID: pid, Start: uint64(pid) + 1, Boot: boot}, PPID: 1, UID: 1000,
		State: 'S', Comm: filepath.Base(argv[0]), Args: argv})
}

func (ps *processes) add(p process.Process) process.Identity {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.all = append(ps.all, p)
	ps.gone[p.Identity] = make(chan struct{})
	return p.Identity
}

func (ps *processes) exit(pid int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.all = slices.DeleteFunc(ps.all, func(p process.Process) bool {
		if p.PID == pid {
			close(ps.gone[p.Identity])
		}
		return p.PID == pid
	})
}

func (ps *processes) set(change func(ps *processes)) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	change(ps)
}

func (ps *processes) signalled() []process.Identity {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.Clone(ps.ended)
}

func (ps *processes) Self() process.Identity {
	return process.Identity{PID: me, Start: me + 1, Boot: boot}
}

func (ps *processes) Inspect(pid int) (process.Process, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p, ok := (process.Snapshot{Processes: ps.all}).Find(pid); ok {
		return p, nil
	}
	return process.Process{}, process.ErrGone
}

func (ps *processes) Snapshot(context.Context) (process.Snapshot, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return process.Snapshot{Processes: slices.Clone(ps.all)}, ps.failing
}

func (ps *processes) Liveness(id process.Identity) process.Liveness {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.liveness != nil {
		return ps.liveness(id)
	}
	if !id.Valid() {
		return process.Unknown
	}
	if slices.ContainsFunc(ps.all, func(p process.Process) bool { return p.Identity == id }) {
		return process.Alive
	}
	return process.Gone
}

func (ps *processes) Wait(ctx context.Context, id process.Identity) error {
	ps.mu.Lock()
	gone, ok := ps.gone[id]
	ps.mu.Unlock()
	if !ok {
		return nil
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (ps *processes) End(ctx context.Context, id process.Identity, prove func(process.Process) error, hangUp func(context.Context) error, _ process.Grace) (process.Outcome, error) {
	p, err := ps.Inspect(id.PID)
	if err != nil || p.Identity != id {
		return process.Outcome{Process: process.Process{Identity: id}, How: process.HowAlreadyGone, Ended: true, Verified: true}, nil
	}
	out := process.Outcome{Process: p}
	if err := prove(p); err != nil {
		out.Spared = "not proven: " + err.Error()
		return out, nil
	}
	ps.order.add("end %d", id.PID)
	ps.set(func(ps *processes) { ps.ended = append(ps.ended, id); out.How = ps.how })
	if hangUp != nil {
		if err := hangUp(ctx); err != nil {
			return out, err
		}
	}
	ps.mu.Lock()
	survives := ps.survive[id.PID]
	ps.mu.Unlock()
	if survives {
		return out, process.ErrSurvived
	}
	ps.exit(id.PID)
	out.Ended, out.Verified = true, true
	return out, nil
}

// ---- presence, launches, prompts, news

type presences struct {
	desk *desk
	more []presence.File // of processes that are not in a pane
	errs []error
}

func (p *presences) Read(_ context.Context, pid int) (presence.File, error) {
	a := p.desk.byPID(pid)
	if a == nil {
		return presence.File{}, fs.ErrNotExist
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.unreadable != nil:
		return presence.File{}, a.unreadable
	case a.silent:
		return presence.File{}, fs.ErrNotExist
	}
	return presence.File{PID: pid, ProcStart: a.id.Start, Status: a.status, WaitingFor: a.waitingFor}, nil
}

// List gives only what a test added: the session of a scripted agent is on its
// command line.
func (p *presences) List(context.Context) ([]presence.File, []error) { return p.more, p.errs }

type launches struct{ base string }

func (l launches) Write(id uuid.UUID) (string, error) {
	path := filepath.Join(l.base, id.String()+".settings")
	return path, os.WriteFile(path, []byte("{}"), 0o600)
}

func (l launches) Remove(id uuid.UUID) error {
	return os.RemoveAll(filepath.Join(l.base, id.String()+".settings"))
}

type prompts struct {
	order *order
	mu    sync.Mutex
	all   map[string]Prompt
	saved []Prompt
	fail  error // of SavePrompt
}

func (p *prompts) put(q Prompt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[q.Key] = q
}

func (p *prompts) Prompt(key string) (Prompt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.all[key]
	if !ok {
		return Prompt{}, fs.ErrNotExist
	}
	if q.Mark != nil {
		mark := *q.Mark
		q.Mark = &mark
	}
	return q, nil
}

func (p *prompts) SavePrompt(q Prompt) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		return p.fail
	}
	if q.Mark != nil {
		mark := *q.Mark
		q.Mark = &mark
	}
	p.all[q.Key] = q
	p.saved = append(p.saved, q)
	p.order.add("save %s %s", q.Key, q.State)
	return nil
}

func (p *prompts) FinishPrompt(key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, key)
	p.order.add("finish %s", key)
	return nil
}

func (p *prompts) state(key string) PromptState {
	q, err := p.Prompt(key)
	if err != nil {
		return "finished"
	}
	return q.State
}

type news struct {
	order *order
	mu    sync.Mutex
	notes []Note
	fail  func(Note) error
}

func (n *news) SessionNews(_ context.Context, note Note) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil {
		if err := n.fail(note); err != nil {
			return err
		}
	}
	n.notes = append(n.notes, note)
	n.order.add("tell %s", note.Kind)
	return nil
}

// told counts the notes of one kind.
func (n *news) told(kind NoteKind) (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, note := range n.notes {
		if note.Kind == kind {
			count++
		}
	}
	return count
}

func (n *news) last(kind NoteKind) (last Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, note := range n.notes {
		if note.Kind == kind {
			last = note
		}
	}
	return last
}
