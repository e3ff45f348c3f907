package dialog

import (
	"context"
	"errors"
	"fmt"

	"ccbot/agent"
	"ccbot/internal/pause"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/tmux"
)

// dialogKeys are the keys that a person may press in a dialog, by the names that Press takes.
// Digits are left out: a digit chooses at once, and the same digit chooses another option in
// another version.
var dialogKeys = map[string]tmux.Key{
	"up": tmux.KeyUp, "down": tmux.KeyDown, "left": tmux.KeyLeft, "right": tmux.KeyRight,
	"space": tmux.KeySpace, "tab": tmux.KeyTab, "esc": tmux.KeyEscape, "enter": typing.KeyEnter, "x": tmux.KeyStop,
}

// Press presses a key in the dialog that has the fingerprint, and returns what the terminal shows
// afterwards. The terminal is checked right before the key: if the dialog has another fingerprint,
// no key is pressed, and Press returns ErrChanged with the dialog as it is now. ErrNoDialog means
// that no dialog is open, so that a key would go into the prompt box; ErrRelayed that the key may
// choose while a permission request waits for the chat, or in a dialog without its request;
// tmux.ErrGuard that tmux refused the key, as it does while a person scrolls.
func (t *Session) Press(ctx context.Context, fingerprint, key string) (port.Dialog, error) {
	k, ok := dialogKeys[key]
	if !ok {
		return port.Dialog{}, fmt.Errorf("press %q: no such key", key)
	}
	return t.inDialog(ctx, fingerprint, k, func(d port.Dialog) (port.Dialog, error) {
		if d.Unasked && chooses(k) {
			return d, ErrRelayed
		}
		if k == tmux.KeyStop && !d.Stops {
			return d, ErrChanged
		}
		if err := t.term.Press(ctx, k); err != nil {
			return port.Dialog{}, err
		}
		return t.afterKey(ctx, fingerprint)
	})
}

// Continue lets wake continue the agent that the screen with the fingerprint shows as suspended, and returns what the terminal shows
// afterwards.
func (t *Session) Continue(ctx context.Context, fingerprint string, wake func(ctx context.Context) error) (port.Dialog, error) {
	return t.inDialog(ctx, fingerprint, tmux.KeyEscape, func(d port.Dialog) (port.Dialog, error) {
		if !d.Suspends {
			return d, ErrChanged
		}
		if err := wake(ctx); err != nil {
			return d, err
		}
		return t.afterKey(ctx, fingerprint)
	})
}

// Choose moves the cursor of the dialog that has the fingerprint to one of its options, presses
// Enter there, and returns what the terminal shows afterwards. After each key it checks that the
// question and the options are still the same. If a person moves the cursor at the same time,
// Choose corrects it a few times. The errors are those of Press. A digit is sent only to a dialog
// of screen reader mode, which takes no arrows, and in which it chooses nothing before the Enter.
func (t *Session) Choose(ctx context.Context, fingerprint string, option int) (port.Dialog, error) {
	return t.inDialog(ctx, fingerprint, typing.KeyEnter, func(d port.Dialog) (_ port.Dialog, err error) {
		if option < 0 || option >= len(d.Options) || !d.CanChoose(option) {
			return d, fmt.Errorf("choose option %d of %d: %w", option, len(d.Options), ErrChanged)
		}
		asked := t.term.Screen.Dialog
		if len(asked.Keys) > 0 {
			return t.answer(ctx, asked, d, asked.Keys[option])
		}
		for range lateMoves {
			d, err = t.moveTo(ctx, asked, d, option)
			if err != nil {
				return d, err
			}
			d, err = t.dialogWith(ctx, d.Fingerprint, typing.KeyEnter)
			if !errors.Is(err, ErrChanged) || !sameQuestion(asked, t.term.Screen.Dialog) {
				break
			}
		}
		if err != nil {
			return d, err
		}
		if err := t.term.Press(ctx, typing.KeyEnter); err != nil {
			return port.Dialog{}, err
		}
		return t.afterKey(ctx, d.Fingerprint)
	})
}

// answer types the text of an option into a dialog of screen reader mode, which has no cursor, and
// presses Enter once the dialog shows that text and nothing else.
func (t *Session) answer(ctx context.Context, asked *agent.Dialog, d port.Dialog, text string) (_ port.Dialog, err error) {
	if asked.Typed != "" { // a person is typing there
		return d, ErrChanged
	}
	for i := range text {
		if err := t.term.Press(ctx, tmux.Key(text[i:i+1])); err != nil {
			return port.Dialog{}, err
		}
		pause.Await(ctx, view.PollInterval, KeyWait, func() bool {
			d, err = t.checkKey(ctx, typing.KeyEnter)
			return err != nil || !sameQuestion(asked, t.term.Screen.Dialog) || t.term.Screen.Dialog.Typed == text[:i+1]
		})
		if err != nil {
			return d, err
		}
		if !sameQuestion(asked, t.term.Screen.Dialog) || t.term.Screen.Dialog.Typed != text[:i+1] {
			return d, ErrChanged
		}
	}
	if err := t.term.Press(ctx, typing.KeyEnter); err != nil {
		return port.Dialog{}, err
	}
	return t.afterKey(ctx, d.Fingerprint)
}

// inDialog runs the function keys if the key may be pressed in the dialog that has the fingerprint.
func (t *Session) inDialog(ctx context.Context, fingerprint string, key tmux.Key, keys func(port.Dialog) (port.Dialog, error)) (port.Dialog, error) {
	d, err := t.dialogWith(ctx, fingerprint, key)
	if err != nil {
		return d, err
	}
	asked := view.Question(t.term.View)
	d, err = keys(d)
	d.Same = err == nil && d.Open && view.Question(t.term.View) == asked
	return d, err
}
