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

// Dialog is what the terminal asks, in the form in which a person is shown it.
type Dialog = desk.Dialog

// Dialog returns what a session's terminal asks. ErrNoAgent means that the agent is gone or behind
// its shell; ErrUnseen that the terminal cannot be seen.
func (s *Service) Dialog(ctx context.Context, id uuid.UUID) (Dialog, error) {
	r, ok := s.kit.Store.Get(id)
	if !ok {
		return Dialog{}, session.ErrNotFound
	}
	w := &work{kit: s.kit, r: &r}
	return w.lookAtDialog(ctx)
}

// lookAtDialog looks at the terminal, on the caller's turn, and returns what it asks.
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

// dialogOf makes the Dialog from a view. It is pure.
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
		d.Whole = v.Pane.Scrolled == 0 && !v.Screen.HidesRows() // the edges of an unrecognised dialog are unknown
	}
	d.Mark = markOf(r, v.Screen, d.Whole)
	return d
}

// unready says whether an agent that was never ready shows something other than a prompt box: not
// all questions before the first presence file are recognised.
func unready(r session.Record, v View) bool {
	seen := v.Agent == process.Alive && v.Fate == PaneOurs && v.Captured
	return r.State.Launching() && seen && !v.Present && !v.Screen.Box.Present && v.Screen.Text != ""
}

// markOf returns a hash of what the keys would act on: the dialog with its cursor and ticks,
// whether that is all of the dialog, and the process that shows it. For a dialog that is not
// recognised it is the whole screen, without the parts that change by themselves.
func markOf(r session.Record, s claudeui.Screen, whole bool) string {
	h := sha256.New()
	if r.Binding != nil {
		fmt.Fprintf(h, "%s ", r.Binding.Agent) // the next launch may ask the same question
	}
	fmt.Fprintf(h, "%t ", whole)
	if d := s.Dialog; d != nil {
		fmt.Fprintf(h, "%q %q %d", d.Lines, d.Options, d.Selected)
	} else {
		fmt.Fprintf(h, "%q", s.Steady())
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:9])
}

// terminal returns what the terminal shows and asks, from the view of this step.
func (w *work) terminal(screen string) news.Terminal {
	shown := news.Terminal{Screen: screen, Attach: w.attach(*w.r)}
	if d := dialogOf(*w.r, w.view); d.Open {
		shown.Dialog = &d
	}
	return shown
}

// tellDialog reports what the terminal asks, once for each dialog.
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

// dialogName distinguishes one dialog from the next by its words.
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
