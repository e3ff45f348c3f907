package lifecycle

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

// Queues are the verbs of a Service that are about prompts.
type Queues struct{ core *core }

// Queues returns the verbs that are about prompts.
func (s *Service) Queues() Queues { return Queues{s.core} }

// Wake asks for a step of a session: something about it may have changed.
func (q Queues) Wake(id uuid.UUID) { q.core.agenda.wake(id) }

// Queue puts an offered prompt at the end of the session's queue, and has it held there, or typed
// at once if Run runs and nothing is in the way. While the prompt is not held, the queue treats it
// as absent, so the chat may offer it again, also to another session. Calling Queue again does
// nothing. typing.ErrNoPrompt means that the prompt is typed, or finished.
func (q Queues) Queue(ctx context.Context, id uuid.UUID, o talk.Offer) error {
	return q.accept(ctx, id, o, false)
}

// Keep is like Queue, and also accepts a session that has ended: the prompt waits until the session
// is back.
func (q Queues) Keep(ctx context.Context, id uuid.UUID, o talk.Offer) error {
	return q.accept(ctx, id, o, true)
}

func (q Queues) accept(ctx context.Context, id uuid.UUID, o talk.Offer, over bool) error {
	return q.core.change(ctx, id, func(w *work) error {
		if !over && !w.r.State.Live() {
			return fmt.Errorf("queue: %w", view.ErrNoAgent)
		}
		budget := w.r.Budget
		err := w.prompts.Requests().Queue(ctx, o, func(p *typing.Prompt) bool { return q.mayType(ctx, w, p) })
		if err == nil {
			err = w.returnBudget(budget, o.Key)
		}
		return err
	})
}

// mayType reports whether a step would type a prompt now, and uses up what its budget has left. If
// Run does not run, it would not, because no one would process the proof.
func (q Queues) mayType(ctx context.Context, w *work, p *typing.Prompt) bool {
	if !q.core.running.Load() || w.r.State != session.Running || w.r.Binding == nil || w.look(ctx, p) != nil {
		return false
	}
	d, err := w.useBudget(decide(*w.r, w.term.View, p), p)
	return err == nil && d.Act == Do(typing.Type)
}

// SendAgain types an unproven prompt again when that is safe, by a person's decision. A crash
// between paste and Enter may have left the text in the box, so it is treated as a paste to take
// back: the box is emptied first.
func (q Queues) SendAgain(ctx context.Context, id uuid.UUID, key string) error {
	return q.core.change(ctx, id, func(w *work) error { return w.prompts.Requests().SendAgain(ctx, key) })
}

// Drop abandons an unproven prompt, because a person has decided so. If its text still is in the
// box, it is removed there.
func (q Queues) Drop(ctx context.Context, id uuid.UUID, key string) error {
	return q.core.change(ctx, id, func(w *work) error { return w.prompts.Requests().Drop(ctx, key) })
}

// TakeBack takes a prompt back, because the chat decides about it again, see talk.PromptEdits. It
// waits for no turn of the session: news of the session may lead to it.
func (q Queues) TakeBack(_ context.Context, id uuid.UUID, key string, number int64, held bool) error {
	defer q.Wake(id)
	return q.core.deps.Typist.TakeBack(key, number, held)
}

// Withdraw takes a held prompt out of the queue and finishes it, because a person has used its text
// in another way. typing.ErrNoPrompt means that the prompt is no longer held, or belongs to another
// session.
func (q Queues) Withdraw(ctx context.Context, id uuid.UUID, key string, number int64) error {
	return q.core.change(ctx, id, func(w *work) error { return w.prompts.Requests().Withdraw(key, number) })
}

// Reword changes the text of a held prompt, because the person has edited the message.
// typing.ErrNoPrompt means that the prompt is no longer held: it may have been typed.
func (q Queues) Reword(ctx context.Context, id uuid.UUID, key string, number int64, text string, class talk.PromptClass) error {
	return q.core.change(ctx, id, func(w *work) error { return w.prompts.Requests().Reword(key, number, text, class) })
}

// SettlePrompts makes the session's queue and the prompts on disk agree after a restart. keys are
// the prompts on disk that belong to the session, in order. If a prompt was being typed to an agent
// that is gone, SettlePrompts looks for it in the transcript, and reports it if it is not found.
func (q Queues) SettlePrompts(ctx context.Context, id uuid.UUID, keys []string) error {
	return q.core.change(ctx, id, func(w *work) error { return w.prompts.Requests().Reconcile(ctx, keys) })
}

// SendAnyway types a prompt that waits for a person's draft, by a decision in the chat. The draft
// is reported before it is removed, and the box is proven empty before the prompt is typed.
// typing.ErrBoxBusy means that a dialog, a turn, bash mode or a typing person is in the way;
// typing.ErrDraftHidden that the draft cannot be reported in full; typing.ErrNoPrompt that the
// prompt no longer waits there.
func (q Queues) SendAnyway(ctx context.Context, id uuid.UUID, key string) error {
	return q.core.change(ctx, id, func(w *work) error { return w.prompts.Requests().SendAnyway(ctx, key) })
}

// LeaveView leaves the view of a window that is scrolled back, because the person in the chat has
// decided so. No key is sent; the next step types the prompt that waits there, if nothing else is
// in the way. typing.ErrBoxBusy means that another mode is open, or that the agent is not in front;
// typing.ErrNoPrompt that the prompt no longer waits there.
func (q Queues) LeaveView(ctx context.Context, id uuid.UUID, key string) error {
	return q.core.change(ctx, id, func(w *work) error { return w.prompts.Requests().LeaveView(ctx, key) })
}

// ToFront moves a held prompt before all other waiting prompts, by a person's decision. A prompt
// being typed, or in the box, stays first. typing.ErrNoPrompt means that the prompt is no longer
// held, or belongs to another session.
func (q Queues) ToFront(ctx context.Context, id uuid.UUID, key string) error {
	return q.core.change(ctx, id, func(w *work) error { return w.prompts.Requests().ToFront(key) })
}

// SendNow types a held prompt next and interrupts the running turn for it, by a person's decision.
// The order is on disk before the cancel key is pressed. The next steps then type the prompt as
// usual, and after it the rest of the queue. The stopped work is treated as in Interrupt; reported
// is the same as there, and true if nothing was interrupted.
//
// typing.ErrAsks means that a dialog is open, or a subagent asks in the chat; typing.ErrBoxBusy
// that a draft is in the box. Then no key was pressed, and the order is unchanged unless the dialog
// opened between the check and the key. After typing.ErrStillWorks the prompt is the next one.
// typing.ErrNoPrompt means that it is no longer held.
func (q Queues) SendNow(ctx context.Context, id uuid.UUID, key string) (reported bool, err error) {
	reported = true // also if it comes to no turn of the worker
	err = q.core.change(ctx, id, func(w *work) (err error) {
		reported, err = w.prompts.Requests().SendNow(ctx, key)
		return err
	})
	return reported, err
}

// EndTurn presses the cancel key once, and waits until the turn has ended. The queue stays as it
// is. typing.ErrIdle means that no turn runs, typing.ErrAsks that the key would answer an open
// dialog.
func (q Queues) EndTurn(ctx context.Context, id uuid.UUID) error {
	return q.core.ask(ctx, id, func(w *work) error { return w.prompts.Requests().EndTurn(ctx) })
}

// Halt removes all waiting prompts from the queue, and asks the person about each. It presses no
// key: stopping the agent is a separate decision.
func (q Queues) Halt(ctx context.Context, id uuid.UUID) error {
	return q.core.ask(ctx, id, func(w *work) error { return w.prompts.Requests().Halt(ctx) })
}
