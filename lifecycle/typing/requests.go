package typing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

// Requests carries out what people decide about prompts.
type Requests struct{ s *Session }

// Requests returns what people decide about prompts.
func (w *Session) Requests() Requests { return Requests{w} }

// Queue puts a prompt at the end of the queue, and types it at once if it is alone there and
// mayType allows it for the prompt as read from the disk. Then the next save of the record is early
// enough: a start finds the session in the prompt. Otherwise the prompt is held.
func (w Requests) Queue(ctx context.Context, o talk.Offer, mayType func(*Prompt) bool) error {
	if len(w.s.r.Prompts) == 0 && w.s.r.State == session.Running {
		w.s.r.Enqueue(o.Key)
		w.s.turn.Keep()
		if w.typeAtOnce(ctx, o, mayType) {
			return nil
		}
		if err := w.s.turn.Save(); err != nil {
			return err
		}
	} else if err := w.s.enqueue(o.Key); err != nil {
		return err
	}
	w.s.turn.At("prompt-saved")
	p, err := w.s.typist.prompts.Accept(o, w.s.r.ID)
	if err != nil {
		return err
	}
	return w.s.typist.prompts.SavePrompt(p)
}

// typeAtOnce types a prompt that is alone in its queue, and reports whether its mark is on disk:
// then the mark alone has the progress, and the prompt need not be saved as held first. Otherwise,
// also after an error, the next step continues.
func (w Requests) typeAtOnce(ctx context.Context, o talk.Offer, mayType func(*Prompt) bool) (marked bool) {
	p, err := w.s.typist.prompts.Accept(o, w.s.r.ID)
	if err != nil || !mayType(&p) {
		return false
	}
	if err := w.s.typePrompt(ctx, p); err != nil {
		w.s.log().Warn("session_step_failed", logkey.SessionID, w.s.r.ID.String(), logkey.Error, err)
	}
	_, err = w.s.typist.prompts.Prompt(o.Key)
	return err == nil
}

// SendAgain types an unproven prompt again when that is safe. A crash between paste and Enter may
// have left the text in the box, so it is treated as a paste to take back: the box is emptied
// first. It follows a prompt being typed, or in the box.
func (w Requests) SendAgain(ctx context.Context, key string) error {
	p, err := w.s.promptIn(key, Unproven)
	if err != nil {
		return err
	}
	if !w.s.r.State.Live() {
		return fmt.Errorf("send again: %w", view.ErrNoAgent)
	}
	if w.s.term.Refresh(ctx); w.s.term.Silent { // the box may have something to take back
		return view.ErrSilent
	}
	if w.s.term.ByCall || w.s.term.IsBoxFree() && !w.s.term.holds(ctx, p) { // the box has nothing to take back
		p.State, p.Reported, p.Mark = Held, nil, nil
	} else {
		p.State, p.Reported, p.Mark = Typing, nil, w.s.mark()
		p.Mark.Retreat = true
	}
	if err := w.s.enqueue(key); err != nil {
		return err
	}
	if err := w.reorder(key, slices.Index(w.s.r.Prompts, key)); err != nil {
		return err
	}
	return w.s.typist.prompts.SavePrompt(p)
}

// Drop abandons an unproven prompt. If its text still is in the box, it is removed there.
func (w Requests) Drop(ctx context.Context, key string) error {
	p, err := w.s.promptIn(key, Unproven)
	if err != nil {
		return err
	}
	if w.s.term.Refresh(ctx); w.s.term.Silent {
		return view.ErrSilent
	}
	if w.s.term.holds(ctx, p) {
		w.s.term.emptyBox(ctx)
	}
	if err := w.s.typist.prompts.FinishPrompt(key); err != nil {
		return err
	}
	return w.s.dequeue(key)
}

// Withdraw takes a held prompt out of the queue and finishes it.
func (w Requests) Withdraw(key string, number int64) error {
	if _, err := w.s.promptIn(key, Held); err != nil {
		return err
	}
	if !slices.Contains(w.s.r.Prompts, key) {
		return fmt.Errorf("prompt %s is in no queue: %w", key, ErrNoPrompt)
	}
	if err := w.s.typist.prompts.Withdraw(key, number); err != nil {
		return fmt.Errorf("withdraw prompt %s: %w", key, err)
	}
	return w.s.dequeue(key)
}

// Reword changes the text of a held prompt.
func (w Requests) Reword(key string, number int64, text string, class talk.PromptClass) error {
	if _, err := w.s.promptIn(key, Held); err != nil {
		return err
	}
	w.s.Reworded = true
	return w.s.typist.prompts.Reword(key, number, text, class)
}

// Reconcile makes the queue and the prompts on disk agree after a restart. keys are the prompts on
// disk that belong to the session, in order.
func (w Requests) Reconcile(ctx context.Context, keys []string) error {
	if err := w.s.enqueue(keys...); err != nil {
		return err
	}
	for _, key := range slices.Clone(w.s.r.Prompts) {
		p, err := w.s.ownPrompt(key)
		if errors.Is(err, fs.ErrNotExist) {
			err = w.s.dequeue(key)
		} else if err == nil && p.State == Typing && !w.s.r.State.Live() {
			err = w.s.settlePrompt(ctx, p) // the prompts of a live session are decided by the next steps
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SendAnyway types a prompt that waits for a person's draft. The draft is reported before it is
// removed, and the box is proven empty before the prompt is typed.
func (w Requests) SendAnyway(ctx context.Context, key string) error {
	head, err := w.s.Head()
	if err != nil {
		return err
	}
	if head == nil || head.Key != key || head.State != Held {
		return fmt.Errorf("send prompt %s anyway: %w", key, ErrNoPrompt)
	}
	if err := w.s.typist.observer.CheckUnread(*w.s.r); err != nil {
		return err
	}
	w.s.term.Refresh(ctx)
	switch {
	case w.s.term.Silent:
		return view.ErrSilent
	case w.s.r.State != session.Running || !view.TakesKeys(*w.s.r, w.s.term.View):
		return ErrBoxBusy
	case w.s.term.TypeSafe():
		return nil // the draft is gone: the next step types the prompt
	case !w.s.term.IsBoxFree() || w.s.term.Screen.Box.Bash:
		return ErrBoxBusy
	case !w.s.term.Screen.Box.Whole:
		return ErrDraftHidden
	}
	if err := w.clearDraft(ctx); err != nil || w.s.r.ModeRequest != nil {
		return err // the next step types the prompt, after what was wanted before it
	}
	return w.s.typePrompt(ctx, *head)
}

// LeaveView leaves the view of a window that is scrolled back, for a held prompt. No key is sent.
func (w Requests) LeaveView(ctx context.Context, key string) error {
	if _, err := w.s.promptIn(key, Held); err != nil {
		return err
	}
	w.s.term.Refresh(ctx)
	switch {
	case w.s.term.Silent:
		return view.ErrSilent
	case w.s.r.State != session.Running || !view.InFront(*w.s.r, w.s.term.View):
		return ErrBoxBusy
	case !w.s.term.Pane.InMode:
		return nil // the person has left it
	}
	return w.s.term.leaveView(ctx)
}

// ToFront moves a held prompt before all other waiting prompts. A prompt being typed, or in the
// box, stays first.
func (w Requests) ToFront(key string) error {
	if _, err := w.s.promptIn(key, Held); err != nil {
		return err
	}
	return w.reorder(key, 0)
}

// SendNow types a held prompt next and interrupts the running turn for it. The order is on disk
// before the cancel key is pressed. reported is as in Interrupt, and true if nothing was
// interrupted. No turn is interrupted for a prompt that a person is asked about first, see IsAtBorder.
func (w Requests) SendNow(ctx context.Context, key string) (reported bool, err error) {
	p, err := w.s.promptIn(key, Held)
	if err != nil {
		return true, err
	}
	if !w.s.r.State.Live() {
		return true, view.ErrNoAgent
	}
	if err := w.s.typist.observer.CheckUnread(*w.s.r); err != nil {
		return true, err
	}
	w.awaitCancelPause(ctx)
	w.s.term.Refresh(ctx)
	if w.s.r.State != session.Running || w.s.term.TypeSafe() { // no turn is in the way
		return true, w.reorder(key, 0)
	}
	head, err := w.s.Head()
	if err != nil {
		return true, err
	}
	if err := refusesNow(w.s.term.View, head); err != nil {
		return true, err
	}
	if w.s.IsAtBorder(p) {
		return true, w.s.AskAtBorder(ctx, p)
	}
	if err := w.reorder(key, 0); err != nil {
		return true, err
	}
	if reported, err = w.stopTurn(ctx); errors.Is(err, ErrIdle) { // it has just ended
		reported, err = true, nil
	}
	w.s.turn.At("turn-interrupted")
	return reported, errors.Join(err, w.overtake(ctx, key))
}

// Interrupt takes the waiting prompts out of the queue and asks the person about them, presses the
// cancel key once, and waits for the end of the turn. reported means that the chat already shows
// what was stopped.
func (w Requests) Interrupt(ctx context.Context) (reported bool, err error) {
	w.awaitCancelPause(ctx)
	w.s.term.Refresh(ctx)
	if err := refusesCancel(w.s.term.View); err != nil {
		return false, err
	}
	waited, failed := w.askAboutQueue(ctx) // the cancel key is pressed also if this failed
	reported, stopped := w.stopTurn(ctx)
	if waited && errors.Is(stopped, ErrIdle) {
		reported, stopped = true, nil // the queue was stopped
	}
	return reported, cmp.Or(failed, stopped) // nothing else would report that the queue could not be emptied
}

// EndTurn is Interrupt for a turn alone: the queue stays as it is, and so does a prompt that is
// being typed while no turn runs.
func (w Requests) EndTurn(ctx context.Context) error {
	w.awaitCancelPause(ctx)
	w.s.term.Refresh(ctx)
	if err := refusesCancel(w.s.term.View); err != nil {
		return err
	}
	if w.s.term.Phase() != talk.PhaseWorking {
		return ErrIdle
	}
	_, err := w.stopTurn(ctx)
	return err
}

// Halt removes all waiting prompts from the queue, and asks the person about each. It presses no
// key.
func (w Requests) Halt(ctx context.Context) error {
	_, err := w.askAboutQueue(ctx)
	return err
}
