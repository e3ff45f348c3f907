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
	return s.kit.do(ctx, id, func(w *work) error { return rename(ctx, w, name, "") })
}

// nameAfter names a session after its first prompt that says what it is about. Only the folder's name
// is replaced.
func nameAfter(ctx context.Context, w *work, prompt string) error {
	if w.r.NamedBy != session.NamedByFolder {
		return nil
	}
	name := naming.OfPrompt(filepath.Base(w.r.Dir), prompt)
	if name == "" {
		return nil
	}
	return rename(ctx, w, name, session.NamedByPrompt)
}

// rename tells the new name once the record has it: who hears it looks at the record, and does so after a
// start, too.
func rename(ctx context.Context, w *work, name string, by session.Namer) error {
	if name == "" || name == w.r.Name && by == w.r.NamedBy {
		return nil
	}
	from := w.r.Name
	if err := saveNamed(w, name, by); err != nil || w.r.Name == from {
		return err
	}
	w.at("name-saved")
	return w.tell(ctx, *w.r, news.Renamed{From: from, Asked: by == ""})
}

func saveNamed(w *work, name string, by session.Namer) error {
	w.names.Lock()
	defer w.names.Unlock()
	from := w.r.Name
	w.r.Rename(freeName(w.kit, name, w.r.ID), by)
	if w.r.Name != from {
		w.r.NameDue = w.r.State.Live() && (w.r.Binding == nil || !w.r.Binding.Adopted)
	}
	return w.save()
}

// createNamed puts a new record on disk, with a number behind its name where that is taken.
func createNamed(k *kit, r session.Record) error {
	k.names.Lock()
	defer k.names.Unlock()
	r.Name = freeName(k, r.Name, r.ID)
	return k.Store.Create(r)
}

// nameWindow gives the window the name that the session has got. What fails is tried by the next
// step: nothing may wait for a name.
func nameWindow(ctx context.Context, w *work) error {
	if !w.r.NameDue || w.term.Fate != PaneOurs {
		return nil
	}
	pane := tmux.Guard{Pane: w.term.Pane.ID, PID: w.r.Binding.PanePID()}
	if err := w.Tmux.Rename(ctx, pane, w.Evidence.Tag(w.r.ID), w.r.Name); err != nil {
		w.Log.Warn("window_not_renamed", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
		return nil
	}
	w.at("window-named")
	w.r.NameDue = false
	return w.save()
}

// freeName returns a name, with a number if another session that is open or may come back has it. The caller
// holds names.
func freeName(k *kit, name string, id uuid.UUID) string {
	taken := make(map[string]bool)
	for _, r := range k.Store.Shared() {
		taken[r.Name] = taken[r.Name] || r.ID != id && (r.State.Live() || r.Resumable())
	}
	return naming.Free(name, taken)
}
