package lifecycle

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/internal/claudeui"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Dialog is what the terminal asks, as a person is shown it.
type Dialog = desk.Dialog

// Dialog looks at what a session's terminal asks. ErrNoAgent: the agent is not
// there, or behind its shell; ErrUnseen: nobody knows.
func (s *Service) Dialog(ctx context.Context, id uuid.UUID) (Dialog, error) {
	r, ok := s.kit.Store.Get(id)
	if !ok {
		return Dialog{}, session.ErrNotFound
	}
	w := &work{kit: s.kit, r: &r}
	return w.lookAtDialog(ctx)
}

// lookAtDialog looks at the terminal.
func (w *work) lookAtDialog(ctx context.Context) (Dialog, error) {
	if !w.r.State.Open() {
		return Dialog{}, ErrNoAgent
	}
	w.view = w.Observer.View(ctx, *w.r)
	v := w.view
	switch {
	case v.Agent == process.Gone, v.Fate == PaneDead, v.Fate == PaneGone, v.Fate == PaneForeign, v.Behind:
		return Dialog{}, ErrNoAgent
	case v.Agent != process.Alive, v.Fate != PaneOurs, !v.Captured:
		return Dialog{}, ErrUnseen
	}
	return dialogOf(*w.r, v), nil
}

// dialogOf is pure.
func dialogOf(r session.Record, v View) Dialog {
	d := Dialog{Selected: -1, Relayed: v.Relayed}
	if !v.Captured || !v.DialogOpen() && !unready(r, v) {
		return d
	}
	d.Open = true
	if s := v.Screen.Dialog; s != nil {
		d.Lines, d.Options, d.Selected, d.Whole = s.Lines, s.Options, s.Selected, s.Whole
	} else {
		d.Lines = strings.Split(strings.Trim(v.Screen.Text, "\n"), "\n")
		d.Whole = v.Pane.Scrolled == 0 && !v.Screen.HidesRows() // the edge of what is not recognised is not known
	}
	d.Mark = markOf(r, v.Screen, d.Whole)
	return d
}

// unready says whether an agent that was never ready shows something that is no
// prompt box: questions before the first presence file are not all recognised.
func unready(r session.Record, v View) bool {
	seen := v.Agent == process.Alive && v.Fate == PaneOurs && v.Captured
	return r.State.Launching() && seen && !v.Present && !v.Screen.Box.Present && v.Screen.Text != ""
}

// markOf is the hash of what the keys would go to: the dialog with its cursor and
// ticks, whether that is all of it, and whose it is; one that is not recognised is the whole screen. What
// moves beside a dialog by itself is not in it.
func markOf(r session.Record, s claudeui.Screen, whole bool) string {
	h := sha256.New()
	if r.Binding != nil {
		fmt.Fprintf(h, "%s ", r.Binding.Agent) // the next launch may ask the same
	}
	fmt.Fprintf(h, "%t ", whole)
	if d := s.Dialog; d != nil {
		fmt.Fprintf(h, "%q %q %d", d.Lines, d.Options, d.Selected)
	} else {
		fmt.Fprintf(h, "%q", s.Steady())
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:9])
}

// terminal is what the terminal of the step's view shows and takes.
func (w *work) terminal(screen string) news.Terminal {
	shown := news.Terminal{Screen: screen, Attach: w.attach(*w.r)}
	if d := dialogOf(*w.r, w.view); d.Open {
		shown.Dialog = &d
	}
	return shown
}

// tellDialog tells what the terminal asks, once per dialog.
func (w *work) tellDialog(ctx context.Context) error {
	name := dialogName(w.view.Screen.Dialog)
	if w.recall().dialog.told == name {
		return nil
	}
	screen := w.view.Screen.Text
	if d := w.view.Screen.Dialog; d != nil {
		screen = strings.Join(d.Lines, "\n")
	}
	if err := w.tell(ctx, *w.r, news.Dialog{Terminal: w.terminal(screen)}); err != nil {
		return err
	}
	w.remember(func(m *memory) { m.dialog.told = name })
	return nil
}

// dialogName tells one dialog from the next, by its words.
func dialogName(d *claudeui.Dialog) string {
	if d == nil {
		return "not recognised"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1 // ticks, counters and the cursor open no new dialog
	}, d.Title+strings.Join(d.Lines, "")+strings.Join(d.Options, ""))
}
