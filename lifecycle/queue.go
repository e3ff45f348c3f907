package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

// Queues are the verbs of a Service that are about prompts.
type Queues struct{ kit *kit }

// Queues returns the verbs that are about prompts.
func (s *Service) Queues() Queues { return Queues{s.kit} }

// Wake asks for a step of a session: something about it may have changed.
func (q Queues) Wake(id uuid.UUID) { q.kit.agenda.wake(id) }

// Queue puts a prompt that is on disk at the end of the session's queue, and has it held there, or
// typed at once if Run runs and nothing is in the way. The record is written first. While the
// prompt is not held, the queue treats it as absent, so the owner of the prompt may queue it again,
// also for another session. Calling Queue again does nothing. ErrNoPrompt means that the prompt is
// typed, or finished.
func (q Queues) Queue(ctx context.Context, id uuid.UUID, key string) error {
	return q.accept(ctx, id, key, false)
}

// Keep is like Queue, and also accepts a session that has ended: the prompt waits until the session
// is back.
func (q Queues) Keep(ctx context.Context, id uuid.UUID, key string) error {
	return q.accept(ctx, id, key, true)
}

func (q Queues) accept(ctx context.Context, id uuid.UUID, key string, over bool) error {
	return q.kit.change(ctx, id, func(w *work) error {
		if !over && !w.r.State.Live() {
			return fmt.Errorf("queue: %w", view.ErrNoAgent)
		}
		alone := len(w.r.Prompts) == 0
		if err := w.prompts.enqueue(key); err != nil {
			return err
		}
		w.at("prompt-saved")
		if alone && q.typeAtOnce(ctx, w, key) {
			return nil
		}
		return w.prompts.Prompts.HoldPrompt(key, w.r.ID)
	})
}

// typeAtOnce types a prompt that is alone in its queue, if a step would do that now, and reports
// whether its mark is on disk: then the mark alone has the progress, and the prompt need not be
// saved as held first. Otherwise, also after an error, the next step continues. If Run does not
// run, it types nothing, because no one would process the proof.
func (q Queues) typeAtOnce(ctx context.Context, w *work, key string) (marked bool) {
	if !q.kit.running.Load() || w.r.State != session.Running || w.r.Binding == nil {
		return false
	}
	p, err := w.prompts.Prompts.NewPrompt(key, w.r.ID)
	if err != nil || w.look(ctx, &p) != nil || decide(*w.r, w.term.View, &p).Act != actType {
		return false
	}
	if err := w.prompts.typePrompt(ctx, p); err != nil {
		w.Log.Warn("session_step_failed", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
	}
	_, err = w.prompts.Prompts.Prompt(key)
	return err == nil
}

// SendAgain types an unproven prompt again when that is safe, by a person's decision. A crash
// between paste and Enter may have left the text in the box, so it is treated as a paste to take
// back: the box is emptied first.
func (q Queues) SendAgain(ctx context.Context, id uuid.UUID, key string) error {
	return q.resolve(ctx, id, key, Unproven, func(w *work, p Prompt) error {
		if !w.r.State.Live() {
			return fmt.Errorf("send again: %w", view.ErrNoAgent)
		}
		if w.term.look(ctx); w.term.Silent { // the box may have something to take back
			return view.ErrSilent
		}
		if w.term.IsBoxFree() && !w.term.holds(ctx, p) { // the box has nothing to take back
			p.State, p.Told, p.Mark = Held, nil, nil
		} else {
			p.State, p.Told, p.Mark = Typing, nil, w.prompts.mark()
			p.Mark.Retreat = true
		}
		if err := w.prompts.Prompts.SavePrompt(p); err != nil {
			return err
		}
		return w.prompts.enqueue(key)
	})
}

// Drop returns up an unproven prompt, because a person has decided so. If its text still is in the
// box, it is removed there.
func (q Queues) Drop(ctx context.Context, id uuid.UUID, key string) error {
	return q.resolve(ctx, id, key, Unproven, func(w *work, p Prompt) error {
		if w.term.look(ctx); w.term.Silent {
			return view.ErrSilent
		}
		if w.term.holds(ctx, p) {
			w.term.emptyBox(ctx)
		}
		if err := w.prompts.Prompts.FinishPrompt(key); err != nil {
			return err
		}
		return w.prompts.dequeue(key)
	})
}

// Withdraw takes a held prompt out of the queue and finishes it, because a person has used its text
// in another way. ErrNoPrompt means that the prompt is no longer held, or belongs to another
// session.
func (q Queues) Withdraw(ctx context.Context, id uuid.UUID, key string) error {
	return q.resolve(ctx, id, key, Held, func(w *work, _ Prompt) error {
		if !slices.Contains(w.r.Prompts, key) {
			return fmt.Errorf("prompt %s is in no queue: %w", key, ErrNoPrompt)
		}
		if err := w.prompts.Prompts.FinishPrompt(key); err != nil {
			return fmt.Errorf("withdraw prompt %s: %w", key, err)
		}
		return w.prompts.dequeue(key)
	})
}

// Reword returns a held prompt another text, because the person has edited the message. ErrNoPrompt
// means that the prompt is no longer held: it may have been typed.
func (q Queues) Reword(ctx context.Context, id uuid.UUID, key, text string, class talk.PromptClass) error {
	return q.kit.change(ctx, id, func(w *work) error {
		p, err := w.prompts.promptIn(key, Held)
		if err != nil {
			return err
		}
		p.Text, p.Class, w.prompts.reworded = text, class, true
		return w.prompts.Prompts.SavePrompt(p)
	})
}

// resolve calls change with a prompt of the session, on the session's worker. ErrNoPrompt means
// that the prompt is not in the given state.
func (q Queues) resolve(ctx context.Context, id uuid.UUID, key string, state PromptState,
	change func(*work, Prompt) error) error {
	return q.kit.change(ctx, id, func(w *work) error {
		p, err := w.prompts.promptIn(key, state)
		if err != nil {
			return err
		}
		return change(w, p)
	})
}

// SettlePrompts makes the session's queue and the prompts on disk agree after a restart. keys are
// the prompts on disk that belong to the session, in order. If a prompt was being typed to an agent
// that is gone, SettlePrompts looks for it in the transcript, and reports it if it is not found.
func (q Queues) SettlePrompts(ctx context.Context, id uuid.UUID, keys []string) error {
	return q.kit.change(ctx, id, func(w *work) error {
		if err := w.prompts.enqueue(keys...); err != nil {
			return err
		}
		for _, key := range slices.Clone(w.r.Prompts) {
			p, err := w.prompts.ownPrompt(key)
			if errors.Is(err, fs.ErrNotExist) {
				err = w.prompts.dequeue(key)
			} else if err == nil && p.State == Typing && !w.r.State.Live() {
				err = w.prompts.settlePrompt(ctx, p) // the prompts of a live session are decided by the next steps
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// SendAnyway types a prompt that waits for a person's draft, by a decision in the chat. The draft
// is reported before it is removed, and the box is proven empty before the prompt is typed.
// ErrBoxBusy means that a dialog, a turn, bash mode or a typing person is in the way;
// ErrDraftHidden that the draft cannot be reported in full; ErrNoPrompt that the prompt no longer
// waits there.
func (q Queues) SendAnyway(ctx context.Context, id uuid.UUID, key string) error {
	return q.kit.change(ctx, id, func(w *work) error {
		head, err := w.prompts.head()
		if err != nil {
			return err
		}
		if head == nil || head.Key != key || head.State != Held {
			return fmt.Errorf("send prompt %s anyway: %w", key, ErrNoPrompt)
		}
		if err := w.Observer.CheckUnread(*w.r); err != nil {
			return err
		}
		w.term.look(ctx)
		switch {
		case w.term.Silent:
			return view.ErrSilent
		case w.r.State != session.Running || !view.TakesKeys(*w.r, w.term.View):
			return ErrBoxBusy
		case w.term.TypeSafe():
			return nil // the draft is gone: the next step types the prompt
		case !w.term.IsBoxFree() || w.term.Screen.Box.Bash:
			return ErrBoxBusy
		case !w.term.Screen.Box.Whole():
			return ErrDraftHidden
		}
		if err := w.prompts.clearDraft(ctx); err != nil || w.r.Wish != nil {
			return err // the next step types the prompt, after what was wanted before it
		}
		return w.prompts.typePrompt(ctx, *head)
	})
}

// LeaveView leaves the view of a window that is scrolled back, because the person in the chat has
// decided so. No key is sent; the next step types the prompt that waits there, if nothing else is
// in the way. ErrBoxBusy means that another mode is open, or that the agent is not in front;
// ErrNoPrompt that the prompt no longer waits there.
func (q Queues) LeaveView(ctx context.Context, id uuid.UUID, key string) error {
	return q.resolve(ctx, id, key, Held, func(w *work, _ Prompt) error {
		w.term.look(ctx)
		switch {
		case w.term.Silent:
			return view.ErrSilent
		case w.r.State != session.Running || !view.InFront(*w.r, w.term.View):
			return ErrBoxBusy
		case !w.term.Pane.InMode:
			return nil // the person has left it
		}
		return w.term.leaveView(ctx)
	})
}

// ToFront moves a held prompt before all other waiting prompts, by a person's decision. A prompt
// being typed, or in the box, stays first. ErrNoPrompt means that the prompt is no longer held, or
// belongs to another session.
func (q Queues) ToFront(ctx context.Context, id uuid.UUID, key string) error {
	return q.resolve(ctx, id, key, Held, func(w *work, _ Prompt) error { return w.prompts.toFront(key) })
}

// SendNow types a held prompt next and interrupts the running turn for it, by a person's decision.
// The order is on disk before Esc is pressed. The next steps then type the prompt as usual, and
// after it the rest of the queue. The stopped work is treated as in Interrupt; told is the same as
// there, and true if nothing was interrupted.
//
// ErrAsks means that a dialog is open, or a subagent asks in the chat; ErrBoxBusy that a draft is
// in the box. Then no key was pressed, and the order is unchanged unless the dialog opened between
// the check and Esc. After ErrStillWorks the prompt is the next one. ErrNoPrompt means that it is
// no longer held.
func (q Queues) SendNow(ctx context.Context, id uuid.UUID, key string) (told bool, err error) {
	told = true
	err = q.resolve(ctx, id, key, Held, func(w *work, _ Prompt) error {
		if !w.r.State.Live() {
			return view.ErrNoAgent
		}
		if err := w.Observer.CheckUnread(*w.r); err != nil {
			return err
		}
		w.prompts.awaitEscPause(ctx)
		w.term.look(ctx)
		if w.r.State != session.Running || w.term.TypeSafe() { // no turn is in the way
			return w.prompts.toFront(key)
		}
		head, err := w.prompts.head()
		if err != nil {
			return err
		}
		if err := refusesNow(w.term.View, head); err != nil {
			return err
		}
		if err := w.prompts.toFront(key); err != nil {
			return err
		}
		if told, err = w.prompts.stopTurn(ctx); errors.Is(err, ErrIdle) { // it has just ended
			told, err = true, nil
		}
		w.at("turn-interrupted")
		return errors.Join(err, w.prompts.overtake(ctx, key))
	})
	return told, err
}

// Halt removes all waiting prompts from the queue, and asks the person about each. It presses no
// key: stopping the agent is a separate decision.
func (q Queues) Halt(ctx context.Context, id uuid.UUID) error {
	return q.kit.ask(ctx, id, func(w *work) error {
		_, err := w.prompts.askAboutQueue(ctx)
		return err
	})
}
