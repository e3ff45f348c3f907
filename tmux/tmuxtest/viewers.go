package tmuxtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ccbot/tmux"
)

// fakeClient is a client of the fake server. It shows the window that its session shows.
type fakeClient struct {
	tmux.Viewer
	control bool
}

// Viewers returns the terminals that Attach has attached.
func (f *Fake) Viewers(ctx context.Context) (viewers []tmux.Viewer, err error) {
	err = f.do(ctx, "Viewers", func() error {
		for _, c := range f.clients {
			if !c.control {
				viewers = append(viewers, c.Viewer)
			}
		}
		return nil
	})
	return viewers, err
}

// reported returns a pane as the server reports it, with the number of clients that are attached
// now.
func (f *Fake) reported(p *fakePane) tmux.Pane {
	pane := p.Pane
	for _, c := range f.clients {
		if c.Session == pane.Session {
			pane.Attached++
		}
	}
	return pane
}

// Attach attaches a terminal that shows v.Window. Without a Session it attaches to the session of
// the window; any other Session is a person's own session in the group. Without a TTY it invents
// one; the result is the name of the TTY.
func (f *Fake) Attach(v tmux.Viewer) (tty string) {
	return f.attach(fakeClient{Viewer: v})
}

// AttachControl attaches a control-mode client, which does not count as a viewer.
func (f *Fake) AttachControl(w tmux.WindowID) (tty string) {
	return f.attach(fakeClient{Viewer: tmux.Viewer{Window: w}, control: true})
}

func (f *Fake) attach(c fakeClient) (tty string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	session := f.mustShow(c.Window)
	if c.Session == "" {
		c.Session = session
	}
	if c.TTY == "" {
		c.TTY = fmt.Sprintf("/dev/fake/%d", f.nextTTY)
		f.nextTTY++
	}
	f.clients = append(f.clients, &c)
	f.touch(c.Window, time.Unix(time.Now().Unix(), 0))
	f.show(c.Session, c.Window)
	return c.TTY
}

// Show makes the session of a terminal show another window, on all its terminals.
func (f *Fake) Show(tty string, w tmux.WindowID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mustShow(w)
	f.show(f.mustClient(tty).Session, w)
}

// PressAt presses a key at a terminal. The fake delivers the key to no pane.
func (f *Fake) PressAt(tty string, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.mustClient(tty)
	c.LastKey = time.Unix(at.Unix(), 0)
	f.touch(c.Window, c.LastKey)
}

// touch sets the time of the last sign of a person in the session of a window.
func (f *Fake) touch(w tmux.WindowID, at time.Time) {
	session := f.mustShow(w)
	for _, p := range f.panes {
		if p.Session == session {
			p.Touched = at
		}
	}
}

// Detach takes a terminal or control client away, if it is still there.
func (f *Fake) Detach(tty string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clients = slices.DeleteFunc(f.clients, func(c *fakeClient) bool { return c.TTY == tty })
}

func (f *Fake) show(session string, w tmux.WindowID) {
	for _, c := range f.clients {
		if c.Session == session {
			c.Window = w
		}
	}
}

// leave moves clients away from a window that has lost its last pane: to the window before it, or,
// if it was the only window of its session, by detaching them.
func (f *Fake) leave(gone tmux.Pane) {
	var next *fakePane
	for _, p := range f.panes {
		switch {
		case p.Window == gone.Window:
			return
		case p.Session != gone.Session:
		case next == nil || p.WindowIndex < gone.WindowIndex:
			next = p
		}
	}
	f.clients = slices.DeleteFunc(f.clients, func(c *fakeClient) bool { return c.Window == gone.Window && next == nil })
	for _, c := range f.clients {
		if c.Window == gone.Window {
			c.Window = next.Window
		}
	}
}

func (f *Fake) mustClient(tty string) *fakeClient {
	i := slices.IndexFunc(f.clients, func(c *fakeClient) bool { return c.TTY == tty })
	if i < 0 {
		panic(fmt.Sprintf("tmuxtest: no terminal %q", tty))
	}
	return f.clients[i]
}

// mustShow returns the session of a window.
func (f *Fake) mustShow(w tmux.WindowID) (session string) {
	i := slices.IndexFunc(f.panes, func(p *fakePane) bool { return w.Valid() && p.Window == w })
	if i < 0 {
		panic(fmt.Sprintf("tmuxtest: no window %q", w))
	}
	return f.panes[i].Session
}
