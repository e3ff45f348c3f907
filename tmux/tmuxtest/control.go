package tmuxtest

import (
	"fmt"
	"slices"

	"ccbot/tmux"
)

// The methods here are what a test does to a Fake from the outside. They panic when the pane does
// not exist, because that is a mistake of the test.

// with does something with a pane.
func (f *Fake) with(id tmux.PaneID, do func(p *fakePane)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := f.find(id)
	if err != nil {
		panic(fmt.Sprintf("tmuxtest: %v", err))
	}
	do(p)
}

// Change changes what the fake reports about a pane: another Command, InMode, a PID of a real
// process.
func (f *Fake) Change(id tmux.PaneID, change func(*tmux.Pane)) {
	f.with(id, func(p *fakePane) {
		change(&p.Pane)
		p.proc.PID = p.PID
	})
}

// End ends the process of a pane, which stays as a dead one.
func (f *Fake) End(id tmux.PaneID, e Exit) { f.with(id, func(p *fakePane) { p.end(e) }) }

// shell is the state of a shell while a program runs in front of it.
type shell struct {
	command string
	onInput func(data string)
	draw    func() string
}

// RunInFront puts a program in front of a pane's process, like a person who types "claude" into a
// shell: the pid stays the shell's. onInput and draw are as in Process; without onInput it ignores the
// input.
func (f *Fake) RunInFront(id tmux.PaneID, command string, onInput func(data string), draw func() string) {
	f.with(id, func(p *fakePane) {
		if p.behind == nil {
			p.behind = &shell{p.Command, p.proc.OnInput, p.proc.Draw}
		}
		p.Command, p.proc.OnInput, p.proc.Draw = command, onInput, draw
	})
}

// EndInFront ends the program that RunInFront has started; the shell is in front again.
func (f *Fake) EndInFront(id tmux.PaneID) {
	f.with(id, func(p *fakePane) {
		p.Command, p.proc.OnInput, p.proc.Draw = p.behind.command, p.behind.onInput, p.behind.draw
		p.behind = nil
	})
}

// SetScreen sets what Capture gives.
func (f *Fake) SetScreen(id tmux.PaneID, screen string) {
	f.with(id, func(p *fakePane) { p.screen = screen })
}

// Inputs returns the input that reached a pane, in order.
func (f *Fake) Inputs(id tmux.PaneID) (all []Input) {
	f.with(id, func(p *fakePane) { all = slices.Clone(p.inputs) })
	return all
}

// Process returns the process of a pane with the Spec it was made with.
func (f *Fake) Process(id tmux.PaneID) (proc Process) {
	f.with(id, func(p *fakePane) { proc = *p.proc })
	return proc
}

// Split makes a second pane in the pane's window, as a person would.
func (f *Fake) Split(id tmux.PaneID) (made tmux.PaneID) {
	f.with(id, func(beside *fakePane) {
		p := f.add(tmux.Pane{
			Window: beside.Window, Session: beside.Session, WindowName: beside.WindowName, Tag: beside.Tag,
			Command: "bash", Path: beside.Path, WindowIndex: beside.WindowIndex,
		})
		panes := beside.WindowPanes + 1
		for _, q := range f.panes {
			if q.Window == p.Window {
				q.WindowPanes, q.Active = panes, q == p
			}
		}
		made = p.ID
	})
	return made
}

// AddWindow makes a window that ccbot did not make, with a session and name of choice.
func (f *Fake) AddWindow(session, name string) tmux.Pane {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.add(tmux.Pane{
		Window: f.window(), Session: session, WindowName: name, Command: "bash", Path: "/", Active: true,
		WindowPanes: 1, WindowIndex: f.freeIndex(session),
	})
	f.changed()
	return p.Pane
}

// ClosePaneByHand closes a pane as a person would, unguarded.
func (f *Fake) ClosePaneByHand(id tmux.PaneID) { f.with(id, f.remove) }

// InputOff does the same as `select-pane -d`.
func (f *Fake) InputOff(id tmux.PaneID) { f.with(id, func(p *fakePane) { p.inputOff = true }) }

// Synchronize makes what is typed into the pane go to its neighbours too.
func (f *Fake) Synchronize(id tmux.PaneID) { f.with(id, func(p *fakePane) { p.Synchronized = true }) }

// Hang makes every method fail with tmux.ErrSilent until the returned function is called.
func (f *Fake) Hang() (answers func()) {
	set := func(silent bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.silent = silent
		f.changed()
	}
	set(true)
	return func() { set(false) }
}

// HangAfter makes every method fail with tmux.ErrSilent after n more calls, until the returned
// function is called. hung reports whether a call has failed since.
func (f *Fake) HangAfter(n int) (answers func(), hung func() bool) {
	set := func(left int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.silent, f.hangs, f.left = false, left >= 0, left
		f.changed()
	}
	set(n)
	return func() { set(-1) }, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.silent
	}
}

// RemoveSocket makes every method but Ensure fail with tmux.ErrNoServer until the returned function
// is called: the server and its panes live, and nothing listens on the socket.
func (f *Fake) RemoveSocket() (found func()) {
	set := func(up bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.up = up
		f.changed()
	}
	set(false)
	return func() { set(true) }
}

// ReplaceServer makes another server, without panes, answer in place of this one until the returned
// function is called.
func (f *Fake) ReplaceServer() (found func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	server, panes := f.server, f.panes
	f.panes = nil
	f.start()
	f.changed()
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.server, f.panes = server, panes
		f.changed()
	}
}

// StopServer ends the server with all its panes; Ensure starts another one.
func (f *Fake) StopServer() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.up, f.panes, f.clients = false, nil, nil
	f.changed()
}

// Fail makes the next call of the method named op ("Paste") give err instead of doing anything.
// Several calls of Fail queue up.
func (f *Fake) Fail(op string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures[op] = append(f.failures[op], err)
}

// Calls returns the names of the called methods, in order.
func (f *Fake) Calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}
