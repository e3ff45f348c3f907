package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/modes"
	"ccbot/bot/port/news"
	"ccbot/internal/claudeui"
	"ccbot/internal/logkey"
	"ccbot/internal/presence"
	"ccbot/lifecycle/wishes"
	"ccbot/tmux"
)

// keyEnter is the one key of a dialog that Tmux.Press does not take: Enter has its own method.
const keyEnter tmux.Key = "Enter"

// dialogKeys are the keys that a person may press in a dialog, by the names that Press takes.
// Digits are left out: a digit chooses at once, and the same digit chooses another option in
// another version.
var dialogKeys = map[string]tmux.Key{
	"up": tmux.KeyUp, "down": tmux.KeyDown, "left": tmux.KeyLeft, "right": tmux.KeyRight,
	"space": tmux.KeySpace, "tab": tmux.KeyTab, "esc": tmux.KeyEscape, "enter": keyEnter,
}

// Press presses a key (up, down, left, right, space, tab, esc, enter) in the dialog that has the
// mark, and returns what the terminal shows afterwards. The terminal is looked at right before the
// key: if the dialog has another mark, no key is pressed, and Press returns ErrChanged with the
// dialog as it is now. ErrNoDialog means that no dialog is open, so that a key would go into the
// prompt box; ErrRelayed that the key is enter while a permission request waits for the chat;
// tmux.ErrGuard that tmux refused the key, as it does while somebody scrolls. ErrNoAgent and
// ErrUnseen are as in Dialog.
func (s *Service) Press(ctx context.Context, id uuid.UUID, mark, key string) (Dialog, error) {
	k, ok := dialogKeys[key]
	if !ok {
		return Dialog{}, fmt.Errorf("press %q: no such key", key)
	}
	return s.inDialog(ctx, id, func(w *work) (Dialog, error) {
		if d, err := w.dialogWith(ctx, mark, k); err != nil {
			return d, err
		}
		if err := w.pressKey(ctx, k); err != nil {
			return Dialog{}, err
		}
		return w.afterKey(ctx, mark)
	})
}

// Choose moves the cursor of the dialog that has the mark to one of its options, presses Enter
// there, and returns what the terminal shows afterwards. After each key it checks that the question
// and the options are still the same. If a person moves the cursor at the same time, Choose
// corrects it a few times. The errors are those of Press. Digits are never sent.
func (s *Service) Choose(ctx context.Context, id uuid.UUID, mark string, option int) (Dialog, error) {
	return s.inDialog(ctx, id, func(w *work) (Dialog, error) {
		d, err := w.dialogWith(ctx, mark, keyEnter)
		if err != nil {
			return d, err
		}
		if option < 0 || option >= len(d.Options) {
			return d, fmt.Errorf("choose option %d of %d: %w", option, len(d.Options), ErrChanged)
		}
		asked := w.view.Screen.Dialog
		for range lateMoves {
			d, err = w.moveTo(ctx, asked, d, option)
			if err != nil {
				return d, err
			}
			d, err = w.dialogWith(ctx, d.Mark, keyEnter)
			if !errors.Is(err, ErrChanged) || !asked.Asks(w.view.Screen.Dialog) {
				break
			}
		}
		if err != nil {
			return d, err
		}
		if err := w.pressKey(ctx, keyEnter); err != nil {
			return Dialog{}, err
		}
		return w.afterKey(ctx, d.Mark)
	})
}

// inDialog runs the function keys on the session's worker.
func (s *Service) inDialog(ctx context.Context, id uuid.UUID, keys func(w *work) (Dialog, error)) (d Dialog, err error) {
	defer s.Wake(id)
	err = s.kit.do(ctx, id, func(w *work) (err error) {
		d, err = keys(w)
		return err
	})
	return d, err
}

// dialogWith looks at the terminal right before a key is pressed. It returns ErrChanged if the open
// dialog does not have the mark.
func (w *work) dialogWith(ctx context.Context, mark string, k tmux.Key) (Dialog, error) {
	d, err := w.lookForKey(ctx, k)
	if err == nil && d.Mark != mark {
		return d, ErrChanged
	}
	return d, err
}

// lookForKey looks at the terminal and says why a key may not be pressed there now (P7).
func (w *work) lookForKey(ctx context.Context, k tmux.Key) (Dialog, error) {
	d, err := w.lookAtDialog(ctx)
	if err != nil {
		return d, err
	}
	return d, mayPress(w.view, d, k)
}

// mayPress says why a key may not be sent to what is open. It is pure.
//
// It must be certain that a dialog is open: the screen shows a recognised dialog, or the agent
// itself says that it waits, or the agent was never ready and shows no prompt box. If the presence
// file names another state, that is for a moment newer than the screen: the dialog was answered,
// and the key would go into the box.
func mayPress(v View, d Dialog, k tmux.Key) error {
	said := v.Presence.Status
	boxed := v.Screen.Dialog == nil && v.Screen.Box.Present
	switch {
	case v.Present && said == "": // the presence file cannot be read
		return ErrUnseen
	case !d.Open:
		return ErrNoDialog
	case d.Relayed && k == keyEnter:
		return ErrRelayed
	// The person has not seen all of what the key would agree to.
	case !d.Whole && (k == keyEnter || k == tmux.KeySpace || k == tmux.KeyTab):
		return ErrChanged
	case v.Present && said != presence.Waiting && v.Now.Sub(v.Presence.UpdatedAt) < drawn:
		return ErrChanged
	// The agent says that it waits, but the screen does not show for what: any key but Esc would go
	// into the box.
	case boxed && k != tmux.KeyEscape:
		return ErrUnseen
	}
	return nil
}

// pressKey presses one key. The caller has looked at the terminal right before.
func (w *work) pressKey(ctx context.Context, k tmux.Key) error {
	err := w.press(func(g tmux.Guard) error {
		if k == keyEnter {
			return w.Tmux.Enter(ctx, g)
		}
		return w.Tmux.Press(ctx, g, k)
	})
	if err != nil {
		return fmt.Errorf("press %s: %w", k, err)
	}
	return nil
}

// keyWait is how long a terminal may take to draw what a key has changed.
const keyWait = time.Second

// afterKey waits until the screen has changed and come to rest, and returns what it shows then. If
// the key has ended the agent, there is no dialog any more.
func (w *work) afterKey(ctx context.Context, before string) (d Dialog, err error) {
	mark := before
	await(ctx, lookPace, keyWait, func() bool {
		last := mark
		d, err = w.lookAtDialog(ctx)
		mark = d.Mark
		drawing := d.Open && w.view.Screen.Dialog == nil // or the presence file is a little behind the screen
		return err != nil || mark != before && mark == last && !drawing
	})
	if errors.Is(err, ErrNoAgent) {
		return Dialog{Selected: -1}, nil
	}
	return d, err
}

// Limits for moving the cursor to an option.
const (
	pressesPerOption = 3 // a person may move the cursor the other way at the same time
	idlePresses      = 3 // after so many presses in a row without a change, the dialog does not take the key
	lateMoves        = 3 // how often the cursor may leave the option again right before the Enter
	settled          = 150 * time.Millisecond
)

// moveTo moves the cursor to an option with Up and Down, and waits until it rests there. A dialog
// takes no key right after it is drawn, and an arrow that is taken late would let the Enter choose
// another option.
func (w *work) moveTo(ctx context.Context, asked *claudeui.Dialog, d Dialog, option int) (Dialog, error) {
	idle, quiet := 0, settled
	if !w.view.Present {
		// While the agent starts, a question that comes before the first presence file is redrawn.
		quiet = keyWait
	}
	for range pressesPerOption*len(d.Options) + 1 {
		if d.Selected == option {
			rests, err := w.awaitMove(ctx, asked, d, quiet)
			if err != nil || rests.Mark == d.Mark {
				return rests, err
			}
			d = rests
			continue
		}
		towards := tmux.KeyUp
		if d.Selected < option {
			towards = tmux.KeyDown
		}
		if err := w.pressKey(ctx, towards); err != nil {
			return Dialog{}, err
		}
		next, err := w.awaitMove(ctx, asked, d, keyWait)
		if err != nil {
			return next, err
		}
		if idle++; next.Mark != d.Mark {
			idle = 0
		} else if quiet = keyWait; idle == idlePresses {
			break
		}
		d = next
	}
	return d, ErrChanged
}

// awaitMove waits until the dialog looks different, and returns what it shows then. ErrChanged
// means that it is another question, or the same question about something else.
func (w *work) awaitMove(ctx context.Context, asked *claudeui.Dialog, from Dialog, patience time.Duration) (d Dialog, err error) {
	await(ctx, lookPace, patience, func() bool {
		d, err = w.lookForKey(ctx, keyEnter)
		return err != nil || d.Mark != from.Mark
	})
	if err == nil && !asked.Asks(w.view.Screen.Dialog) {
		err = ErrChanged
	}
	return d, err
}

// modeWait is how long a terminal may take to show what a key has switched.
const modeWait = 3 * time.Second

// grant carries out what a person wants the agent to run with, as far as that can be done now.
func grant(ctx context.Context, w *work) error {
	if w.r.Wish.Agent != w.r.Binding.Agent {
		return granted(ctx, w, modes.NewAgent)
	}
	if lookForWish(ctx, w); w.r.Wish.Listed && modelsClosed(w.view) {
		if err := forgetModels(w); err != nil {
			return err
		}
	}
	for {
		var act wishes.Act
		var outcome modes.Outcome
		await(ctx, lookPace, keyWait, func() bool { // the screen may be a little behind
			act, outcome = wishes.Decide(*w.r.Wish, lookForWish(ctx, w))
			return act != wishes.Wait && outcome != modes.Unread
		})
		if ctx.Err() != nil || act == wishes.Wait {
			return ctx.Err()
		}
		if act == wishes.Over {
			return granted(ctx, w, outcome)
		}
		if pressed, err := pressForWish(ctx, w, act); err != nil || !pressed {
			return err
		}
	}
}

func lookForWish(ctx context.Context, w *work) wishes.Look {
	w.view = w.Observer.View(ctx, *w.r)
	v := w.view
	l := wishes.Look{Free: takesModeKeys(*w.r, v), Mode: v.Screen.Mode, Listed: ownModels(*w.r, v),
		Early: v.Present && v.Now.Sub(v.Presence.UpdatedAt) < drawn}
	if l.Listed {
		l.List, _ = v.Screen.Dialog.Models()
		l.Whole = v.Screen.Dialog.Whole
	}
	return l
}

// pressForWish presses the next key. The key is noted on disk first, and the screen is looked at
// again right before it. pressed is false if something came in between, or the wish is over because
// the agent did not take the key: then no other key may follow, because it may still take this one.
func pressForWish(ctx context.Context, w *work, act wishes.Act) (pressed bool, err error) {
	if act == wishes.Choose {
		if err := moveToModel(ctx, w); err != nil {
			w.again = soon
			return false, errors.Join(err, closeModels(ctx, w))
		}
	}
	before, mode := *w.r.Wish, w.view.Screen.Mode
	key := wishes.Note(w.r.Wish, act, mode)
	if err := w.save(); err != nil {
		return false, err
	}
	w.at("wish-marked")
	now, _ := wishes.Decide(before, lookForWish(ctx, w)) // writing to disk took time
	err, again := tmux.ErrGuard, soon
	list, _ := w.view.Screen.Dialog.Models()
	if now == act && w.view.Screen.Mode == mode &&
		(act != wishes.Choose || w.view.Screen.Dialog.Selected == wishes.Find(list, w.r.Wish.Model)) {
		again = holdPace // what only tmux sees, such as synchronised panes, may last
		err = w.press(func(g tmux.Guard) error { return w.Tmux.Press(ctx, g, key) })
	}
	if errors.Is(err, tmux.ErrGuard) { // it was not pressed
		w.again, w.r.Wish = again, &before
		return false, w.save()
	}
	if err != nil {
		return false, fmt.Errorf("press %s: %w", key, err)
	}
	w.at("wish-pressed")
	switch seen := seeSwitch(ctx, w, act, mode); {
	case !seen:
		return false, granted(ctx, w, modes.NotTaken)
	case act == wishes.Choose:
		return true, forgetModels(w)
	}
	return true, nil
}

// seeSwitch waits until the screen shows what a key has done.
func seeSwitch(ctx context.Context, w *work, act wishes.Act, mode string) bool {
	return await(ctx, lookPace, modeWait, func() bool {
		l := lookForWish(ctx, w)
		switch act {
		case wishes.Mode:
			return l.Mode != "" && l.Mode != mode || w.view.DialogOpen()
		case wishes.Open:
			return l.Listed
		}
		return modelsClosed(w.view)
	})
}

// moveToModel moves the cursor of the list to the wanted model.
func moveToModel(ctx context.Context, w *work) error {
	asked := w.view.Screen.Dialog
	list, _ := asked.Models()
	_, err := w.moveTo(ctx, asked, dialogOf(*w.r, w.view), wishes.Find(list, w.r.Wish.Model))
	if errors.Is(err, ErrChanged) {
		return closeModels(ctx, w) // the next look opens it again, or finds that it is gone
	}
	return err
}

// closeModels closes the list of models, if it is open.
func closeModels(ctx context.Context, w *work) error {
	if !lookForWish(ctx, w).Listed {
		return nil
	}
	err := w.press(func(g tmux.Guard) error { return w.Tmux.Press(ctx, g, tmux.KeyEscape) })
	if err != nil && !errors.Is(err, tmux.ErrGuard) {
		return fmt.Errorf("close the list of models: %w", err)
	}
	if !seeSwitch(ctx, w, wishes.Choose, "") {
		return nil
	}
	return forgetModels(w)
}

// forgetModels notes that the list of models that ccbot has opened is closed: the next one that is open is
// a person's.
func forgetModels(w *work) error {
	w.r.Wish.Listed = false
	return w.save()
}

// granted reports what came of the wish for a mode, or else of that for a model, and forgets it.
func granted(ctx context.Context, w *work, outcome modes.Outcome) error {
	if err := closeModels(ctx, w); err != nil {
		return err
	}
	was, rest := wishes.Granted(*w.r.Wish)
	n := news.Switched{Wish: was, Outcome: outcome, Seen: modes.Mode(w.view.Screen.Mode), Waited: w.r.Wish.Waits}
	if err := w.tell(ctx, *w.r, n); err != nil {
		return err
	}
	w.at("wish-told")
	w.r.Wish = rest
	w.Log.Info("mode_switched", logkey.SessionID, w.r.ID.String(), logkey.Key, string(was.Mode)+was.Model, logkey.Outcome, string(outcome))
	return w.save()
}
