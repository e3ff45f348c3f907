package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"ccbot/bot/port/news"
	"ccbot/internal/claudeui"
	"ccbot/internal/logkey"
	"ccbot/internal/transcript"
	"ccbot/tmux"
)

// typePrompt types one prompt: mark on disk, paste, look again, Enter. A crash at any point leaves
// a mark that recovery finds. Nothing is typed twice unless a person asks for it (P4), and Enter is
// pressed only if the text is visible in the box of an idle agent (P7). The proof comes later, from
// a hook or the transcript.
func (w *work) typePrompt(ctx context.Context, p Prompt) error {
	p.State, p.Mark = Typing, w.mark()
	if err := w.Prompts.SavePrompt(p); err != nil {
		return err
	}
	w.remember(func(m *memory) { m.prompt.pasted = "" })
	w.at("typing-marked")
	if err := w.press(func(g tmux.Guard) error { return w.Tmux.Paste(ctx, g, p.Text) }); err != nil {
		if !errors.Is(err, tmux.ErrGuard) && !errors.Is(err, tmux.ErrNotSent) {
			return err // it is unknown whether the text has reached the pane: the mark stays, and ccbot waits for proof
		}
		p.State, p.Mark = Held, nil
		w.again = holdPace
		return errors.Join(w.Prompts.SavePrompt(p), w.hold(ctx, news.HeldUnknown, &p))
	}
	w.remember(func(m *memory) { m.prompt.pasted = p.Key })
	w.at("pasted")
	switch seen, overtaken := w.seePaste(ctx, p); {
	case seen:
		return w.enter(ctx, p)
	case overtaken:
		p.Mark.Retreat = true
		return w.Prompts.SavePrompt(p)
	}
	return nil // the text is not drawn yet: the mark stays, and Enter follows when the text appears
}

// mark returns the time and the transcript position from which proof counts.
func (w *work) mark() *Mark {
	m := &Mark{At: w.Now().UTC(), Claude: w.r.ClaudeSessionID}
	if b := w.r.Binding; b != nil {
		m.Agent = b.Agent.Text()
		m.Age, _ = b.Agent.Age(w.moment())
	}
	if c, ok := w.r.Cursor(); ok {
		m.Path = c.Path
	} else { // no hook has named the transcript; without an offset all that was ever said would count as proof
		m.Path, _ = transcript.Find(w.Observer.ProjectsDir, w.r.ClaudeSessionID)
	}
	if info, err := os.Stat(m.Path); err == nil {
		m.Offset = info.Size()
	}
	return m
}

// press sends keys to the bound pane, under a guard that tmux checks itself. In an adopted pane
// tmux only knows the shell: there the kernel is asked right before whether the agent is in the
// foreground and would get the keys.
func (w *work) press(keys func(tmux.Guard) error) error {
	b := w.r.Binding
	if b.Adopted && !w.Observer.front(*b) {
		return fmt.Errorf("process %d is not in the foreground: %w", b.Agent.PID, tmux.ErrGuard)
	}
	return keys(tmux.Guard{Pane: w.view.Pane.ID, PID: b.PanePID(), Command: b.Command})
}

// seePaste waits until the pasted text appears in the box of the agent, which must still be idle.
// If a dialog or a turn came in between, Enter would answer the dialog or reach the turn.
func (w *work) seePaste(ctx context.Context, p Prompt) (seen, overtaken bool) {
	await(ctx, drawPace, pasteWait, func() bool {
		w.view = w.Observer.View(ctx, *w.r)
		seen = w.view.boxFree() && p.shows(w.view.Screen.Box)
		overtaken = w.view.DialogOpen() || !w.view.idle() && w.view.Phase() == PhaseWorking || w.view.Fate != PaneOurs
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

// enter submits the text that was just seen in the box. The mark counts the Enter before it is
// pressed: counting one too many is harmless.
func (w *work) enter(ctx context.Context, p Prompt) error {
	p.Mark.Enters++
	if err := w.Prompts.SavePrompt(p); err != nil {
		return err
	}
	if w.view = w.Observer.View(ctx, *w.r); !w.view.boxFree() || !p.shows(w.view.Screen.Box) {
		return nil // writing to disk took time, and something came in between
	}
	err := w.press(func(g tmux.Guard) error { return w.Tmux.Enter(ctx, g) })
	if errors.Is(err, tmux.ErrGuard) {
		return nil // Enter was not pressed
	}
	if err != nil {
		return err
	}
	w.at("entered")
	w.remember(func(m *memory) { m.box.still = still{} }) // the effect of the Enter is not drawn yet
	return w.tell(ctx, *w.r, news.Typed{Prompt: p.shown()})
}

// clearOwnText takes back a paste that a dialog overtook. It removes ccbot's own text from the box,
// proves that the box is empty, and holds the prompt again. After a stop the person is asked about
// the prompt instead.
func (w *work) clearOwnText(ctx context.Context, p Prompt) error {
	if !w.view.Screen.Box.Empty {
		if !p.shows(w.view.Screen.Box) {
			return w.unproven(ctx, p, "something else stands in the box")
		}
		switch emptied := w.emptyBox(ctx); {
		case !emptied && !w.view.boxFree(): // another turn or dialog has come
			w.again = holdPace
			return nil
		case !emptied:
			return w.unproven(ctx, p, "the box cannot be emptied")
		}
	}
	if found, err := w.seek(ctx, p); found || err != nil { // a person in the terminal may have sent the text
		return err
	}
	if p.retreats() && p.Mark.Esc {
		return askAbout(ctx, w, p)
	}
	p.State, p.Mark = Held, nil
	w.agenda.wake(w.r.ID)
	return w.Prompts.SavePrompt(p)
}

// emptyBox clears the prompt box row by row, and says whether the box is proven empty. One press
// may remove only a line break, which the screen does not show. After two presses without a visible
// change emptyBox gives up: the cursor is not where a press would help.
func (w *work) emptyBox(ctx context.Context) bool {
	shown := 0
	presses := 0
	for idle := 0; idle < 2; presses++ {
		w.view = w.Observer.View(ctx, *w.r)
		if !w.view.boxFree() || w.view.Screen.Box.Empty {
			break
		}
		before := w.view.Screen.Box
		if presses > maxPresses || presses > 0 && len(before.Text) > shown {
			return false // a person types into the box at this moment
		}
		shown = len(before.Text)
		if err := w.press(func(g tmux.Guard) error { return w.Tmux.Press(ctx, g, tmux.KeyClear) }); err != nil {
			return false
		}
		idle++
		if w.seeChange(ctx, before) {
			idle = 0
		}
	}
	return w.view.boxFree() && w.view.Screen.Box.Empty
}

// maxPresses is far more than the longest draft on one screen needs.
const maxPresses = 500

// seeChange waits a moment until the box looks different, and says whether it did.
func (w *work) seeChange(ctx context.Context, before claudeui.Box) bool {
	return await(ctx, lookPace, clearWait, func() bool {
		w.view = w.Observer.View(ctx, *w.r)
		return w.view.Screen.Box != before
	})
}

// clearWait is how long a terminal may take to draw the effect of the clearing key.
const clearWait = time.Second / 2

// takeBack removes the text of a prompt that was not carried out from the box, where it would block
// everything that comes next. The question to the person is sent first, so that the text is never
// lost.
func (w *work) takeBack(ctx context.Context, p Prompt) error {
	if err := w.tell(ctx, *w.r, news.TakenBack{Prompt: p.shown()}); err != nil {
		return err
	}
	w.remember(func(m *memory) { m.prompt.last = Prompt{} })
	w.clearBox(ctx)
	if err := w.dequeue(p.Key); err != nil {
		return fmt.Errorf("take back prompt %s: %w", p.Key, err)
	}
	return nil
}

// askAbout asks the person about a prompt that is not typed because of a stop, and takes it out of
// the queue.
func askAbout(ctx context.Context, w *work, p Prompt) error {
	if err := w.tell(ctx, *w.r, news.TakenBack{Prompt: p.shown()}); err != nil {
		return err
	}
	if err := w.dequeue(p.Key); err != nil {
		return fmt.Errorf("take prompt %s out of the queue: %w", p.Key, err)
	}
	return nil
}

// clearBox empties the box and leaves bash mode. The key that clears the box also leaves bash mode.
func (w *work) clearBox(ctx context.Context) {
	if !w.emptyBox(ctx) || !w.view.Screen.Box.Bash {
		return
	}
	before := w.view.Screen.Box
	err := w.press(func(g tmux.Guard) error { return w.Tmux.Press(ctx, g, tmux.KeyClear) })
	if err != nil || !w.seeChange(ctx, before) {
		w.Log.Debug("bash_mode_not_left", logkey.SessionID, w.r.ID.String())
	}
}

// lastTaken returns the prompt that the present agent has taken last. A Prompt without a key means
// that this is unknown.
func lastTaken(w *work) Prompt {
	p := w.recall().prompt.last
	if p.Mark == nil || w.r.Binding == nil || p.Mark.Agent != w.r.Binding.Agent.Text() {
		return Prompt{}
	}
	return p
}

// cluesOf collects what is known of a typed prompt besides what the terminal shows.
func cluesOf(ctx context.Context, w *work, p Prompt) clues {
	trace, err := traceOf(w, p)
	if err != nil {
		w.Log.Warn("proof_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
	}
	if trace.Arrived {
		return clues{Arrived: true} // this decides, whatever else is known
	}
	c := clues{Reported: !w.r.ReportsAt.IsZero(), Pasted: w.recall().prompt.pasted == p.Key}
	// If the box is not free, nothing is typed, so tmux need not be asked.
	c.Quiet = w.view.boxFree() && quietSince(ctx, w, p.Mark.At)
	var errEvents error
	if w.Unheard != nil {
		c.Unheard, errEvents = w.Unheard(w.r.ID)
	}
	switch m := p.Mark; {
	case m.Esc:
		c.Doubt = doubtEsc
	case w.r.Binding == nil || m.Agent != w.r.Binding.Agent.Text():
		c.Doubt = doubtProcess
	case m.Claude != w.r.ClaudeSessionID:
		c.Doubt = doubtMoved
	case err != nil || errEvents != nil:
		c.Doubt = doubtUnreadable
	case trace.Foreign:
		c.Doubt = doubtForeign
	case clockWasSet(w, *m):
		c.Doubt = doubtClock
	case w.Now().Sub(m.At) > markFor:
		c.Doubt = doubtOld
	}
	return c
}

// traceOf looks for a typed prompt in the transcripts of the session. In the marked transcript it
// starts at the position where the typing began; in the others it goes by the time of their lines.
func traceOf(w *work, p Prompt) (transcript.Trace, error) {
	path, since := markedPath(w, *p.Mark), time.Time{}
	if p.Mark.Offset == 0 { // a file that is made later may begin with what was said long before
		since = p.Mark.At
	}
	all, err := transcript.TraceOf(path, p.Mark.Offset, since, p.Text)
	for _, c := range w.r.Cursors {
		if err == nil && c.Path != path {
			var one transcript.Trace
			one, err = transcript.TraceOf(c.Path, 0, p.Mark.At, p.Text)
			all = all.Join(one)
		}
	}
	return all, err
}

// markedPath is the transcript in which a typed prompt is looked for first; empty if there is none
// yet.
func markedPath(w *work, m Mark) string {
	if m.Path != "" {
		return m.Path
	}
	path, _ := transcript.Find(w.Observer.ProjectsDir, cmp.Or(m.Claude, w.r.ClaudeSessionID))
	return path
}

// quietSince says whether tmux shows that since a moment no key was pressed in any terminal that
// may show the agent's window. It is false if a terminal in control mode is attached, because tmux
// reports nothing about the keys of such a terminal.
func quietSince(ctx context.Context, w *work, at time.Time) bool {
	if w.view.Fate != PaneOurs || !w.view.Pane.Touched.Before(at.Truncate(time.Second)) {
		return false
	}
	viewers, err := w.Tmux.Viewers(ctx)
	return err == nil && !drawsItself(viewers, w.view.Pane)
}

// holds says whether the free box contains a typed prompt and nothing that a person has written:
// either literally the prompt's text, or a paste placeholder that no person in the terminal can
// have made since.
func (w *work) holds(ctx context.Context, p Prompt) bool {
	box := w.view.Screen.Box
	return w.view.boxFree() && p.shows(box) && (box.Whole() || p.Mark != nil && quietSince(ctx, w, p.Mark.At))
}

// clockWasSet says whether the wall clock was set since a mark: it differs from the kernel's count
// of time.
func clockWasSet(w *work, m Mark) bool {
	age, ok := w.r.Binding.Agent.Age(w.moment())
	const tolerated = 2 * time.Second
	return !ok || (w.Now().Sub(m.At)-(age-m.Age)).Abs() > tolerated
}

// settleTyped decides about a typed prompt by all that is known of it, and acts.
func settleTyped(ctx context.Context, w *work, p Prompt) error {
	c := cluesOf(ctx, w, p)
	d := decideTyped(w.view, &p, c)
	w.again = d.Again
	switch d.Act {
	case actProven:
		return arrived(ctx, w, p)
	case actEnter:
		return w.enter(ctx, p)
	case actRepeat:
		p.Repeated = true
		return w.typePrompt(ctx, p)
	case actTakeBack:
		return w.takeBack(ctx, p)
	case actHold:
		return w.hold(ctx, d.Why, &p)
	case actUnproven:
		return w.unproven(ctx, p, c.Doubt)
	}
	return nil
}

// arrived finishes a prompt that a transcript shows. If no hook has named the transcript yet, the
// chat follows it from its beginning.
func arrived(ctx context.Context, w *work, p Prompt) error {
	if _, followed := w.r.Cursor(); !followed {
		w.r.Cursors = append(w.r.Cursors, transcript.Cursor{Path: markedPath(w, *p.Mark)})
		if err := w.saveAndFollow(ctx); err != nil {
			return err
		}
	}
	return w.proven(ctx, p)
}
