package lifecycle

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"ccbot/hooks"
	"ccbot/internal/claudeui"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// dialog looks at the terminal and returns what it asks.
func (t *terminal) dialog(ctx context.Context) (port.Dialog, error) {
	if !t.r.State.Open() {
		return port.Dialog{}, ErrNoAgent
	}
	t.look(ctx)
	if err := t.hidden(); err != nil {
		return port.Dialog{}, err
	}
	return dialogOf(*t.r, t.View), nil
}

// dialogOf makes the Dialog from a view. It is pure.
func dialogOf(r session.Record, v View) port.Dialog {
	d := port.Dialog{Selected: -1, Relayed: v.Relayed}
	if !v.Captured || !v.DialogOpen() && !unready(r, v) {
		return d
	}
	d.Open = true
	if s := v.Screen.Dialog; s != nil {
		d.Lines, d.Options, d.Selected = s.Lines, s.Options, s.Selected
		// Without styles and rules a row that has left the screen could be the dialog's real beginning.
		d.Whole = s.Whole && (!v.Screen.Flat || v.Pane.Scrolled == 0)
	} else {
		d.Lines = strings.Split(strings.Trim(v.Screen.Text, "\n"), "\n")
		d.Whole = v.Pane.Scrolled == 0 && !v.Screen.HidesRows() // the edges of an unrecognised dialog are unknown
	}
	d.Unasked = hasRelay(r, v) && !v.Relayed && asksPermission(v)
	d.Mark = markOf(r, v.Screen, d.Whole)
	return d
}

// hasRelay reports whether ccbot started the agent with a hook that brings its permission requests
// to the chat.
func hasRelay(r session.Record, v View) bool {
	return r.Launch != nil && r.Launch.PermissionMode == hooks.ModeAsk && !v.Adopted
}

// asksPermission reports whether the terminal asks for a permission. It is pure.
func asksPermission(v View) bool {
	d := v.Screen.Dialog
	switch {
	case d != nil && d.Whole && d.IsQuestion():
		return false
	case v.State.Phase.Waiting():
		return v.State.Asks == AsksPermission
	}
	return d != nil && slices.Contains(d.Options, "Yes")
}

// unready reports whether an agent that was never ready shows something other than a prompt box:
// not all questions before the first presence file are recognised.
func unready(r session.Record, v View) bool {
	return r.State.Launching() && v.seen() && v.State.Known == StateUnwritten && !v.Screen.Box.Present && v.Screen.Text != ""
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

// dialogName distinguishes one dialog from the next: by its letters, and exactly by the rows above
// its options. Ticks, counters and the cursor open no new dialog, but two commands may differ in
// one digit.
func dialogName(d *claudeui.Dialog) string {
	if d == nil {
		return "not recognised"
	}
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, d.Title+strings.Join(d.Lines, "")+strings.Join(d.Options, ""))
	if len(d.Options) == 0 {
		return letters
	}
	return letters + "\n" + strings.Join(headOf(d), "\n")
}

// headOf returns the rows above the options exactly, because they hold the command: only the topics
// of a question, its first row, are without their ticks.
func headOf(d *claudeui.Dialog) []string {
	head := slices.Clone(d.Head())
	if len(head) > 0 && d.IsQuestion() {
		head[0] = strings.Map(withoutTicks, head[0])
	}
	return head
}

// asking returns what a key in the dialog would approve: the rows above the options, and the
// options without the cursor and the ticks.
func asking(s claudeui.Screen) string {
	if s.Dialog == nil {
		return s.Steady()
	}
	rows := append(headOf(s.Dialog), "")
	for _, option := range s.Dialog.Options {
		rows = append(rows, strings.TrimRight(strings.TrimLeft(option, " []"+ticks), " "+ticks))
	}
	return fmt.Sprintf("%q", rows)
}

// ticks are the cursor and the marks at the start and the end of a topic or an option.
const ticks = "❯✔✓☐☒◯◉○●"

func withoutTicks(r rune) rune {
	if strings.ContainsRune(ticks, r) {
		return ' '
	}
	return r
}

const (
	rest        = 200 * time.Millisecond // a dialog that shows the same for so long is reported
	restTimeout = 2 * time.Second        // a dialog that never rests is reported after this time
)

// settling notes the captures of a dialog that is not reported yet. The zero value has no capture.
type settling struct {
	mark   string    // of the last capture
	markAt time.Time // of the first capture with this mark
	since  time.Time // of the first capture
}

// add notes a capture and returns how long to wait before the dialog is reported; 0 means that the
// dialog rests.
func (s *settling) add(mark string, now time.Time) (wait time.Duration) {
	if s.mark == "" || now.Before(s.markAt) { // or the clock was set back
		s.since = now
		s.mark = ""
	}
	if s.mark != mark {
		s.mark, s.markAt = mark, now
	}
	return max(0, min(rest-now.Sub(s.markAt), restTimeout-now.Sub(s.since)))
}

// dialogWith looks at the terminal right before a key is pressed. It returns ErrChanged if the open
// dialog does not have the mark.
func (t *terminal) dialogWith(ctx context.Context, mark string, k tmux.Key) (port.Dialog, error) {
	d, err := t.lookForKey(ctx, k)
	if err == nil && d.Mark != mark {
		return d, ErrChanged
	}
	return d, err
}

// lookForKey looks at the terminal and returns why a key may not be pressed there now (P7).
func (t *terminal) lookForKey(ctx context.Context, k tmux.Key) (port.Dialog, error) {
	d, err := t.dialog(ctx)
	if err != nil {
		return d, err
	}
	return d, mayPress(t.View, d, k)
}

// mayPress returns why a key may not be sent to what is open. It is pure.
//
// It must be certain that a dialog is open: the screen shows a recognised dialog, or the agent
// itself says that it waits, or the agent was never ready and shows no prompt box. If the presence
// file names another state, that is for a moment newer than the screen: the dialog was answered,
// and the key would go into the box.
func mayPress(v View, d port.Dialog, k tmux.Key) error {
	boxed := v.Screen.Dialog == nil && v.Screen.Box.Present
	switch {
	case v.State.Known == StateUnknown:
		return ErrUnseen
	case !d.Open:
		return ErrNoDialog
	case d.Relayed && chooses(k):
		return ErrRelayed
	// The person has not seen all of what the key would agree to.
	case !d.Whole && chooses(k):
		return ErrChanged
	case !v.State.Phase.Waiting() && v.fresh(drawn):
		return ErrChanged
	// The agent says that it waits, but the screen does not show for what: any key but Esc would go
	// into the box.
	case boxed && k != tmux.KeyEscape:
		return ErrUnseen
	}
	return nil
}

// keyWait is how long a terminal may take to draw what a key has changed.
const keyWait = time.Second

// afterKey waits until the screen has changed and settled, and returns its dialog. If the key has
// ended the agent, there is no dialog.
func (t *terminal) afterKey(ctx context.Context, before string) (d port.Dialog, err error) {
	mark := before
	await(ctx, lookPace, keyWait, func() bool {
		last := mark
		d, err = t.dialog(ctx)
		mark = d.Mark
		drawing := d.Open && t.Screen.Dialog == nil // or the presence file is older than the screen
		return err != nil || mark != before && mark == last && !drawing
	})
	if errors.Is(err, ErrNoAgent) {
		return port.Dialog{Selected: -1}, nil
	}
	return d, err
}

// Limits for moving the cursor to an option.
const (
	pressesPerOption = 3 // a person may move the cursor the other way at the same time
	idlePresses      = 3 // after this number of presses without a change, the dialog ignores the key
	lateMoves        = 3 // how often the cursor may leave the option again right before the Enter
	settled          = 150 * time.Millisecond
)

// moveTo moves the cursor to an option with Up and Down, and waits until it rests there. A dialog
// takes no key right after it is drawn, and an arrow that is taken late would let the Enter choose
// another option.
func (t *terminal) moveTo(ctx context.Context, asked *claudeui.Dialog, d port.Dialog, option int) (port.Dialog, error) {
	idle, quiet := 0, settled
	if t.State.Known != StateWritten {
		// While the agent starts, a question that comes before the first presence file is redrawn.
		quiet = keyWait
	}
	for range pressesPerOption*len(d.Options) + 1 {
		if d.Selected == option {
			rests, err := t.awaitMove(ctx, asked, d, quiet)
			if err != nil || rests.Mark == d.Mark {
				return rests, err
			}
			d = rests
			continue
		}
		towards := tmux.KeyUp
		if d.Selected < option {
			towards = tmux.KeyDown
		}
		if err := t.press(ctx, towards); err != nil {
			return port.Dialog{}, err
		}
		next, err := t.awaitMove(ctx, asked, d, keyWait)
		if err != nil {
			return next, err
		}
		if idle++; next.Mark != d.Mark {
			idle = 0
		} else if quiet = keyWait; idle == idlePresses {
			break
		}
		d = next
	}
	return d, ErrChanged
}

// awaitMove waits until the dialog looks different, and returns what it shows then. ErrChanged
// means that it is another question, or the same question about something else.
func (t *terminal) awaitMove(ctx context.Context, asked *claudeui.Dialog, from port.Dialog, patience time.Duration) (d port.Dialog, err error) {
	await(ctx, lookPace, patience, func() bool {
		d, err = t.lookForKey(ctx, keyEnter)
		return err != nil || d.Mark != from.Mark
	})
	if err == nil && !asked.Asks(t.Screen.Dialog) {
		err = ErrChanged
	}
	return d, err
}

// relayGrace is how long a dialog is not reported while a hook of ccbot may still bring the same
// question to the chat: the hook has to start, and after a restart of ccbot it has to dial again.
const relayGrace = 5 * time.Second

// relayWait is how long the permission request for the open dialog may still take to arrive; 0
// means that none is expected. It is pure.
func relayWait(r session.Record, v View) time.Duration {
	mayAsk := v.State.Known == StateUnknown || v.State.Phase.Waiting() && v.State.Asks != AsksElse
	if !hasRelay(r, v) || !mayAsk || v.Since.IsZero() {
		return 0
	}
	return min(max(0, relayGrace-v.Now.Sub(v.Since)), relayGrace) // the upper bound: the clock may have been set back
}

// Once these times have passed, an agent that says that it does not wait has really moved on. They
// are needed because the presence file is written a little before or after the hook starts.
const (
	goneAfter = time.Second     // by which the presence file is newer than the newest request
	goneBy    = 3 * time.Second // the age of the newest request; one from the future is older: the clock was set back
)

// dialogGone reports whether the dialogs of all waiting requests are proven gone. It is needed
// because a Yes or an answer in the terminal does not end the hook, while Esc and No do (2.1.328).
// It is pure.
func dialogGone(v View) bool {
	return mayBeGone(v) && (v.State.Since.After(v.Asked.Add(goneAfter)) || v.Now.Sub(v.Asked).Abs() > goneBy)
}

// mayBeGone reports whether a request waits although the agent, by its presence file and its
// screen, waits for no person.
func mayBeGone(v View) bool {
	moved := v.State.Phase == talk.PhaseIdle || v.State.Phase == talk.PhaseWorking
	return v.Relayed && v.Agent == process.Alive && moved && !v.DialogOpen()
}

// dialogClosed reports whether it is certain that no dialog is open. It is pure.
func dialogClosed(v View) bool {
	known := v.Captured && v.Phase() != talk.PhaseUnknown
	return v.gone() || known && !v.DialogOpen()
}

// chooses reports whether a key may choose an option of a dialog.
func chooses(k tmux.Key) bool {
	return k == keyEnter || k == tmux.KeySpace || k == tmux.KeyTab || k == tmux.KeyBackTab
}
