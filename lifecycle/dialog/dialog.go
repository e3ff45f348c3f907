package dialog

import (
	"context"
	"errors"
	"slices"
	"time"

	"ccbot/agent"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/tmux"
)

// Session reads the dialogs of one session, and presses keys in them, during one turn of the
// session's worker.
type Session struct {
	r    *session.Record
	term *typing.Terminal
}

// Of returns the dialogs of a session. term is the session's terminal.
func Of(r *session.Record, term *typing.Terminal) *Session { return &Session{r, term} }

// Dialog looks at the terminal and returns what it asks. ErrNoAgent means that the agent is gone or
// in the background of its shell; ErrUnseen that the terminal is not visible.
func (t *Session) Dialog(ctx context.Context) (port.Dialog, error) {
	if !t.r.State.Open() {
		return port.Dialog{}, view.ErrNoAgent
	}
	t.term.Refresh(ctx)
	if err := t.term.CheckVisible(); err != nil {
		return port.Dialog{}, err
	}
	return view.DialogOf(*t.r, t.term.View), nil
}

// dialogWith looks at the terminal right before a key is pressed. It returns ErrChanged if the open
// dialog does not have the fingerprint.
func (t *Session) dialogWith(ctx context.Context, fingerprint string, k tmux.Key) (port.Dialog, error) {
	d, err := t.checkKey(ctx, k)
	if err == nil && !view.IsUnchanged(fingerprint, d.Fingerprint, looks(k)) {
		return d, ErrChanged
	}
	return d, err
}

// checkKey checks the terminal and returns why a key may not be pressed there now (P7).
func (t *Session) checkKey(ctx context.Context, k tmux.Key) (port.Dialog, error) {
	d, err := t.Dialog(ctx)
	if err != nil {
		return d, err
	}
	return d, mayPress(t.term.View, d, k)
}

// mayPress returns why a key may not be sent to what is open. It is pure.
//
// It must be certain that a dialog is open: the screen shows a recognised dialog, or the agent
// itself says that it waits, or the agent was never ready and shows no prompt box. If the presence
// file names another state, that is for a moment newer than the screen: the dialog was answered,
// and the key would go into the box.
func mayPress(v view.View, d port.Dialog, k tmux.Key) error {
	boxed := v.Screen.Dialog == nil && v.Screen.Box.Present
	switch {
	case v.State.Known == view.StateUnknown:
		return view.ErrUnseen
	case !d.Open:
		return ErrNoDialog
	case d.Relayed && chooses(k):
		return ErrRelayed
	// The person has not seen all of what the key would agree to, or there is nobody to take it.
	case !d.Whole && chooses(k) && !(d.Enters && k == typing.KeyEnter), d.Suspends && chooses(k):
		return ErrChanged
	case !v.State.Phase.Waiting() && v.IsFresh(view.Drawn):
		return ErrChanged
	// The agent says that it waits, but the screen does not show for what: any key but Esc would go
	// into the box.
	case boxed && k != tmux.KeyEscape:
		return view.ErrUnseen
	}
	return nil
}

// KeyWait is how long a terminal may take to draw what a key has changed.
const KeyWait = time.Second

// afterKey waits until the screen has changed and settled, and returns its dialog. If the key has
// ended the agent, there is no dialog.
func (t *Session) afterKey(ctx context.Context, before string) (d port.Dialog, err error) {
	fingerprint := before
	pause.Await(ctx, view.PollInterval, KeyWait, func() bool {
		last := fingerprint
		d, err = t.Dialog(ctx)
		fingerprint = d.Fingerprint
		drawing := d.Open && t.term.Screen.Dialog == nil // or the presence file is older than the screen
		return err != nil || fingerprint != before && fingerprint == last && !drawing
	})
	if errors.Is(err, view.ErrNoAgent) {
		return port.Dialog{Selected: -1}, nil
	}
	return d, err
}

// Limits for moving the cursor to an option.
const (
	pressesPerOption = 3 // a person may move the cursor the other way at the same time
	idlePresses      = 3 // after this number of presses without a change, the dialog ignores the key
	lateMoves        = 3 // how often the cursor may leave the option again right before the Enter
	// SettleTime is how long the cursor must rest on the option.
	SettleTime = 150 * time.Millisecond
)

// moveTo moves the cursor to an option with Up and Down, and waits until it rests there. A dialog
// takes no key right after it is drawn, and an arrow that is taken late would let the Enter choose
// another option.
func (t *Session) moveTo(ctx context.Context, asked *agent.Dialog, d port.Dialog, option int) (port.Dialog, error) {
	idle, quiet := 0, SettleTime
	if !t.term.State.Decides() {
		// While the agent starts, a question that comes before the first presence file is redrawn.
		quiet = KeyWait
	}
	for range pressesPerOption*len(d.Options) + 1 {
		if d.Selected == option {
			rests, err := t.awaitMove(ctx, asked, d, quiet)
			if err != nil || rests.Fingerprint == d.Fingerprint {
				return rests, err
			}
			d = rests
			continue
		}
		towards := tmux.KeyUp
		if d.Selected < option {
			towards = tmux.KeyDown
		}
		if err := t.term.Press(ctx, towards); err != nil {
			return port.Dialog{}, err
		}
		next, err := t.awaitMove(ctx, asked, d, KeyWait)
		if err != nil {
			return next, err
		}
		if idle++; next.Fingerprint != d.Fingerprint {
			idle = 0
		} else if quiet = KeyWait; idle == idlePresses {
			break
		}
		d = next
	}
	return d, ErrChanged
}

// awaitMove waits until the dialog looks different, and returns what it shows then. ErrChanged
// means that it is another question, or the same question about something else.
func (t *Session) awaitMove(ctx context.Context, asked *agent.Dialog, from port.Dialog, timeout time.Duration) (d port.Dialog, err error) {
	pause.Await(ctx, view.PollInterval, timeout, func() bool {
		d, err = t.checkKey(ctx, typing.KeyEnter)
		return err != nil || d.Fingerprint != from.Fingerprint
	})
	if err == nil && !sameQuestion(asked, t.term.Screen.Dialog) {
		err = ErrChanged
	}
	return d, err
}

// sameQuestion reports whether two dialogs are the same question with the same options, wherever
// their cursors are. The rows below the options, above all key hints, change with the cursor.
func sameQuestion(a, b *agent.Dialog) bool {
	return a != nil && b != nil && slices.Equal(a.Head, b.Head) && slices.Equal(a.Options, b.Options)
}

// chooses reports whether a key may choose an option of a dialog.
func chooses(k tmux.Key) bool {
	return k == typing.KeyEnter || k == tmux.KeySpace || k == tmux.KeyTab || k == tmux.KeyBackTab
}

// looks reports whether a key leaves a dialog or moves in it, or stops something that has a clock: it approves nothing.
func looks(k tmux.Key) bool {
	return slices.Contains([]tmux.Key{tmux.KeyEscape, tmux.KeyUp, tmux.KeyDown, tmux.KeyLeft, tmux.KeyRight, tmux.KeyStop}, k)
}
