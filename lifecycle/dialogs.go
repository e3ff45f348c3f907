package lifecycle

import (
	"context"

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
// fingerprint, and returns what the terminal shows afterwards. The key continue is a SIGCONT for an
// agent that is suspended. The errors are those of dialog.Session.
func (s *Service) Press(ctx context.Context, id uuid.UUID, fingerprint, key string) (port.Dialog, error) {
	return s.core.inDialog(ctx, id, fingerprint, func(w *work, d *dialog.Session) (port.Dialog, error) {
		if key == port.KeyContinue {
			return d.Continue(ctx, fingerprint, w.ender.Continue)
		}
		return d.Press(ctx, fingerprint, key)
	})
}

// Choose moves the cursor of the dialog that has the fingerprint to one of its options, presses
// Enter there, and returns what the terminal shows afterwards. The errors are those of
// dialog.Session.
func (s *Service) Choose(ctx context.Context, id uuid.UUID, fingerprint string, option int) (port.Dialog, error) {
	return s.core.inDialog(ctx, id, fingerprint, func(_ *work, d *dialog.Session) (port.Dialog, error) { return d.Choose(ctx, fingerprint, option) })
}

// inDialog runs the function keys on the session's worker, and notes what the chat shows then.
func (c *core) inDialog(ctx context.Context, id uuid.UUID, fingerprint string, keys func(*work, *dialog.Session) (port.Dialog, error)) (d port.Dialog, err error) {
	err = c.ask(ctx, id, func(w *work) error {
		d, err = keys(w, dialog.Of(w.r, w.term))
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
