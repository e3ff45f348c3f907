package lifecycle

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/session"
)

// ToFront has a held prompt typed before all others that wait, because a person has decided so. A
// prompt that is being typed, or stands in the box, stays before it. ErrNoPrompt means that the
// prompt is no longer held, or belongs to another session.
func (s *Service) ToFront(ctx context.Context, id uuid.UUID, key string) error {
	return resolve(ctx, s, id, key, Held, func(w *work, _ Prompt) error { return toFront(w, key) })
}

// toFront changes the order on disk. Nothing else moves: the others keep their order behind the prompt.
func toFront(w *work, key string) error {
	if !slices.Contains(w.r.Prompts, key) {
		return notQueued(key)
	}
	rest := slices.DeleteFunc(slices.Clone(w.r.Prompts), func(k string) bool { return k == key })
	front := 0
	for i, k := range rest {
		if p, err := ownPrompt(w, k); err == nil && p.State == Typing {
			front = i + 1
		}
	}
	now := slices.Insert(rest, front, key)
	if slices.Equal(now, w.r.Prompts) {
		return nil
	}
	w.r.Prompts = now
	if err := w.save(); err != nil {
		return err
	}
	w.at("queue-ordered")
	return nil
}

// SendNow has a held prompt typed next, and interrupts the turn that runs for that, because a person
// has decided so. The order is on disk before Esc is pressed. The next steps then type the prompt in
// the usual way, and after it the rest of the queue in its order. What Esc has stopped is treated as
// Interrupt treats it; told is the same as there, and true if nothing was interrupted.
//
// ErrAsks means that a dialog is open, or a subagent asks in the chat; ErrBoxBusy that a draft is in
// the box. No key was pressed then, and the order is as it was, unless the dialog has opened in the
// moment between the look and Esc. After ErrStillWorks the prompt is the next one. ErrNoPrompt means
// that it is no longer held.
func (s *Service) SendNow(ctx context.Context, id uuid.UUID, key string) (told bool, err error) {
	told = true
	err = resolve(ctx, s, id, key, Held, func(w *work, _ Prompt) error {
		if !w.r.State.Live() {
			return ErrNoAgent
		}
		awaitEscPause(ctx, w)
		w.view = w.Observer.View(ctx, *w.r)
		if w.r.State != session.Running || w.view.TypeSafe() { // no turn is in the way
			return toFront(w, key)
		}
		head, err := w.head()
		if err != nil {
			return err
		}
		if err := refusesNow(w.view, head); err != nil {
			return err
		}
		if err := toFront(w, key); err != nil {
			return err
		}
		if told, err = stopTurn(ctx, w); errors.Is(err, ErrIdle) { // it has just ended
			told, err = true, nil
		}
		w.at("turn-interrupted")
		return errors.Join(err, overtake(ctx, w, key))
	})
	return told, err
}

// refusesNow says why no turn may be interrupted for a prompt: Esc would answer something, or the
// prompt could not be typed afterwards. head is the prompt that may stand in the box. It is pure.
func refusesNow(v View, head *Prompt) error {
	if err := refusesEsc(v); err != nil {
		return err
	}
	box := v.Screen.Box
	own := head != nil && head.State == Typing && head.shows(box)
	switch {
	case v.Below != "":
		return ErrAsks
	case box.Present && (!box.Empty || box.Bash) && !own:
		return ErrBoxBusy
	}
	return nil
}

// overtake takes the text of a prompt that a turn came upon before its Enter out of the box again, and
// has the other prompt typed before it.
func overtake(ctx context.Context, w *work, key string) error {
	head, err := w.head()
	if err != nil || head == nil || !head.retreats() || !w.view.boxFree() {
		return err
	}
	if err := w.clearOwnText(ctx, *head); err != nil {
		return err
	}
	return toFront(w, key)
}
