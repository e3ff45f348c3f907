package lifecycle

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/port"
)

// Dialog returns the dialog in a session's terminal. The errors are those of dialog.Session.
func (s *Service) Dialog(ctx context.Context, id uuid.UUID) (port.Dialog, error) {
	r, ok := s.core.Store.Get(id)
	if !ok {
		return port.Dialog{}, session.ErrNotFound
	}
	return dialog.Of(&r, s.core.terminalOf(&r)).Dialog(ctx)
}

// Press presses a key (up, down, left, right, space, tab, esc, enter) in the dialog that has the
// fingerprint, and returns what the terminal shows afterwards. The errors are those of
// dialog.Session.
func (s *Service) Press(ctx context.Context, id uuid.UUID, fingerprint, key string) (port.Dialog, error) {
	return s.core.inDialog(ctx, id, fingerprint, func(d *dialog.Session) (port.Dialog, error) { return d.Press(ctx, fingerprint, key) })
}

// Choose moves the cursor of the dialog that has the fingerprint to one of its options, presses
// Enter there, and returns what the terminal shows afterwards. The errors are those of
// dialog.Session.
func (s *Service) Choose(ctx context.Context, id uuid.UUID, fingerprint string, option int) (port.Dialog, error) {
	return s.core.inDialog(ctx, id, fingerprint, func(d *dialog.Session) (port.Dialog, error) { return d.Choose(ctx, fingerprint, option) })
}

// inDialog runs the function keys on the session's worker, and notes what the chat shows then.
func (c *core) inDialog(ctx context.Context, id uuid.UUID, fingerprint string, keys func(*dialog.Session) (port.Dialog, error)) (d port.Dialog, err error) {
	err = c.ask(ctx, id, func(w *work) error {
		d, err = keys(dialog.Of(w.r, w.term))
		w.remember(func(m *stepState) { m.dialog.NoteKey(w.term.View, fingerprint, d) })
		return err
	})
	return d, err
}

// Screen returns the content of a session's terminal, after pressing a key if press has one. The
// errors are those of dialog.Session.
func (s *Service) Screen(ctx context.Context, id uuid.UUID, press port.KeyOn) (now port.Screen, err error) {
	if press.Key == "" {
		r, ok := s.core.Store.Get(id)
		if !ok {
			return port.Screen{}, session.ErrNotFound
		}
		return dialog.Of(&r, s.core.terminalOf(&r)).Screen(ctx)
	}
	err = s.core.ask(ctx, id, func(w *work) (err error) {
		now, err = dialog.Of(w.r, w.term).PressOn(ctx, press)
		return err
	})
	return now, err
}

// Switch notes what a person wants the session's present agent to run with, and returns what it
// runs with now; an empty request only reads. The steps carry the request out, before the next
// prompt is typed, and report news.Switched. A mode or a model that is wanted later takes the place
// of the earlier one. view.ErrNoAgent means that there is no agent; view.ErrUnseen that the
// terminal cannot be seen, or that the agent is being started; view.ErrSilent that tmux does not
// answer.
func (s *Service) Switch(ctx context.Context, id uuid.UUID, want port.ModeChange) (now port.ModeState, err error) {
	if want.Mode != "" && !want.Mode.Offered() {
		return port.ModeState{}, fmt.Errorf("switch to mode %q: not offered", want.Mode)
	}
	r, ok := s.core.Store.Get(id)
	if want == (port.ModeChange{}) && !r.State.Launching() {
		if !ok {
			return port.ModeState{}, session.ErrNotFound
		}
		return dialog.RunsWith(ctx, s.core.Observer, &r, s.core.terminalOf(&r))
	}
	// The worker of a session that is being launched may have reported that it is ready, and not
	// have saved it yet.
	err = s.core.ask(ctx, id, func(w *work) (err error) {
		now, err = w.switching.Request(ctx, want)
		return err
	})
	return now, err
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
// view.ErrSilent means that tmux does not answer. typing.ErrIdle means that no turn runs and no
// prompt waited; typing.ErrAsks that Esc would answer an open dialog. If the dialog was open at the
// call, the queue stays.
func (s *Service) Interrupt(ctx context.Context, id uuid.UUID) (described bool, err error) {
	err = s.core.ask(ctx, id, func(w *work) (err error) {
		described, err = w.prompts.Requests().Interrupt(ctx)
		return err
	})
	return described, err
}
