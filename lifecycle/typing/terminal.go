package typing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ccbot/agent"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// Terminal is the terminal of one session, during one turn of the session's worker: its content at
// the last reading, and the keys that go there. It changes no record and reports nothing.
type Terminal struct {
	view.View // the last reading
	r         *session.Record
	o         *view.Observer
	keys      Keyboard
}

// Refresh checks again.
func (t *Terminal) Refresh(ctx context.Context) { t.View = t.o.View(ctx, *t.r) }

// guard names the bound agent; tmux itself checks it together with each key. In an adopted pane
// tmux only knows the shell, and of two processes only the first one: there the kernel is read
// right before, to check that the agent is in the foreground and would get the keys, and that its
// server lives.
func (t *Terminal) guard() (tmux.Guard, error) {
	b := t.r.Binding
	if !t.o.IsInFront(*b) {
		return tmux.Guard{}, fmt.Errorf("process %d is not in the foreground: %w", b.Agent.PID, tmux.ErrGuard)
	}
	if b.AgentServer.Valid() && t.o.Processes.Liveness(b.AgentServer) != process.Alive {
		return tmux.Guard{}, fmt.Errorf("server %d is not proven to live: %w", b.AgentServer.PID, tmux.ErrGuard)
	}
	return tmux.Guard{Pane: t.Pane.ID, PID: b.PanePID(), Command: b.Command}, nil
}

func (t *Terminal) paste(ctx context.Context, text string) error {
	g, err := t.guard()
	if err != nil {
		return err
	}
	err = t.keys.Paste(ctx, g, text)
	t.note(err)
	return err
}

// note makes the view unknown if tmux did not answer: the last reading is no longer valid.
func (t *Terminal) note(err error) {
	if errors.Is(err, view.ErrSilent) {
		t.View = view.View{Now: t.Now, Reader: t.Reader, Agent: t.Agent, Adopted: t.Adopted, Silent: true}
	}
}

// leaveView leaves the view of a window that is scrolled back. ErrBoxBusy: another mode is open
// there, or the agent is not in front.
func (t *Terminal) leaveView(ctx context.Context) error {
	g, err := t.guard()
	if err == nil {
		err = t.keys.LeaveView(ctx, g)
	}
	if errors.Is(err, tmux.ErrGuard) {
		return fmt.Errorf("%w: %w", ErrBoxBusy, err)
	}
	return err
}

// KeyEnter is the one key that Keyboard.Press does not take: Enter has its own method.
const KeyEnter tmux.Key = "Enter"

// Press presses one key, unless the person has given the key another meaning. The caller has read
// the terminal right before.
func (t *Terminal) Press(ctx context.Context, k tmux.Key) error {
	box := t.Screen.Box.Present && !t.DialogOpen()
	if err := t.boxKeys().Other(string(k), box); err != nil {
		return rebound(err)
	}
	return t.send(ctx, k)
}

// send presses one key whose meaning is known.
func (t *Terminal) send(ctx context.Context, k tmux.Key) error {
	g, err := t.guard()
	switch {
	case err != nil:
	case k == KeyEnter:
		err = t.keys.Enter(ctx, g)
	default:
		err = t.keys.Press(ctx, g, k)
	}
	if err != nil {
		t.note(err)
		return fmt.Errorf("press %s: %w", k, err)
	}
	return nil
}

// seePaste waits until the pasted text appears in the box of the agent, which must still be idle.
// If a dialog or a turn came in between, Enter would answer the dialog or reach the turn.
func (t *Terminal) seePaste(ctx context.Context, p Prompt) (seen, overtaken bool) {
	pause.Await(ctx, drawPace, pasteWait, func() bool {
		t.Refresh(ctx)
		seen = t.IsBoxFree() && p.shows(t.View)
		overtaken = t.DialogOpen() || !t.IsIdle() && t.Phase() == talk.PhaseWorking || t.Fate != view.PaneOurs
		return seen || overtaken
	})
	return seen, overtaken
}

// pasteWait is how long a terminal may take to draw a pasted text, and drawPace how often ccbot
// looks for the text: most terminals draw it within a few milliseconds, and Enter waits for that.
const (
	pasteWait = 3 * time.Second
	drawPace  = 5 * time.Millisecond
)

// emptyByRow clears the prompt box by a key that removes a row, and reports whether the box is
// proven empty. One press may remove only a line break, which the screen does not show. After two
// presses without a visible change emptyByRow gives up: the cursor is not where a press would help,
// or the terminal is slow.
func (t *Terminal) emptyByRow(ctx context.Context, key tmux.Key) bool {
	shown := 0
	presses := 0
	for idle := 0; idle < 2; presses++ {
		t.Refresh(ctx)
		if !t.IsBoxFree() || t.Screen.Box.Empty {
			break
		}
		before := t.Screen.Box
		if presses > maxPresses || presses > 0 && len(before.Text) > shown {
			return false // a person types into the box at this moment
		}
		shown = len(before.Text)
		if err := t.send(ctx, key); err != nil {
			return false
		}
		idle++
		if t.seeChange(ctx, before) {
			idle = 0
		}
	}
	return t.IsBoxFree() && t.Screen.Box.Empty
}

// maxPresses is far more than the longest draft on one screen needs.
const maxPresses = 500

// seeChange waits a moment until the box looks different, and reports whether it did.
func (t *Terminal) seeChange(ctx context.Context, before agent.Box) bool {
	return pause.Await(ctx, view.PollInterval, clearWait, func() bool {
		t.Refresh(ctx)
		return t.Screen.Box != before
	})
}

// clearWait is how long a terminal may take to draw the effect of the clearing key.
const clearWait = time.Second / 2

// clearBox empties the box and leaves bash mode. The key that clears the box also leaves bash mode.
func (t *Terminal) clearBox(ctx context.Context) {
	if !t.emptyBox(ctx) || !t.Screen.Box.Bash {
		return
	}
	before := t.Screen.Box
	err := t.Press(ctx, tmux.KeyClear)
	if err != nil || !t.seeChange(ctx, before) {
		t.o.Log.Debug("bash_mode_not_left", logkey.SessionID, t.r.ID.String())
	}
}

// holds reports whether the free box contains a typed prompt and nothing that a person has written:
// either literally the prompt's text, or a paste placeholder that no person in the terminal can
// have made since.
func (t *Terminal) holds(ctx context.Context, p Prompt) bool {
	return !t.ByCall && t.IsBoxFree() && p.shows(t.View) && (t.Screen.Box.Whole || p.Mark != nil && t.quietSince(ctx, p.Mark.At))
}

// holdsPart reports whether the free box contains the beginning of a prompt's text, which a
// clearing by rows leaves if it gives up.
func (t *Terminal) holdsPart(p Prompt) bool {
	return !t.ByCall && t.IsBoxFree() && p.beginsWith(t.Screen.Box)
}

// quietSince reports whether tmux shows that since a moment no key was pressed in any terminal that
// may show the agent's window. It is false if a terminal in control mode is attached, because tmux
// reports nothing about the keys of such a terminal.
func (t *Terminal) quietSince(ctx context.Context, at time.Time) bool {
	if t.Fate != view.PaneOurs || !t.Pane.Touched.Before(at.Truncate(time.Second)) {
		return false
	}
	viewers, err := t.o.Screens.Viewers(ctx)
	return err == nil && !view.DrawsItself(viewers, t.Pane)
}

const (
	backWithin  = 10 * time.Second // how long the turn may take to end after the cancel key, and its text to appear in the box again
	backSeen    = time.Second      // an idle box without the text for this long will not get it, if the turn has left a line
	cancelDrawn = time.Second / 2  // until then the box may still show its text from before an Enter
)

// seeBack waits for the end of the interrupted work, and reports whether the prompt's text is in
// the box again. An agent may be idle for seconds before it draws the text, so an empty box says
// little: it will not come if over reports that the turn has left its last line.
func (t *Terminal) seeBack(ctx context.Context, p Prompt, cancelledAt time.Time, over func() bool) (back bool) {
	var since time.Time
	pause.Await(ctx, view.PollInterval, backWithin, func() bool {
		t.Refresh(ctx)
		switch {
		// The terminal has not yet drawn the end of the turn, or of what was to follow it.
		case !t.IsBoxFree(), t.Screen.Continues:
			since = time.Time{}
		case p.Key != "" && t.holds(ctx, p):
			back = t.Now.Sub(cancelledAt) >= cancelDrawn
		case since.IsZero():
			since = t.Now
		}
		waited := !since.IsZero() && t.Now.Sub(since) >= backSeen
		return back || waited && (p.Key == "" || !t.Screen.Box.Empty || over())
	})
	return back
}

// AwaitExit waits a moment until tmux knows how the process ended: tmux says that a pane is dead
// slightly before it has the status or the signal. The terminal of an agent whose server has ended
// ends by itself soon, and then shows why.
func (t *Terminal) AwaitExit(ctx context.Context) {
	alone := func() bool { return t.Fate == view.PaneOurs && t.Half == evidence.NoServer }
	t.await(ctx, aloneWait, func() bool { return !alone() })
	t.await(ctx, settleWait, func() bool {
		return t.Fate != view.PaneDead || t.Pane.DeadStatus >= 0 || t.Pane.DeadSignal != 0
	})
}

// await looks again until done.
func (t *Terminal) await(ctx context.Context, timeout time.Duration, done func() bool) {
	pause.Await(ctx, view.PollInterval, timeout, func() bool {
		if done() {
			return true
		}
		t.Refresh(ctx)
		return false
	})
}

// aloneWait is longer than a terminal lives without its server, if its program still runs.
const aloneWait = 6 * time.Second

// settleWait is how long tmux may take to learn how a process ended.
const settleWait = time.Second
