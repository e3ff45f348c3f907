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
	"ccbot/internal/transcript"
)

// Queue puts a prompt that is on disk at the end of the session's queue, and has it held there, or
// typed at once if Run runs and nothing is in the way. The record is written first. While the prompt
// is not held, the queue treats it as absent, so the owner of the prompt may queue it again, also for
// another session. Calling Queue again does nothing. ErrNoPrompt means that the prompt is typed,
// or finished.
func (s *Service) Queue(ctx context.Context, id uuid.UUID, key string) error {
	return accept(ctx, s, id, key, false)
}

// Keep is like Queue, and also accepts a session that is over: the prompt waits until the session
// is back.
func (s *Service) Keep(ctx context.Context, id uuid.UUID, key string) error {
	return accept(ctx, s, id, key, true)
}

func accept(ctx context.Context, s *Service, id uuid.UUID, key string, over bool) error {
	return inQueue(ctx, s, id, []string{key}, func(w *work) error {
		if !over && !w.r.State.Live() {
			return fmt.Errorf("queue: %w", ErrNoAgent)
		}
		alone := len(w.r.Prompts) == 0
		if err := w.enqueue(key); err != nil {
			return err
		}
		w.at("prompt-saved")
		if alone && typeAtOnce(ctx, w, key) {
			return nil
		}
		if err := w.Prompts.HoldPrompt(key, w.r.ID); err != nil {
			return fmt.Errorf("hold prompt %s: %w", key, err)
		}
		return nil
	})
}

// typeAtOnce types a prompt that is the only one of its queue, if a step would do that now, and says
// whether its mark is on disk: then the mark alone says how far it is, and nobody has to write first
// that it is held. Everything else, also an error, is left to the next step. Where Run does not run
// nothing is typed: nobody would take up the proof.
func typeAtOnce(ctx context.Context, w *work, key string) (marked bool) {
	if !w.running.Load() || w.r.State != session.Running || w.r.Binding == nil {
		return false
	}
	if _, half := w.halfMoved(*w.r); half {
		return false
	}
	p, err := w.Prompts.NewPrompt(key, w.r.ID)
	if err != nil || look(ctx, w, &p) != nil || decide(*w.r, w.term.View, &p).Act != actType {
		return false
	}
	if err := w.typePrompt(ctx, p); err != nil {
		w.Log.Warn("session_step_failed", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
	}
	_, err = w.Prompts.Prompt(key)
	return err == nil
}

// inQueue changes prompts of a session. If the session was handed over, the prompts move to its
// successor first, and the change is made there.
func inQueue(ctx context.Context, s *Service, id uuid.UUID, keys []string,
	change func(*work) error) error {
	defer s.Wake(id)
	return s.kit.do(ctx, id, func(w *work) error {
		to, moved := session.Record{}, w.r.HandedOver()
		if moved {
			to, moved = w.successor(id)
		}
		if !moved { // or its successor was purged
			return change(w)
		}
		for _, key := range keys {
			if err := w.Prompts.MovePrompt(key, to.ID); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("pass prompt %s on to session %s: %w", key, to.ID, err)
			}
		}
		return inQueue(ctx, s, to.ID, keys, change)
	})
}

// enqueue appends the prompts that are not in the session's queue yet. It is the only way into the
// queue.
func (w *work) enqueue(keys ...string) error {
	before := len(w.r.Prompts)
	for _, key := range keys {
		if !slices.Contains(w.r.Prompts, key) {
			w.r.Prompts = append(w.r.Prompts, key)
		}
	}
	if len(w.r.Prompts) == before {
		return nil
	}
	return w.save()
}

// SendAgain has an unproven prompt typed again when that is safe: a person has decided so. A crash
// between paste and Enter may have left the text in the box, so the text is treated as a paste to
// take back: the box is emptied first.
func (s *Service) SendAgain(ctx context.Context, id uuid.UUID, key string) error {
	return resolve(ctx, s, id, key, Unproven, func(w *work, p Prompt) error {
		if !w.r.State.Live() {
			return fmt.Errorf("send again: %w", ErrNoAgent)
		}
		w.term.look(ctx)
		if w.term.boxFree() && !w.term.holds(ctx, p) { // the box has nothing to take back
			p.State, p.Told, p.Mark = Held, nil, nil
		} else {
			p.State, p.Told, p.Mark = Typing, nil, w.mark()
			p.Mark.Retreat = true
		}
		if err := w.Prompts.SavePrompt(p); err != nil {
			return err
		}
		return w.enqueue(key)
	})
}

// Drop gives up an unproven prompt, because a person has decided so. If its text still stands in
// the box, it is removed there.
func (s *Service) Drop(ctx context.Context, id uuid.UUID, key string) error {
	return resolve(ctx, s, id, key, Unproven, func(w *work, p Prompt) error {
		w.term.look(ctx)
		if w.term.holds(ctx, p) {
			w.term.emptyBox(ctx)
		}
		if err := w.Prompts.FinishPrompt(key); err != nil {
			return err
		}
		return w.dequeue(key)
	})
}

// Withdraw takes a held prompt out of the queue and finishes it, because a person has used its text
// in another way. ErrNoPrompt means that the prompt is no longer held, or belongs to another
// session.
func (s *Service) Withdraw(ctx context.Context, id uuid.UUID, key string) error {
	return resolve(ctx, s, id, key, Held, func(w *work, _ Prompt) error {
		if !slices.Contains(w.r.Prompts, key) {
			return notQueued(key)
		}
		if err := w.Prompts.FinishPrompt(key); err != nil {
			return fmt.Errorf("withdraw prompt %s: %w", key, err)
		}
		return w.dequeue(key)
	})
}

func notQueued(key string) error {
	return fmt.Errorf("prompt %s is in no queue: %w", key, ErrNoPrompt)
}

// Reword gives a held prompt another text, because the person has edited the message.
// ErrNoPrompt means that the prompt is no longer held: it may have been typed.
func (s *Service) Reword(ctx context.Context, id uuid.UUID, key, text string, class Class) error {
	return inQueue(ctx, s, id, []string{key}, func(w *work) error {
		p, err := promptIn(w, key, Held)
		if err != nil {
			return err
		}
		p.Text, p.Class, w.reworded = text, class, true
		return w.Prompts.SavePrompt(p)
	})
}

// resolve calls change with a prompt of the session, on the session's worker. ErrNoPrompt means
// that the prompt is not in the given state.
func resolve(ctx context.Context, s *Service, id uuid.UUID, key string, state PromptState,
	change func(*work, Prompt) error) error {
	defer s.Wake(id)
	return s.kit.do(ctx, id, func(w *work) error {
		p, err := promptIn(w, key, state)
		if err != nil {
			return err
		}
		return change(w, p)
	})
}

func promptIn(w *work, key string, state PromptState) (Prompt, error) {
	p, err := ownPrompt(w, key)
	switch {
	case err != nil:
		return p, fmt.Errorf("prompt %s: %w", key, err)
	case p.State != state:
		return p, fmt.Errorf("prompt %s, which is %s and not %s: %w", key, p.State, state, ErrNoPrompt)
	}
	return p, nil
}

// SettlePrompts makes the session's queue and the prompts on disk agree after a restart. keys are
// the prompts on disk that belong to the session, in order. If a prompt was being typed to an agent
// that is gone, SettlePrompts looks for it in the transcript, and reports it if it is not found.
func (s *Service) SettlePrompts(ctx context.Context, id uuid.UUID, keys []string) error {
	return inQueue(ctx, s, id, keys, func(w *work) error {
		if err := w.enqueue(keys...); err != nil {
			return err
		}
		for _, key := range slices.Clone(w.r.Prompts) {
			p, err := ownPrompt(w, key)
			if errors.Is(err, fs.ErrNotExist) {
				err = w.dequeue(key)
			} else if err == nil && p.State == Typing && !w.r.State.Live() {
				err = w.settlePrompt(ctx, p) // the prompts of a live session are decided by the next steps
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// settlePrompt decides about a typed prompt whose agent is gone, or whose mark says nothing: either
// the transcript has it, or a person decides.
func (w *work) settlePrompt(ctx context.Context, p Prompt) error {
	found, err := w.seek(ctx, p)
	if found || err != nil {
		return err
	}
	if w.term.look(ctx); p.runs(w.term.View) { // otherwise the text may be in the box
		return w.proven(ctx, p)
	}
	return w.unproven(ctx, p, "the agent is gone")
}

// seekBehind looks for the proof that the prompt which has opened a dialog was taken: the dialog
// may be visible before any hook or transcript mentions the prompt.
func (w *work) seekBehind(ctx context.Context, head *Prompt) error {
	if !head.entered() {
		return nil
	}
	_, err := w.seek(ctx, *head)
	return err
}

// seek finishes a typed prompt if a transcript shows it.
func (w *work) seek(ctx context.Context, p Prompt) (found bool, err error) {
	if p.Mark == nil {
		return false, nil // a file that was edited
	}
	trace, err := traceOf(w, p)
	if err != nil {
		w.Log.Warn("proof_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
	}
	if !trace.Arrived {
		return false, nil
	}
	return true, arrived(ctx, w, p)
}

// Move shows a session in another conversation of the chat from now on.
func (s *Service) Move(ctx context.Context, id uuid.UUID, to session.Conversation) error {
	return s.kit.do(ctx, id, func(w *work) error {
		w.r.Conversation = to
		return w.save()
	})
}

// Advance notes up to which position the chat has shown a transcript. A cursor with another path
// says that the earlier files were read to their end.
func (s *Service) Advance(ctx context.Context, id uuid.UUID, c transcript.Cursor) error {
	return s.kit.do(ctx, id, func(w *work) error {
		i := slices.IndexFunc(w.r.Cursors, func(k transcript.Cursor) bool { return k.Path == c.Path })
		if i < 0 {
			return nil
		}
		w.r.Cursors = slices.Delete(w.r.Cursors, 0, i)
		w.r.Cursors[0] = c
		return w.save()
	})
}
