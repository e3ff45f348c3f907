package typing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ccbot/internal/pause"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// The cancel key of an agent ends a turn: see agent.Keys.

// cancelPause is the pause between two presses of the cancel key: two in a row may mean something
// else to the agent.
const cancelPause = 2 * time.Second

// awaitCancelPause waits until the cancel key may be pressed again.
func (w Requests) awaitCancelPause(ctx context.Context) {
	pause.Await(ctx, view.PollInterval, cancelPause, func() bool { return w.s.now().Sub(w.s.recall().cancelledAt) >= cancelPause })
}

// askAboutQueue takes the prompts that wait to be typed out of the queue, and asks the person about
// each of them. A prompt whose text may be in the box is only marked as stopped: clearOwnText asks
// about it later. waited reports whether there was any such prompt.
func (w Requests) askAboutQueue(ctx context.Context) (waited bool, err error) {
	for _, key := range slices.Clone(w.s.r.Prompts) {
		p, err := w.s.ownPrompt(key)
		switch {
		case err != nil: // a prompt that cannot be read is never typed
			continue
		case p.retreats():
			p.Mark.Esc = true
			err = w.s.typist.prompts.SavePrompt(p)
		case p.State == Held:
			err = w.s.askAbout(ctx, p, false)
		default:
			continue
		}
		if err != nil {
			return waited, err
		}
		waited = true
	}
	return waited, nil
}

// stopTurn presses the cancel key, and takes the text that the agent puts back out of the box.
func (w Requests) stopTurn(ctx context.Context) (reported bool, err error) {
	p, err := w.interrupted(ctx)
	if err != nil {
		return false, err
	}
	before := talk.Cursor{Path: w.s.typist.observer.TranscriptPath(*w.s.r), Offset: w.s.typist.observer.TranscriptSize(*w.s.r)}
	interrupted := func() bool { return w.s.term.agent().Proof.HasInterrupt(before) }
	over, lineless := interrupted, p.isLineless(w.s.term.agent().Manners)
	if lineless {
		over = func() bool { return true }
	}
	if err := w.pressCancel(ctx, p); err != nil {
		return false, err
	}
	back := w.s.term.seeBack(ctx, p, w.s.recall().cancelledAt, over)
	if lineless && p.State == "" && !back { // its text may still come
		w.s.noteUnwanted(p)
	}
	switch {
	case back && p.Class == talk.ClassBash: // the message with the command's output says that it was stopped
		w.s.clearUnwanted(ctx, p)
	case back:
		return true, w.s.askAbout(ctx, p, true)
	case w.s.term.Silent:
		return false, view.ErrSilent
	case !w.s.term.IsIdle() && w.s.term.Phase() == talk.PhaseWorking, w.s.term.Screen.Continues:
		return false, w.worksOn()
	}
	return interrupted(), nil
}

// worksOn returns ErrStillWorks, and ErrWorksOn if that was returned before in this turn.
func (w Requests) worksOn() error {
	again := w.s.recall().unstopped
	w.s.remember(func(m *progress) { m.unstopped = true })
	if again {
		return ErrWorksOn
	}
	return ErrStillWorks
}

// refusesCancel returns why the cancel key must not be sent to the pane. It does not ask what the
// agent is doing.
func refusesCancel(v view.View) error {
	switch {
	case v.Silent:
		return view.ErrSilent
	case v.Fate != view.PaneOurs || v.InBackground:
		return view.ErrNoAgent
	case v.DialogOpen(), v.Relayed && !view.IsDialogGone(v): // the request may arrive before its dialog is drawn
		return ErrAsks
	}
	return nil
}

// pressCancel presses the cancel key, if a turn runs or will follow by itself, or if a prompt is
// being typed. That prompt is marked before the key is pressed, and the mark is removed if the key
// was not pressed.
func (w Requests) pressCancel(ctx context.Context, p Prompt) error {
	noted := p.State == Typing && !p.Mark.Esc
	if noted {
		p.Mark.Esc = true
		if err := w.s.typist.prompts.SavePrompt(p); err != nil {
			return err
		}
	}
	w.s.term.Refresh(ctx) // writing to disk and reporting took time
	key, unbound := w.s.term.cancelKey()
	err, pressed := refusesCancel(w.s.term.View), false
	screen := w.s.term.Screen // the presence file is a little older
	rests := (w.s.term.IsIdle() || screen.Background) && !screen.Busy && !screen.Continues
	switch {
	case err != nil:
	case rests && p.State != Typing: // the key would end nothing, now or later
		err = ErrIdle
	case unbound != nil:
		err = unbound
	case rests && key == tmux.KeyInterrupt: // the text is not submitted, and C-c would empty the box: nothing has to be ended
		w.s.remember(func(m *progress) { m.cancelledAt = w.s.now() })
		pressed = true
	default:
		w.s.remember(func(m *progress) { m.cancelledAt = w.s.now() })
		err = w.s.term.send(ctx, key)
		gone := errors.Is(err, tmux.ErrNoPane)
		// After any other error it is unknown whether the key was pressed: it counts as pressed.
		pressed = !gone && !errors.Is(err, tmux.ErrGuard) && !errors.Is(err, tmux.ErrNotSent)
		if gone {
			err = view.ErrNoAgent
		}
	}
	if noted && !pressed {
		p.Mark.Esc = false
		err = errors.Join(err, w.s.typist.prompts.SavePrompt(p))
	}
	return err
}

// interrupted returns the prompt that the cancel key may put back into the box: the prompt being
// typed, otherwise the last one that the agent took. A Prompt without a key means none.
func (w Requests) interrupted(ctx context.Context) (Prompt, error) {
	head, err := w.s.Head()
	if err != nil {
		return Prompt{}, err
	}
	if head.runs(w.s.term.View) { // the screen shows that it runs; the transcript shows it only after its end
		if err := w.s.Finish(ctx, *head); err != nil {
			return Prompt{}, err
		}
		head = nil
	}
	if head != nil && head.State == Typing && head.Mark != nil && !head.retreats() {
		return *head, nil
	}
	last := w.s.LastTaken()
	last.State = "" // its state on disk is finished already
	if shell := w.s.term.Screen.Shell; (last.Class == talk.ClassBash || shell != nil) && !w.s.term.Runs(shell, last.Text) {
		return Prompt{}, nil // a command that a person has typed in the terminal
	}
	return last, nil
}

// clearDraft reports the draft, and then takes it out of the box.
func (w Requests) clearDraft(ctx context.Context) error {
	if _, err := w.s.term.clearKey(); err != nil {
		return err
	}
	before := w.s.term.Screen.Box
	if err := w.s.turn.Notify(ctx, news.DraftCleared{Draft: before.Text}); err != nil {
		return err
	}
	w.s.term.Refresh(ctx)
	if w.s.term.Screen.Box != before { // a person types: the new part was not reported
		return ErrBoxBusy
	}
	if !w.s.term.emptyBox(ctx) || !w.s.term.TypeSafe() {
		return ErrBoxBusy
	}
	return nil
}

// reorder puts a prompt at a place in the queue on disk, after prompts being typed, or in the box.
// The others keep their order.
func (w Requests) reorder(key string, place int) error {
	if !slices.Contains(w.s.r.Prompts, key) {
		return fmt.Errorf("prompt %s is in no queue: %w", key, ErrNoPrompt)
	}
	rest := slices.DeleteFunc(slices.Clone(w.s.r.Prompts), func(k string) bool { return k == key })
	for i, k := range rest {
		if p, err := w.s.ownPrompt(k); err == nil && p.State == Typing {
			place = max(place, i+1)
		}
	}
	now := slices.Insert(rest, place, key)
	if slices.Equal(now, w.s.r.Prompts) {
		return nil
	}
	w.s.r.Prompts = now
	if err := w.s.turn.Save(); err != nil {
		return err
	}
	w.s.turn.At("queue-ordered")
	return nil
}

// refusesNow returns why no turn may be interrupted for a prompt: the key would answer something,
// or the prompt could not be typed afterwards. head is the prompt that may be in the box. It is
// pure.
func refusesNow(v view.View, head *Prompt) error {
	if err := refusesCancel(v); err != nil {
		return err
	}
	box := v.Screen.Box
	own := head != nil && head.State == Typing && head.shows(v)
	switch {
	case v.SubagentTool != "":
		return ErrAsks
	case box.Present && (!box.Empty || box.Bash) && !own:
		return ErrBoxBusy
	}
	return nil
}

// overtake removes the text of a prompt from the box if a turn began before its Enter, so that the
// other prompt is typed first.
func (w Requests) overtake(ctx context.Context, key string) error {
	head, err := w.s.Head()
	if err != nil || head == nil || !head.retreats() || !w.s.term.IsBoxFree() {
		return err
	}
	if err := w.s.clearOwnText(ctx, *head); err != nil {
		return err
	}
	return w.reorder(key, 0)
}
