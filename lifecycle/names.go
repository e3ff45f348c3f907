package lifecycle

import (
	"context"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/port/news"
)

// Rename gives a session a name that a person chose; where another session has the name, a number
// is added. When it returns, the record has the name. The window gets it from the next step.
func (s *Service) Rename(ctx context.Context, id uuid.UUID, name string) error {
	return s.core.change(ctx, id, func(w *work) error { return w.rename(ctx, name, "") })
}

// nameAfter names a session after its first meaningful prompt. Only the folder's name is replaced.
func (w *work) nameAfter(ctx context.Context, prompt string) error {
	if w.r.NamedBy != session.NamedByFolder {
		return nil
	}
	name := naming.OfPrompt(filepath.Base(w.r.Dir), prompt)
	if name == "" {
		return nil
	}
	return w.rename(ctx, name, session.NamedByPrompt)
}

// rename reports the new name after the record has it, because a handler reads the record, also
// after a start.
func (w *work) rename(ctx context.Context, name string, by session.Namer) error {
	if name == "" || name == w.r.Name && by == w.r.NamedBy {
		return nil
	}
	from := w.r.Name
	if err := w.saveNamed(name, by); err != nil || w.r.Name == from {
		return err
	}
	w.at("name-saved")
	return w.notify(ctx, news.Renamed{})
}

func (w *work) saveNamed(name string, by session.Namer) error {
	w.records.names.Lock()
	defer w.records.names.Unlock()
	from := w.r.Name
	w.r.Rename(w.records.freeName(name, w.r.ID), by)
	if w.r.Name != from {
		w.r.NameDue = w.r.State.Live() && (w.r.Binding == nil || !w.r.Binding.Adopted)
	}
	return w.save()
}
