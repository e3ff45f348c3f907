package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/tmux"
)

// escPause is the pause between two Esc: a second one right after the first opens a menu.
const escPause = 2 * time.Second

// Interrupt presses Esc once in the session's pane, and waits for the end of the turn. Claude Code
// then puts the text of a prompt that was not carried out into the box again: ccbot takes it out
// and asks the person about it. The prompts that wait in the queue are treated in the same way
// before Esc is pressed. So after a stop, ccbot types only what a person has sent, or decided
// about, since.
//
// told says that the chat already shows what was stopped: by the questions to the person, or by the
// line of the transcript. The tmux guard names the bound process, whatever it is doing; a shell
// that is in front of an adopted agent gets no key.
//
// ErrIdle means that no turn runs and nothing has waited; ErrAsks that Esc would answer an open
// dialog. If the dialog was open at the call, the queue stays.
func (s *Service) Interrupt(ctx context.Context, id uuid.UUID) (told bool, err error) {
	defer s.Wake(id)
	err = s.kit.do(ctx, id, func(w *work) error {
		awaitEscPause(ctx, w)
		w.term.look(ctx)
		if err := refusesEsc(w.term.View); err != nil {
			return err
		}
		waited, failed := askAboutQueue(ctx, w) // Esc is pressed also if this failed
		var stopped error
		told, stopped = stopTurn(ctx, w)
		if waited && errors.Is(stopped, ErrIdle) {
			told, stopped = true, nil // the queue was stopped
		}
		return cmp.Or(failed, stopped) // nothing else would report that the queue could not be emptied
	})
	return told, err
}

// awaitEscPause waits until Esc may be pressed again.
func awaitEscPause(ctx context.Context, w *work) {
	await(ctx, lookPace, escPause, func() bool { return w.Now().Sub(w.recall().box.escAt) >= escPause })
}

// askAboutQueue takes the prompts that wait to be typed out of the queue, and asks the person about
// each of them. A prompt whose text may stand in the box is only marked as stopped: clearOwnText
// asks about it later. waited says whether there was any such prompt.
func askAboutQueue(ctx context.Context, w *work) (waited bool, err error) {
	for _, key := range slices.Clone(w.r.Prompts) {
		p, err := ownPrompt(w, key)
		switch {
		case err != nil: // a prompt that cannot be read is never typed
			continue
		case p.retreats():
			p.Mark.Esc = true
			err = w.Prompts.SavePrompt(p)
		case p.State == Held:
			err = askAbout(ctx, w, p)
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

// stopTurn presses Esc, and takes the text that Claude Code puts back out of the box.
func stopTurn(ctx context.Context, w *work) (told bool, err error) {
	p, err := w.interrupted(ctx)
	if err != nil {
		return false, err
	}
	path, end := w.Observer.transcriptPath(*w.r), w.Observer.transcriptSize(*w.r)
	if err := pressEsc(ctx, w, p); err != nil {
		return false, err
	}
	back := w.term.seeBack(ctx, p, w.recall().box.escAt)
	switch {
	case back && p.Class == ClassBash: // the message with the command's output says that it was stopped
		w.term.clearBox(ctx)
	case back:
		return true, w.takeBack(ctx, p)
	case !w.term.idle() && w.term.Phase() == PhaseWorking, w.term.Screen.Continues:
		return false, ErrStillWorks
	}
	return saysInterrupt(transcript.Cursor{Path: path, Offset: end}), nil
}

// refusesEsc says why Esc must not be sent to the pane. It does not ask what the agent is doing.
func refusesEsc(v View) error {
	switch {
	case v.Fate != PaneOurs || v.Behind:
		return ErrNoAgent
	case v.DialogOpen(), v.Relayed && !dialogGone(v): // the request may arrive before its dialog is drawn
		return ErrAsks
	}
	return nil
}

// pressEsc presses Esc if a turn runs or will follow by itself, or if a prompt is being typed. That
// prompt is marked before the key is pressed, and the mark is removed if the key was not pressed.
func pressEsc(ctx context.Context, w *work, p Prompt) error {
	noted := p.State == Typing && !p.Mark.Esc
	if noted {
		p.Mark.Esc = true
		if err := w.Prompts.SavePrompt(p); err != nil {
			return err
		}
	}
	w.term.look(ctx) // writing to disk and reporting took time
	err, pressed := refusesEsc(w.term.View), false
	screen := w.term.Screen // the presence file is a little behind it
	rests := (w.term.idle() || screen.Background) && !screen.Busy && !screen.Continues
	switch {
	case err != nil:
	case rests && p.State != Typing: // Esc would end nothing, now or later
		err = ErrIdle
	default:
		w.remember(func(m *memory) { m.box.escAt = w.Now() })
		err = w.term.press(ctx, tmux.KeyEscape)
		gone := errors.Is(err, tmux.ErrNoPane)
		// After any other error it is unknown whether the key was pressed: it counts as pressed.
		pressed = !gone && !errors.Is(err, tmux.ErrGuard) && !errors.Is(err, tmux.ErrNotSent)
		if gone {
			err = ErrNoAgent
		}
	}
	if noted && !pressed {
		p.Mark.Esc = false
		err = errors.Join(err, w.Prompts.SavePrompt(p))
	}
	return err
}

// interrupted returns the prompt that Esc may put back into the box: the prompt that is being
// typed, otherwise the last one that the agent took. A Prompt without a key means that there is
// none.
func (w *work) interrupted(ctx context.Context) (Prompt, error) {
	head, err := w.head()
	if err != nil {
		return Prompt{}, err
	}
	if head.runs(w.term.View) { // the screen shows that it runs; the transcript shows it only after its end
		if err := w.proven(ctx, *head); err != nil {
			return Prompt{}, err
		}
		head = nil
	}
	if head != nil && head.State == Typing && head.Mark != nil && !head.retreats() {
		return *head, nil
	}
	last := lastTaken(w)
	last.State = "" // its state on disk is finished already
	if shell := w.term.Screen.Shell; (last.Class == ClassBash || shell != nil) && !shell.Runs(last.Text) {
		return Prompt{}, nil // a command that a person has typed in the terminal
	}
	return last, nil
}

// saysInterrupt says whether the transcript has the line of an interrupt after a position.
func saysInterrupt(from transcript.Cursor) (says bool) {
	_ = transcript.Each(from, false, func(item transcript.Item) bool { // what cannot be read says nothing
		says = item.Kind == transcript.Interrupt
		return !says
	})
	return says
}

// SendAnyway types a prompt that waits behind a person's draft, because the person in the chat has
// decided so. The draft is reported before it is taken out of the box, and the box is proven empty
// before anything is typed. ErrBoxBusy means that a dialog, a turn, bash mode or a person who types
// is in the way; ErrDraftHidden that the draft cannot be reported in full; ErrNoPrompt that the
// prompt no longer waits there.
func (s *Service) SendAnyway(ctx context.Context, id uuid.UUID, key string) error {
	defer s.Wake(id)
	return s.kit.do(ctx, id, func(w *work) error {
		head, err := w.head()
		if err != nil {
			return err
		}
		if head == nil || head.Key != key || head.State != Held {
			return fmt.Errorf("send prompt %s anyway: %w", key, ErrNoPrompt)
		}
		w.term.look(ctx)
		switch {
		case w.r.State != session.Running || !inFront(*w.r, w.term.View):
			return ErrBoxBusy
		case w.term.TypeSafe():
			return nil // the draft is gone: the next step types the prompt
		case !w.term.boxFree() || w.term.Screen.Box.Bash:
			return ErrBoxBusy
		case !w.term.Screen.Box.Whole():
			return ErrDraftHidden
		}
		if err := w.clearDraft(ctx); err != nil || w.r.Wish != nil {
			return err // the next step types the prompt, after what was wanted before it
		}
		return w.typePrompt(ctx, *head)
	})
}

// clearDraft reports the draft, and then takes it out of the box.
func (w *work) clearDraft(ctx context.Context) error {
	told := w.term.Screen.Box
	if err := w.tell(ctx, *w.r, news.DraftCleared{Draft: told.Text}); err != nil {
		return err
	}
	w.term.look(ctx)
	if w.term.Screen.Box != told { // somebody types: the new part was not reported
		return ErrBoxBusy
	}
	if !w.term.emptyBox(ctx) || !w.term.TypeSafe() {
		return ErrBoxBusy
	}
	return nil
}

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
		w.term.look(ctx)
		if w.r.State != session.Running || w.term.TypeSafe() { // no turn is in the way
			return toFront(w, key)
		}
		head, err := w.head()
		if err != nil {
			return err
		}
		if err := refusesNow(w.term.View, head); err != nil {
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
	if err != nil || head == nil || !head.retreats() || !w.term.boxFree() {
		return err
	}
	if err := w.clearOwnText(ctx, *head); err != nil {
		return err
	}
	return toFront(w, key)
}
