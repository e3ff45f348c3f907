package typing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
)

// ownPrompt reads a prompt of the session's queue. ErrNoPrompt means that the prompt no longer
// exists, or belongs to another session.
func (w *Session) ownPrompt(key string) (Prompt, error) {
	p, err := w.typist.prompts.Prompt(key)
	if err == nil && p.Session != uuid.Nil && p.Session != w.r.ID {
		err = fmt.Errorf("prompt %s is that of session %s: %w", key, p.Session, ErrNoPrompt)
	}
	return p, err
}

// Head returns the prompt whose turn it is: the first one about which no person has to decide. Keys
// whose prompt is finished are removed from the queue.
func (w *Session) Head() (*Prompt, error) {
	for _, key := range slices.Clone(w.r.Prompts) {
		p, err := w.ownPrompt(key)
		if errors.Is(err, fs.ErrNotExist) {
			if err := w.dequeue(key); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil { // an unreadable prompt must block neither the session nor later prompts
			w.log().Error("prompt_unreadable", logkey.Key, key, logkey.Error, err)
			continue
		}
		if p.State != Unproven {
			return &p, nil
		}
	}
	return nil, nil
}

func (w *Session) dequeue(key string) error {
	w.r.Prompts = slices.DeleteFunc(w.r.Prompts, func(k string) bool { return k == key })
	if err := w.turn.Save(); err != nil {
		return fmt.Errorf("take prompt %s out of the queue: %w", key, err)
	}
	return nil
}

// enqueue appends the prompts that are not in the session's queue yet. It is the only way into the
// queue.
func (w *Session) enqueue(keys ...string) error {
	if !w.r.Enqueue(keys...) {
		return nil
	}
	return w.turn.Save()
}

func (w *Session) promptIn(key string, state PromptState) (Prompt, error) {
	p, err := w.ownPrompt(key)
	switch {
	case err != nil:
		return p, fmt.Errorf("prompt %s: %w", key, err)
	case p.State != state:
		return p, fmt.Errorf("prompt %s, which is %s and not %s: %w", key, p.State, state, ErrNoPrompt)
	}
	return p, nil
}

// hold reports why the head prompt waits, once per prompt and reason. If the agent waits for a
// person's answer, this is reported for every prompt, because nothing else moves the queue. A head
// whose Enter was pressed does not wait: it may have caused the question.
func (w *Session) hold(ctx context.Context, why news.Wait, head *Prompt) error {
	var all []Prompt
	if head.IsWaiting() || why == news.HeldSmall { // its text may be in the box that is not shown
		all = append(all, *head)
	}
	if why == news.HeldDialog {
		for _, key := range w.r.Prompts { // an unreadable prompt is logged in its turn
			if p, err := w.ownPrompt(key); err == nil && p.State == Held && key != head.Key {
				all = append(all, p)
			}
		}
	}
	n := news.Held{Why: why, Now: view.Doing(w.term.View, w.r.Progress.Failed)}
	if why == news.HeldKeys {
		n.File, n.Binding = w.term.unsent()
	}
	for _, p := range all {
		if slices.Contains(p.Reported, why) || w.term.Silent && w.recall().silent == p.Key {
			continue
		}
		n.Prompt = p.forNews()
		if err := w.turn.Notify(ctx, n); err != nil {
			return err
		}
		if w.term.Silent { // the reason was not seen: the report is not noted on disk
			w.remember(func(m *progress) { m.silent = p.Key })
			continue
		}
		p.Reported = append(slices.Clone(p.Reported), why)
		if err := w.typist.prompts.SavePrompt(p); err != nil {
			return err
		}
	}
	return nil
}

// Finish finishes a prompt that the agent has taken. The prompt is finished before its key leaves
// the queue: a crash in between leaves a key without a prompt, which is harmless.
func (w *Session) Finish(ctx context.Context, p Prompt) error {
	w.remember(func(m *progress) { m.last = p })
	if w.r.Unfinished() != nil { // the work that was interrupted continues
		w.r.Interruption.Followed = true
		if err := w.turn.Save(); err != nil {
			return err
		}
	}
	if err := w.turn.Notify(ctx, news.Delivered{Prompt: p.forNews()}); err != nil {
		return err
	}
	if err := w.typist.prompts.FinishPrompt(p.Key); err != nil {
		return err
	}
	w.turn.At("prompt-finished")
	w.turn.Wake()
	return w.dequeue(p.Key)
}

// unproven hands a prompt to the person: it is never typed again unless the person asks for it. why
// is the doubt that prevents ccbot from deciding; empty means that no proof came.
func (w *Session) unproven(ctx context.Context, p Prompt, why string) error {
	w.log().Warn("prompt_unproven", logkey.SessionID, w.r.ID.String(), logkey.Key, p.Key, logkey.Why, cmp.Or(why, doubtNone))
	if err := w.turn.Notify(ctx, news.Unproven{Prompt: p.forNews(), InBox: w.term.holds(ctx, p)}); err != nil {
		return err
	}
	p.State = Unproven
	w.turn.Wake()
	return w.typist.prompts.SavePrompt(p)
}

// settlePrompt decides about a typed prompt whose agent is gone or whose mark is useless: either
// the transcript has it, or a person decides.
func (w *Session) settlePrompt(ctx context.Context, p Prompt) error {
	found, err := w.seek(ctx, p)
	if found || err != nil {
		return err
	}
	if w.term.Refresh(ctx); p.runs(w.term.View) { // otherwise the text may be in the box
		return w.Finish(ctx, p)
	}
	return w.unproven(ctx, p, "the agent is gone")
}

// SettlePrompts asks the transcript once more about the prompts that were being typed when the
// agent ended, except the one that has ended the agent.
func (w *Session) SettlePrompts(ctx context.Context, but ...string) error {
	for _, key := range append([]string(nil), w.r.Prompts...) {
		p, err := w.ownPrompt(key)
		if err != nil || p.State != Typing || slices.Contains(but, key) {
			continue
		}
		if err := w.settlePrompt(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// SeekProof looks for the proof that the prompt which has opened a dialog was taken: the dialog
// may be visible before any hook or transcript mentions the prompt.
func (w *Session) SeekProof(ctx context.Context, head *Prompt) error {
	if !head.IsEntered() {
		return nil
	}
	_, err := w.seek(ctx, *head)
	return err
}

// seek finishes a typed prompt if a transcript shows it.
func (w *Session) seek(ctx context.Context, p Prompt) (found bool, err error) {
	if p.Mark == nil {
		return false, nil // a file that was edited
	}
	trace, err := w.traceOf(p)
	if err != nil {
		w.log().Warn("proof_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
	}
	if !trace.Arrived {
		return false, nil
	}
	return true, w.arrived(ctx, p)
}

// Receive takes a UserPromptSubmit as proof of the prompt being typed, otherwise of a prompt that
// waits for a person's decision.
func (w *Session) Receive(ctx context.Context, e hookwire.Event) error {
	if w.term.agent().Delivery != nil {
		return nil // only the receipt proves which text it was
	}
	for _, state := range []PromptState{Typing, Unproven} {
		for _, key := range w.r.Prompts {
			p, err := w.ownPrompt(key) // an unreadable prompt is logged in its turn
			if err == nil && p.State == state && p.Mark != nil && e.Received.After(p.Mark.At) && w.proves(e.Prompt, p) {
				return w.Finish(ctx, p)
			}
		}
	}
	return nil
}

// proves reports whether a submitted text is the prompt. If ccbot has stopped waiting for the
// proof, the whole text must match: a text that is typed in the terminal later may happen to
// contain the prompt.
func (w *Session) proves(submitted string, p Prompt) bool {
	return w.term.agent().Proof.Matches(submitted, p.Text, p.State == Unproven)
}
