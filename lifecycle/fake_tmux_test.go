package lifecycle

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/agent/claude/claudeflags"
	"ccbot/agent/claude/presence"
	"ccbot/agent/witness"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// fakeDesk is the fake tmux with agents in its panes, ours and those that people run
// by hand.
type fakeDesk struct {
	*tmuxtest.Fake
	order     *order
	processes *tabletest.Table
	mu        sync.Mutex
	agents    map[tmux.PaneID]*agent
	nextPID   int // of what people start
	onLaunch  func(a *agent, p *tmuxtest.Process)
	closing   error // of ClosePane
}

func newDesk(o *order, ps *tabletest.Table) *fakeDesk {
	d := &fakeDesk{Fake: tmuxtest.NewFake(), order: o, processes: ps, agents: map[tmux.PaneID]*agent{},
		nextPID: 6_000_000}
	server, err := d.Fake.Server(context.Background())
	if err != nil {
		panic(err)
	}
	ps.StartAt(server.Start, server.PID, []string{"tmux", "new-session"}, func(p *process.Process) { p.Comm = "tmux: server" })
	d.Fake.Launch = func(p *tmuxtest.Process) {
		a := &agent{pane: p.Pane, status: presence.Idle}
		a.session = sessionOf(p.Spec.Argv)
		a.id = ps.StartNow(p.PID, p.Spec.Argv, tabletest.Below(server.PID), inTerminal(p.PID, p.PID))
		p.OnInput, p.Draw = a.input, a.screen
		d.mu.Lock()
		defer d.mu.Unlock()
		d.agents[p.Pane] = a
		if d.onLaunch != nil {
			d.onLaunch(a, p)
		}
	}
	return d
}

// StopServer ends the server and its process.
func (d *fakeDesk) StopServer() {
	server, err := d.Fake.Server(context.Background())
	if err != nil {
		panic(err)
	}
	d.processes.Exit(server.PID)
	d.Fake.StopServer()
}

// inTerminal puts a process into a terminal with a separate foreground group.
func inTerminal(tty, sid int) func(*process.Process) {
	return func(p *process.Process) { p.TTY, p.SID, p.PGID, p.Foreground = tty, sid, p.PID, p.PID }
}

// hand is a claude that a person runs in a shell in a separate window.
type hand struct {
	*agent
	shell process.Identity
}

// byHand opens a person's window with a shell and runs a command there.
func (d *fakeDesk) byHand(argv ...string) hand {
	return d.inShell(d.Fake.AddWindow("work", "mine").ID, argv...)
}

// inShell runs a person's command in the shell of a pane.
func (d *fakeDesk) inShell(pane tmux.PaneID, argv ...string) hand {
	d.nextPID++
	pid, tty := d.nextPID, d.Fake.Process(pane).PID
	d.Fake.SetScreen(pane, "$ \n")
	shell := d.processes.StartNow(tty, []string{"bash"}, inTerminal(tty, tty), func(p *process.Process) { p.Foreground = pid })
	a := &agent{pane: pane, status: presence.Idle}
	a.session = sessionOf(argv)
	a.id = d.processes.StartNow(pid, argv, tabletest.Below(shell.PID), inTerminal(tty, shell.PID))
	d.Fake.RunInFront(pane, "claude", a.input, a.screen)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.agents[pane] = a
	return hand{agent: a, shell: shell}
}

// sessionOf returns the conversation that a command line names first, uuid.Nil if it names none.
func sessionOf(argv []string) uuid.UUID {
	if ids := claudeflags.Sessions(argv); len(ids) > 0 {
		return ids[0]
	}
	return uuid.Nil
}

// inOwnWindow opens a person's window with a command as its only process.
func (d *fakeDesk) inOwnWindow(argv ...string) *agent {
	window := d.Fake.AddWindow("work", "mine")
	a := &agent{pane: window.ID, status: presence.Idle}
	a.session = sessionOf(argv)
	a.id = d.processes.StartNow(window.PID, argv, inTerminal(window.PID, window.PID))
	d.Fake.RunInFront(window.ID, "claude", a.input, a.screen)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.agents[window.ID] = a
	return a
}

// suspend does what Ctrl-Z does.
func (d *fakeDesk) suspend(h hand) {
	d.processes.Change(h.id.PID, func(p *process.Process) { p.State, p.Foreground = 'T', h.shell.PID })
	d.shellInFront(h)
}

// quit ends the claude; the shell stays.
func (d *fakeDesk) quit(h hand) {
	d.shellInFront(h)
	d.processes.Exit(h.id.PID)
}

func (d *fakeDesk) shellInFront(h hand) {
	d.processes.Change(h.shell.PID, func(p *process.Process) { p.Foreground = h.shell.PID })
	d.Fake.EndInFront(h.pane)
}

func (d *fakeDesk) agentOf(r session.Record) *agent {
	id, err := tmux.ParsePaneID(r.Binding.Pane)
	if err != nil {
		panic(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.agents[id]
}

func (d *fakeDesk) byPID(pid int) *agent {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.agents {
		if a.id.PID == pid {
			return a
		}
	}
	return nil
}

// byWriter returns the agent whose conversation a process writes.
func (d *fakeDesk) byWriter(pid int) *agent {
	for _, a := range d.all() {
		if a.writer().PID == pid {
			return a
		}
	}
	return nil
}

func (d *fakeDesk) all() []*agent {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.agents))
}

func (d *fakeDesk) NewWindow(ctx context.Context, s tmux.Spec) (tmux.Pane, error) {
	d.order.add("new-window")
	return d.Fake.NewWindow(ctx, s)
}

func (d *fakeDesk) Paste(ctx context.Context, g tmux.Guard, text string) error {
	d.order.add("paste %s", text)
	return d.Fake.Paste(ctx, g, text)
}

func (d *fakeDesk) Enter(ctx context.Context, g tmux.Guard) error {
	d.order.add("enter")
	return d.Fake.Enter(ctx, g)
}

func (d *fakeDesk) Press(ctx context.Context, g tmux.Guard, k tmux.Key) error {
	d.order.add("press %s", k)
	return d.Fake.Press(ctx, g, k)
}

func (d *fakeDesk) ClosePane(ctx context.Context, g tmux.Guard) error {
	d.order.add("close %s", g.Pane)
	d.mu.Lock()
	closing := d.closing
	d.mu.Unlock()
	if closing != nil {
		return closing
	}
	return d.Fake.ClosePane(ctx, g)
}

// refuseToClose makes panes stay.
func (d *fakeDesk) refuseToClose(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closing = err
}

// die ends an agent by itself, leaving its dead pane.
func (d *fakeDesk) die(a *agent, e tmuxtest.Exit) {
	d.Fake.End(a.pane, e)
	d.processes.Exit(a.id.PID)
}

func (d *fakeDesk) windows() (names []string) {
	panes, _ := d.Fake.Panes(context.Background())
	for _, p := range panes {
		if p.WindowName != "__main__" {
			names = append(names, p.WindowName)
		}
	}
	return names
}

// presences is the folder of presence files: one of every agent in a pane, and
// what a test adds.
type presences struct {
	witness.Presences // not watched

	desk *fakeDesk
	mu   sync.Mutex
	more []presence.File // of other processes, or another session of an agent
	err  error           // of the folder
}

// claim sets the presence files in addition to those of the agents in panes.
func (p *presences) claim(more ...presence.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.more = more
}

// fail makes the folder unreadable.
func (p *presences) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

func (p *presences) added() ([]presence.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.more), p.err
}

func (p *presences) Read(_ context.Context, pid int) (presence.File, error) {
	more, _ := p.added()
	i := slices.IndexFunc(more, func(f presence.File) bool { return f.PID == pid })
	a := p.desk.byWriter(pid)
	switch {
	case a == nil && i >= 0:
		return more[i], nil
	case a == nil:
		return presence.File{}, fs.ErrNotExist
	}
	f, err := a.file()
	if err == nil && i >= 0 {
		f.SessionID = more[i].SessionID
	}
	return f, err
}

func (p *presences) List(ctx context.Context) (files []presence.File, unread map[int]error, err error) {
	more, folder := p.added()
	unread = make(map[int]error)
	for _, f := range more {
		if p.desk.byWriter(f.PID) == nil {
			files = append(files, f)
		}
	}
	for _, a := range p.desk.all() {
		if !p.desk.processes.Alive(a.writer()) {
			continue
		}
		f, err := p.Read(ctx, a.writer().PID)
		if err == nil {
			files = append(files, f)
		} else if !errors.Is(err, fs.ErrNotExist) {
			unread[a.writer().PID] = err
		}
	}
	return files, unread, folder
}

// file is the agent's presence file.
func (a *agent) file() (presence.File, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.unreadable != nil:
		return presence.File{}, a.unreadable
	case a.silent:
		return presence.File{}, fs.ErrNotExist
	}
	who := a.writer()
	start := who.Start
	if a.strange {
		start--
	}
	f := presence.File{PID: who.PID, ProcStart: start, SessionID: a.session, Dir: a.dir, Status: a.status, UpdatedAt: a.since}
	return presence.WaitsFor(f, a.waitingFor), nil
}

// bindings are the records of hooks.
type bindings struct {
	mu     sync.Mutex
	all    []hookwire.Binding
	errs   []error
	onRead func()
}

// claim sets the records of a process's hooks.
func (b *bindings) claim(who process.Identity, id uuid.UUID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, hookwire.Binding{PID: who.PID, Start: who.Start, Boot: who.Boot, SessionID: id.String()})
}

func (b *bindings) set(change func(b *bindings)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

func (b *bindings) read() ([]hookwire.Binding, []error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.onRead != nil {
		b.onRead()
	}
	return slices.Clone(b.all), slices.Clone(b.errs)
}

// called returns how often a method of the fake was called.
func (d *fakeDesk) called(op string) (n int) {
	for _, one := range d.Calls() {
		if one == op {
			n++
		}
	}
	return n
}

// looks returns how often the attached terminals were read.
func (d *fakeDesk) looks() int { return d.called("Viewers") }
