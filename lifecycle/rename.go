package lifecycle

import (
	"context"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/internal/logkey"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Rename gives a session a name that a person chose; where another session has the name, a number is
// added. When it returns, the record has the name. The window gets it from the next step.
func (s *Service) Rename(ctx context.Context, id uuid.UUID, name string) error {
	defer s.Wake(id)
	return s.kit.do(ctx, id, func(w *work) error { return w.rename(ctx, name, "") })
}

// nameAfter names a session after its first prompt that says what it is about. Only the folder's name
// is replaced.
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

// rename tells the new name once the record has it: who hears it looks at the record, and does so after a
// start, too.
func (w *work) rename(ctx context.Context, name string, by session.Namer) error {
	if name == "" || name == w.r.Name && by == w.r.NamedBy {
		return nil
	}
	from := w.r.Name
	if err := w.saveNamed(name, by); err != nil || w.r.Name == from {
		return err
	}
	w.at("name-saved")
	return w.tell(ctx, *w.r, news.Renamed{From: from, Asked: by == ""})
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

// nameWindow gives the window the name that the session has got. What fails is tried by the next
// step: nothing may wait for a name.
func (w *work) nameWindow(ctx context.Context) error {
	if !w.r.NameDue || w.term.Fate != PaneOurs {
		return nil
	}
	pane := tmux.Guard{Pane: w.term.Pane.ID, PID: w.r.Binding.PanePID()}
	if err := w.windows.Rename(ctx, pane, w.Evidence.Tag(w.r.ID), w.r.Name); err != nil {
		w.Log.Warn("window_not_renamed", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
		return nil
	}
	w.at("window-named")
	w.r.NameDue = false
	return w.save()
}
