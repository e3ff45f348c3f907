package lifecycle

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/capture"
	"ccbot/internal/cellpicture"
	"ccbot/internal/claudeui"
	"ccbot/internal/pause"
	"ccbot/internal/session"
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
	"space": tmux.KeySpace, "tab": tmux.KeyTab, "esc": tmux.KeyEscape, "enter": typing.KeyEnter,
}

// Dialog returns the dialog in a session's terminal. ErrNoAgent means that the agent is gone or in
// the background of its shell; ErrUnseen that the terminal is not visible.
func (s *Service) Dialog(ctx context.Context, id uuid.UUID) (port.Dialog, error) {
	r, ok := s.core.Store.Get(id)
	if !ok {
		return port.Dialog{}, session.ErrNotFound
	}
	t := s.core.dialogsOf(&r)
	return t.dialog(ctx)
}

// Press presses a key (up, down, left, right, space, tab, esc, enter) in the dialog that has the
// mark, and returns what the terminal shows afterwards. The terminal is checked right before the
// key: if the dialog has another fingerprint, no key is pressed, and Press returns ErrChanged with
// the dialog as it is now. ErrNoDialog means that no dialog is open, so that a key would go into
// the prompt box; ErrRelayed that the key may choose while a permission request waits for the chat,
// or in a dialog without its request; tmux.ErrGuard that tmux refused the key, as it does while a
// person scrolls. ErrNoAgent and ErrUnseen are as in Dialog.
func (s *Service) Press(ctx context.Context, id uuid.UUID, fingerprint, key string) (port.Dialog, error) {
	k, ok := dialogKeys[key]
	if !ok {
		return port.Dialog{}, fmt.Errorf("press %q: no such key", key)
	}
	return s.core.inDialog(ctx, id, fingerprint, k, func(t *dialogs, d port.Dialog) (port.Dialog, error) {
		if d.Unasked && chooses(k) {
			return d, ErrRelayed
		}
		if err := t.term.Press(ctx, k); err != nil {
			return port.Dialog{}, err
		}
		return t.afterKey(ctx, fingerprint)
	})
}

// Choose moves the cursor of the dialog with the fingerprint to one of its options, presses Enter
// there, and returns what the terminal shows afterwards. After each key it checks that the question
// and the options are still the same. If a person moves the cursor at the same time, Choose
// corrects it a few times. The errors are those of Press. A digit is sent only to a dialog of
// screen reader mode, which takes no arrows, and in which it chooses nothing before the Enter.
func (s *Service) Choose(ctx context.Context, id uuid.UUID, fingerprint string, option int) (port.Dialog, error) {
	return s.core.inDialog(ctx, id, fingerprint, typing.KeyEnter, func(t *dialogs, d port.Dialog) (_ port.Dialog, err error) {
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
			if !errors.Is(err, ErrChanged) || !asked.Asks(t.term.Screen.Dialog) {
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
func (t *dialogs) answer(ctx context.Context, asked *claudeui.Dialog, d port.Dialog, text string) (_ port.Dialog, err error) {
	if asked.Typed != "" { // a person is typing there
		return d, ErrChanged
	}
	for i := range text {
		if err := t.term.Press(ctx, tmux.Key(text[i:i+1])); err != nil {
			return port.Dialog{}, err
		}
		pause.Await(ctx, view.PollInterval, keyWait, func() bool {
			d, err = t.checkKey(ctx, typing.KeyEnter)
			return err != nil || !asked.Asks(t.term.Screen.Dialog) || t.term.Screen.Dialog.Typed == text[:i+1]
		})
		if err != nil {
			return d, err
		}
		if !asked.Asks(t.term.Screen.Dialog) || t.term.Screen.Dialog.Typed != text[:i+1] {
			return d, ErrChanged
		}
	}
	if err := t.term.Press(ctx, typing.KeyEnter); err != nil {
		return port.Dialog{}, err
	}
	return t.afterKey(ctx, d.Fingerprint)
}

// inDialog runs the function keys on the session's worker, if the key may be pressed in the dialog
// with the fingerprint.
func (k *core) inDialog(ctx context.Context, id uuid.UUID, fingerprint string, key tmux.Key,
	keys func(*dialogs, port.Dialog) (port.Dialog, error)) (d port.Dialog, err error) {
	err = k.ask(ctx, id, func(w *work) (err error) {
		if d, err = w.dialogs.dialogWith(ctx, fingerprint, key); err == nil {
			asked := view.Question(w.term.Screen)
			d, err = keys(w.dialogs, d)
			d.Same = err == nil && d.Open && view.Question(w.term.Screen) == asked
		}
		w.report.noteKey(fingerprint, d)
		return err
	})
	return d, err
}

// screenKeys are the keys that a person may press on a screen, by the names that Screen takes.
var screenKeys = func() map[string]tmux.Key {
	keys := maps.Clone(dialogKeys)
	keys["backtab"], keys["interrupt"] = tmux.KeyBackTab, tmux.KeyInterrupt
	return keys
}()

// Screen returns the content of a session's terminal, after pressing a key if press has one. It
// reads the terminal right before the key: if the screen has another fingerprint, it presses no key
// and returns ErrChanged with the present screen. The other errors are those of Press. If the
// prompt box is open, the key goes there, as the person sees.
func (s *Service) Screen(ctx context.Context, id uuid.UUID, press port.KeyOn) (now port.Screen, err error) {
	r, ok := s.core.Store.Get(id)
	k, known := screenKeys[press.Key]
	switch {
	case !ok:
		return port.Screen{}, session.ErrNotFound
	case press.Key == "":
		t := s.core.dialogsOf(&r)
		return t.screen(ctx)
	case !known:
		return port.Screen{}, fmt.Errorf("press %q: no such key", press.Key)
	}
	err = s.core.ask(ctx, id, func(w *work) (err error) {
		if now, err = w.dialogs.screen(ctx); err != nil {
			return err
		}
		if err = mayPressOn(w.term.View, now, press.Fingerprint, k); err != nil {
			return err
		}
		if err = w.term.Press(ctx, k); err != nil {
			return err
		}
		fingerprint := press.Fingerprint
		pause.Await(ctx, view.PollInterval, keyWait, func() bool { // until the screen has changed and come to rest
			last := fingerprint
			now, err = w.dialogs.screen(ctx)
			fingerprint = now.Fingerprint
			return errors.Is(err, view.ErrNoAgent) || err == nil && fingerprint != press.Fingerprint && fingerprint == last
		})
		return err
	})
	return now, err
}

// mayPressOn returns why a key may not be pressed on a screen. It is pure.
func mayPressOn(v view.View, now port.Screen, fingerprint string, k tmux.Key) error {
	switch {
	case v.State.Known == view.StateUnknown:
		return view.ErrUnseen
	case now.Fingerprint != fingerprint, chooses(k) && !now.Whole:
		return ErrChanged
	case v.Relayed && chooses(k):
		return ErrRelayed
	case v.IsFresh(view.Drawn): // the screen may be older than that
		return ErrChanged
	case now.Unasked && chooses(k):
		return ErrRelayed
	}
	return nil
}

// fingerprintOf returns a hash of what a screen shows and of the process that shows it, without the
// parts that change by themselves: the spinner's row, the blinking sign before a running tool, and
// blank rows, which come and go with the spinner.
func fingerprintOf(r session.Record, now port.Screen) string {
	h := sha256.New()
	if r.Binding != nil {
		fmt.Fprintf(h, "%s ", r.Binding.Agent)
	}
	fmt.Fprintf(h, "%t ", now.Whole)
	for _, row := range capture.Read(now.Text) {
		text, plain := "", true
		for _, c := range row {
			text += c.Text
			plain = plain && c.Text == " " && c.Paper == (cellpicture.Cell{}).Paper
		}
		if plain || claudeui.IsSpinner(text) {
			continue
		}
		if strings.Contains("●⏺ ", row[0].Text) && row[0].Paper == (cellpicture.Cell{}).Paper {
			row[0] = cellpicture.Cell{Text: " "}
		}
		fmt.Fprintf(h, "%v\n", row)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:9])
}

// screen looks at the terminal and returns what it shows.
func (t *dialogs) screen(ctx context.Context) (port.Screen, error) {
	d, err := t.dialog(ctx)
	if err != nil {
		return port.Screen{}, err
	}
	now := port.Screen{Text: t.term.Styled, Whole: !d.Open || d.Whole, Unasked: d.Unasked}
	now.Fingerprint = fingerprintOf(*t.r, now)
	return now, nil
}

// Interrupt presses Esc once in the session's pane, and waits for the end of the turn. Claude Code
// then puts the text of an unfinished prompt back into the box: ccbot removes it and asks the
// person about it. Queued prompts are treated the same before Esc is pressed. So after a stop ccbot
// types only prompts sent or decided since.
//
// described reports that the chat already shows what was stopped: by the questions to the person,
// or by the line of the transcript. The tmux guard names the bound process in any state; a shell in
// front of an adopted agent gets no key.
//
// ErrSilent means that tmux does not answer. ErrIdle means that no turn runs and no prompt waited;
// ErrAsks that Esc would answer an open dialog. If the dialog was open at the call, the queue
// stays.
func (s *Service) Interrupt(ctx context.Context, id uuid.UUID) (described bool, err error) {
	err = s.core.ask(ctx, id, func(w *work) (err error) {
		described, err = w.prompts.Requests().Interrupt(ctx)
		return err
	})
	return described, err
}
