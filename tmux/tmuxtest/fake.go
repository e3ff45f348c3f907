package tmuxtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ccbot/internal/pause"
	"ccbot/tmux"
)

// The pids of fake processes begin above the largest pid of the kernel, so that none is ever a real
// one.
const firstPID = 5_000_000

// Session is the session that a Fake's windows are in.
const Session = "ccbot"

// Launch is the program of a fake pane; it is called when the window is made and may set OnInput.
type Launch func(p *Process)

// Process is the process of a fake pane.
type Process struct {
	Pane tmux.PaneID
	PID  int
	Spec tmux.Spec
	// Env is the environment of the process: the fake's own, with Spec's additions and removals.
	Env map[string]string
	// OnInput gets the input of the terminal: the bytes of a paste (not bracketed), "\r", the bytes
	// of a key. It runs under the fake's lock and must not call the fake.
	OnInput func(data string)
	// Draw, if set, returns what the process shows, instead of the text of SetScreen. It must not
	// call the fake either.
	Draw func() string
	// Exit, when set by Launch, ends the process at once.
	Exit *Exit
	// Screen, when set by Launch, is the first screen that Capture returns.
	Screen string
}

// Exit is the end of a process.
type Exit struct{ Status, Signal int }

// Input is one thing that reached a pane: a pasted text, or a key ("Enter" too).
type Input struct {
	Paste string
	Key   string
}

// Fake is a tmux server with its client, in memory. Every method is safe for concurrent use.
type Fake struct {
	// Launch runs for every new window; nil is a process that lives and ignores its input. Set
	// before use.
	Launch Launch
	// Env is the environment of the fake server. Set before use.
	Env map[string]string

	mu       sync.Mutex
	up       bool
	silent   bool // Hang
	hangs    bool // HangAfter
	left     int  // calls until then
	server   tmux.ServerID
	panes    []*fakePane
	clients  []*fakeClient
	nextPane int
	nextWin  int
	nextPID  int
	nextTTY  int
	failures map[string][]error
	calls    []string
	onChange []func()
	notify   chan struct{}
}

type fakePane struct {
	tmux.Pane
	proc     *Process
	screen   string
	inputs   []Input
	inputOff bool
	behind   *shell // set while a program runs in front of the pane's own
}

// NewFake returns a fake with a running server and its session.
func NewFake() *Fake {
	f := &Fake{notify: make(chan struct{}, 1), failures: make(map[string][]error), nextPID: firstPID}
	f.start()
	return f
}

func (f *Fake) start() {
	f.up = true
	f.nextPane, f.nextWin = 0, 0 // ids begin again, as they do in a new server
	f.nextPID++
	f.server = tmux.ServerID{Socket: "/fake/tmux", PID: f.nextPID, Start: uint64(f.nextPID)}
	f.add(tmux.Pane{Window: f.window(), Session: Session, WindowName: "__main__", Command: "sleep", Path: "/", Active: true, WindowPanes: 1})
}

// add adds a pane with a new id and a process.
func (f *Fake) add(p tmux.Pane) *fakePane {
	p.ID, _ = tmux.ParsePaneID(fmt.Sprintf("%%%d", f.nextPane))
	f.nextPane++
	f.nextPID++
	p.PID, p.Width, p.Height = f.nextPID, 120, 40
	pane := &fakePane{Pane: p, proc: &Process{Pane: p.ID, PID: p.PID}}
	f.panes = append(f.panes, pane)
	return pane
}

// freeIndex is the first number that no window of the session has.
func (f *Fake) freeIndex(session string) int {
	for i := 0; ; i++ {
		taken := func(p *fakePane) bool { return p.Session == session && p.WindowIndex == i }
		if !slices.ContainsFunc(f.panes, taken) {
			return i
		}
	}
}

func (f *Fake) window() tmux.WindowID {
	id, _ := tmux.ParseWindowID(fmt.Sprintf("@%d", f.nextWin))
	f.nextWin++
	return id
}

// do runs one operation alone. It notes the call, and returns the error that a test has asked for,
// or ErrNoServer, in place of the operation.
func (f *Fake) do(ctx context.Context, op string, operation func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, op)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("tmux %s: %w: %w", op, tmux.ErrNotSent, err)
	}
	if f.hangs {
		f.silent = f.left <= 0
		f.left--
	}
	if f.silent {
		return fmt.Errorf("tmux %s: %w: %w", op, tmux.ErrNotSent, tmux.ErrSilent)
	}
	if queue := f.failures[op]; len(queue) > 0 {
		f.failures[op] = queue[1:]
		return fmt.Errorf("tmux %s: %w", op, queue[0])
	}
	if !f.up && op != "Ensure" {
		return fmt.Errorf("tmux %s: %w", op, tmux.ErrNoServer)
	}
	return operation()
}

// Run tells the OnChange functions until ctx ends.
func (f *Fake) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.notify:
		}
		f.mu.Lock()
		reported := slices.Clone(f.onChange)
		f.mu.Unlock()
		for _, tell := range reported {
			tell()
		}
	}
}

// OnChange adds a function that Run calls after a change.
func (f *Fake) OnChange(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onChange = append(f.onChange, fn)
}

func (f *Fake) changed() { pause.Poke(f.notify) }

// Ensure starts the server again after StopServer.
func (f *Fake) Ensure(ctx context.Context) error {
	return f.do(ctx, "Ensure", func() error {
		if !f.up {
			f.start()
			f.changed()
		}
		return nil
	})
}

// Server returns the fake server's identity; it is another one after each StopServer.
func (f *Fake) Server(ctx context.Context) (id tmux.ServerID, err error) {
	err = f.do(ctx, "Server", func() error { id = f.server; return nil })
	return id, err
}

// Answers returns an error while the server hangs.
func (f *Fake) Answers(ctx context.Context) error {
	err := f.do(ctx, "Answers", func() error { return nil })
	if errors.Is(err, tmux.ErrNoServer) {
		return nil
	}
	return err
}

// Panes returns all panes.
func (f *Fake) Panes(ctx context.Context) (panes []tmux.Pane, err error) {
	err = f.do(ctx, "Panes", func() error {
		for _, p := range f.panes {
			panes = append(panes, f.reported(p))
		}
		return nil
	})
	return panes, err
}

// Pane returns one pane.
func (f *Fake) Pane(ctx context.Context, id tmux.PaneID) (pane tmux.Pane, err error) {
	err = f.do(ctx, "Pane", func() error {
		p, err := f.find(id)
		if err == nil {
			pane = f.reported(p)
		}
		return err
	})
	return pane, err
}

func (f *Fake) find(id tmux.PaneID) (*fakePane, error) {
	if !id.Valid() {
		return nil, tmux.ErrNoTarget
	}
	for _, p := range f.panes {
		if p.ID == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", tmux.ErrNoPane, id)
}

// NewWindow makes a window and runs Launch in it.
func (f *Fake) NewWindow(ctx context.Context, s tmux.Spec) (made tmux.Pane, err error) {
	err = f.do(ctx, "NewWindow", func() error {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("tmux new-window: %w", err)
		}
		p := f.add(tmux.Pane{
			Window: f.window(), Session: Session, WindowName: s.Name, Tag: s.Tag,
			Command: filepath.Base(s.Argv[0]), Path: s.Dir, Active: true, WindowPanes: 1, WindowIndex: f.freeIndex(Session),
		})
		p.proc.Spec, p.proc.Env = s, f.environment(s)
		if f.Launch != nil {
			f.Launch(p.proc)
		}
		p.screen = p.proc.Screen
		if p.proc.Exit != nil {
			p.end(*p.proc.Exit)
		}
		f.changed()
		made = f.reported(p)
		return nil
	})
	return made, err
}

// Environment returns the named variables of Env.
func (f *Fake) Environment(ctx context.Context, names []string) (env map[string]string, err error) {
	err = f.do(ctx, "Environment", func() error {
		env = maps.Clone(f.Env)
		if env == nil {
			env = make(map[string]string)
		}
		maps.DeleteFunc(env, func(name, value string) bool { return value == "" || !slices.Contains(names, name) })
		return nil
	})
	return env, err
}

func (f *Fake) environment(s tmux.Spec) map[string]string {
	env := maps.Clone(f.Env)
	if env == nil {
		env = make(map[string]string)
	}
	maps.Copy(env, s.Env)
	for _, name := range s.Unset {
		delete(env, name)
	}
	return env
}

func (p *fakePane) end(e Exit) {
	p.Dead, p.DeadStatus, p.DeadSignal = true, e.Status, e.Signal
	if e.Signal != 0 {
		p.DeadStatus = -1
	}
}

// Rename renames the window of a pane.
func (f *Fake) Rename(ctx context.Context, g tmux.Guard, tag, name string) error {
	return f.do(ctx, "Rename", func() error {
		if name == "" || tag == "" {
			return fmt.Errorf("tmux rename-window: empty name or tag")
		}
		p, err := f.guarded(g)
		if err == nil && p.Tag != tag {
			err = &tmux.GuardError{Pane: g.Pane, Want: tag, Got: p.Tag}
		}
		if err != nil {
			return err
		}
		for _, beside := range f.panes {
			if beside.Window == p.Window {
				beside.WindowName = name
			}
		}
		return nil
	})
}

// PaneAndScreen is Pane and Capture.
func (f *Fake) PaneAndScreen(ctx context.Context, id tmux.PaneID) (p tmux.Pane, screen string, shown bool, err error) {
	if p, err = f.Pane(ctx, id); err != nil {
		return p, "", false, err
	}
	screen, err = f.Capture(ctx, id, 0)
	if errors.Is(err, tmux.ErrSilent) { // it is one command
		return tmux.Pane{}, "", false, err
	}
	return p, screen, err == nil, nil
}

// Capture returns what Draw returns, or the text of SetScreen.
func (f *Fake) Capture(ctx context.Context, id tmux.PaneID, _ int) (screen string, err error) {
	err = f.do(ctx, "Capture", func() error {
		p, err := f.find(id)
		switch {
		case err != nil:
		case p.proc.Draw != nil:
			screen = p.proc.Draw()
		default:
			screen = p.screen
		}
		return err
	})
	return screen, err
}

// AttachCommand is a command that does nothing useful.
func (f *Fake) AttachCommand(w tmux.WindowID, _ string) string {
	return strings.TrimSpace("tmux attach-session -t '" + w.String() + "'")
}
