package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/tmux"
)

const (
	escPause   = 2 * time.Second  // between two Esc: a second one right after the first opens a menu
	backWithin = 10 * time.Second // what Esc interrupts may take that long to end, and its text to be in the box again
	backSeen   = time.Second      // an idle box that stays without the text this long does not get it
	escDrawn   = time.Second / 2  // before that the box may show what stood there before an Enter
)

// Interrupt presses Esc in the session's pane, once, and waits for the end of the turn. The text of
// a prompt that was not carried out stands in the box again then: it is taken out, and the person
// is asked about it. So it is with the prompts that wait in the queue, before Esc is pressed: after a
// stop nothing is typed that a person has not sent, or decided about, since. told says that the chat
// has words for what was stopped: the questions, or the line of the transcript. The guard is
// the bound process, whatever it is doing; a shell that is in front of an adopted one gets nothing.
// ErrIdle: no turn runs, and nothing has waited; ErrAsks: a dialog would be answered. The queue stays where
// the dialog was open at the call.
func (s *Service) Interrupt(ctx context.Context, id uuid.UUID) (told bool, err error) {
	defer s.Wake(id)
	err = s.do(ctx, id, func(w *work) error {
		await(ctx, lookPace, escPause, func() bool { return w.Now().Sub(w.memories.recall(id).box.escAt) >= escPause })
		w.view = w.Observer.View(ctx, *w.r)
		if err := refusesEsc(w.view); err != nil {
			return err
		}
		waited, failed := askAboutQueue(ctx, w) // whatever comes of that, Esc is pressed
		var stopped error
		told, stopped = stopTurn(ctx, w)
		if waited && errors.Is(stopped, ErrIdle) {
			told, stopped = true, nil // the queue was stopped
		}
		return cmp.Or(failed, stopped) // of a queue that stays nothing else tells
	})
	return told, err
}

// askAboutQueue takes the prompts that are to be typed out of the queue, and has the person asked about each.
// Of one that may stand in the box it is noted that it was stopped: clearOwnText asks about it. waited says
// that there was one.
func askAboutQueue(ctx context.Context, w *work) (waited bool, err error) {
	for _, key := range slices.Clone(w.r.Prompts) {
		p, err := ownPrompt(w, key)
		switch {
		case err != nil: // what cannot be read is never typed
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

// stopTurn presses Esc, and takes back what stands in the box again.
func stopTurn(ctx context.Context, w *work) (told bool, err error) {
	p, err := w.interrupted(ctx)
	if err != nil {
		return false, err
	}
	path, end := w.Observer.transcriptPath(*w.r), w.transcriptSize()
	if err := pressEsc(ctx, w, p); err != nil {
		return false, err
	}
	back := w.seeBack(ctx, p)
	switch {
	case back && p.Class == ClassBash: // the message with its output says that it was stopped
		w.clearBox(ctx)
	case back:
		return true, w.takeBack(ctx, p)
	case !w.view.idle() && w.view.Phase() == PhaseWorking, w.view.Screen.Continues:
		return false, ErrStillWorks
	}
	return saysInterrupt(transcript.Cursor{Path: path, Offset: end}), nil
}

// refusesEsc says why Esc must not reach the pane, whatever the agent does.
func refusesEsc(v View) error {
	switch {
	case v.Fate != PaneOurs || v.Behind:
		return ErrNoAgent
	case v.DialogOpen(), v.Relayed && !dialogGone(v): // its hook may be ahead of the screen
		return ErrAsks
	}
	return nil
}

// pressEsc presses Esc where a turn runs or is to come by itself, or where a prompt is being typed. On
// that prompt it is noted before, and the note goes where the key was not pressed.
func pressEsc(ctx context.Context, w *work, p Prompt) error {
	noted := p.State == Typing && !p.Mark.Esc
	if noted {
		p.Mark.Esc = true
		if err := w.Prompts.SavePrompt(p); err != nil {
			return err
		}
	}
	w.view = w.Observer.View(ctx, *w.r) // disk and news took their time
	err, pressed := refusesEsc(w.view), false
	switch {
	case err != nil:
	case rests(w.view) && p.State != Typing:
		err = ErrIdle
	default:
		w.remember(func(m *memory) { m.box.escAt = w.Now() })
		err = w.press(func(g tmux.Guard) error { return w.Tmux.Press(ctx, g, tmux.KeyEscape) })
		gone := errors.Is(err, tmux.ErrNoPane)
		pressed = !gone && !errors.Is(err, tmux.ErrGuard) && !errors.Is(err, tmux.ErrNotSent) // else nobody knows
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

// rests says that nothing runs that Esc would end: no turn, and nothing that the agent goes on with by itself.
func rests(v View) bool {
	screen := v.Screen // presence is a little behind it
	return (v.idle() || screen.Background) && !screen.Busy && !screen.Continues
}

// interrupted is the prompt that Esc may put back into the box: the one that is being typed, else
// the one that the agent took last. Without a key there is none.
func (w *work) interrupted(ctx context.Context) (Prompt, error) {
	head, err := w.head()
	if err != nil {
		return Prompt{}, err
	}
	if head.runs(w.view) { // it is seen to run, which its transcript does not tell before its end
		if err := w.proven(ctx, *head); err != nil {
			return Prompt{}, err
		}
		head = nil
	}
	if head != nil && head.State == Typing && head.Mark != nil && !head.retreats() {
		return *head, nil
	}
	last := lastTaken(w)
	last.State = "" // it is finished
	if shell := w.view.Screen.Shell; (last.Class == ClassBash || shell != nil) && !shell.Runs(last.Text) {
		return Prompt{}, nil // a command that a person has typed at the desk
	}
	return last, nil
}

// seeBack waits for the end of what was interrupted, and says whether the text stands in the box
// again.
func (w *work) seeBack(ctx context.Context, p Prompt) (back bool) {
	var since time.Time
	await(ctx, lookPace, backWithin, func() bool {
		w.view = w.Observer.View(ctx, *w.r)
		switch {
		case !w.view.boxFree(), w.view.Screen.Continues: // the end of what runs, or of what was to follow, is not drawn yet
			since = time.Time{}
		case p.Key != "" && w.holds(ctx, p):
			back = w.view.Now.Sub(w.recall().box.escAt) >= escDrawn
		case since.IsZero():
			since = w.view.Now
		}
		return back || !since.IsZero() && w.view.Now.Sub(since) >= backSeen
	})
	return back
}

// saysInterrupt says whether the transcript has the line of an interrupt behind a place.
func saysInterrupt(from transcript.Cursor) bool {
	r := transcript.Open(from)
	defer func() { _ = r.Close() }()
	for {
		item, ok, err := r.Next()
		if err != nil || !ok || item.Kind == transcript.Interrupt {
			return ok && err == nil
		}
	}
}

// SendAnyway types a prompt that waits behind a person's draft: the person at
// the chat has decided. The draft is told before it is taken out of the box, and
// the box is proven empty before anything is typed. ErrBoxBusy: a dialog, a turn,
// bash mode or a person who types is in the way; ErrDraftHidden: the draft cannot
// be told in full; fs.ErrNotExist: it is not the prompt that waits there any more.
func (s *Service) SendAnyway(ctx context.Context, id uuid.UUID, key string) error {
	defer s.Wake(id)
	return s.do(ctx, id, func(w *work) error {
		head, err := w.head()
		if err != nil {
			return err
		}
		if head == nil || head.Key != key || head.State != Held {
			return fmt.Errorf("send prompt %s anyway: %w", key, fs.ErrNotExist)
		}
		w.view = w.Observer.View(ctx, *w.r)
		switch {
		case w.r.State != session.Running || !inFront(*w.r, w.view):
			return ErrBoxBusy
		case w.view.TypeSafe():
			return nil // the draft is gone: the next step types
		case !w.view.boxFree() || w.view.Screen.Box.Bash:
			return ErrBoxBusy
		case !w.view.Screen.Box.Whole():
			return ErrDraftHidden
		}
		if err := w.clearDraft(ctx); err != nil {
			return err
		}
		return w.typePrompt(ctx, *head)
	})
}

// clearDraft tells the draft and takes it out of the box.
func (w *work) clearDraft(ctx context.Context) error {
	told := w.view.Screen.Box
	if err := w.tell(ctx, *w.r, news.DraftCleared{Draft: told.Text}); err != nil {
		return err
	}
	w.view = w.Observer.View(ctx, *w.r)
	if w.view.Screen.Box != told { // somebody types: that much was not told
		return ErrBoxBusy
	}
	if !w.emptyBox(ctx) || !w.view.TypeSafe() {
		return ErrBoxBusy
	}
	return nil
}
