package tmuxtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"ccbot/tmux"
)

// keyBytes are the bytes that a terminal sends for a key.
var keyBytes = map[string]string{
	"Enter": "\r", "Escape": "\x1b", "C-u": "\x15", "Tab": "\t", "Space": " ", "BTab": "\x1b[Z", "M-p": "\x1bp", "s": "s", "C-c": "\x03", "C-s": "\x13",
	"Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D",
}

// Paste delivers the text to the process.
func (f *Fake) Paste(ctx context.Context, g tmux.Guard, text string) error {
	return f.do(ctx, "Paste", func() error {
		if text == "" || !utf8.ValidString(text) {
			return fmt.Errorf("tmux paste-buffer: text is empty or not UTF-8")
		}
		return f.input(g, Input{Paste: text}, text)
	})
}

// Enter delivers Enter.
func (f *Fake) Enter(ctx context.Context, g tmux.Guard) error {
	return f.do(ctx, "Enter", func() error { return f.input(g, Input{Key: "Enter"}, keyBytes["Enter"]) })
}

// Press delivers a key.
func (f *Fake) Press(ctx context.Context, g tmux.Guard, k tmux.Key) error {
	return f.do(ctx, "Press", func() error {
		if !k.Valid() {
			return fmt.Errorf("tmux send-keys: key %q", k)
		}
		// or a digit
		return f.input(g, Input{Key: string(k)}, cmp.Or(keyBytes[string(k)], string(k)))
	})
}

func (f *Fake) input(g tmux.Guard, in Input, data string) error {
	p, err := f.guarded(g)
	if err != nil {
		return err
	}
	typing := !p.Dead && !p.InMode && !p.inputOff && !p.Synchronized && (g.Command == "" || g.Command == p.Command)
	if !typing {
		return refusal(g, p)
	}
	p.inputs = append(p.inputs, in)
	if p.proc.OnInput != nil {
		p.proc.OnInput(data)
	}
	return nil
}

// guarded finds the pane and compares the pid.
func (f *Fake) guarded(g tmux.Guard) (*fakePane, error) {
	if g.PID <= 0 {
		return nil, tmux.ErrNoTarget
	}
	p, err := f.find(g.Pane)
	switch {
	case !g.Pane.Valid():
		return nil, err
	case err != nil:
		return nil, &tmux.GuardError{Pane: g.Pane}
	case p.PID != g.PID:
		return nil, refusal(g, p)
	}
	return p, nil
}

func refusal(g tmux.Guard, p *fakePane) error {
	return &tmux.GuardError{
		Pane: g.Pane,
		Want: fmt.Sprintf("%d %s", g.PID, g.Command),
		Got:  fmt.Sprintf("%d %s dead %t in mode %t", p.PID, p.Command, p.Dead, p.InMode),
	}
}

// LeaveView ends the mode of a pane.
func (f *Fake) LeaveView(ctx context.Context, g tmux.Guard) error {
	return f.do(ctx, "LeaveView", func() error {
		p, err := f.guarded(g)
		if err == nil && (p.Dead || !p.InMode) {
			err = refusal(g, p)
		}
		if err == nil {
			p.InMode = false
			f.changed()
		}
		return err
	})
}

// ClosePane closes one pane.
func (f *Fake) ClosePane(ctx context.Context, g tmux.Guard) error {
	return f.do(ctx, "ClosePane", func() error {
		p, err := f.guarded(g)
		if err == nil {
			f.remove(p)
		}
		return err
	})
}

func (f *Fake) remove(gone *fakePane) {
	f.panes = slices.DeleteFunc(f.panes, func(p *fakePane) bool { return p == gone })
	for _, p := range f.panes {
		if p.Window == gone.Window {
			p.WindowPanes--
			p.Active = p.Active || gone.Active
		}
	}
	f.leave(gone.Pane)
	f.changed()
}
