package lifecycle

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/google/uuid"

	"ccbot/internal/session"
)

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
		w.view = s.View(ctx, *w.r)
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
		if err := w.clearDraft(ctx, *head); err != nil {
			return err
		}
		return w.typePrompt(ctx, *head)
	})
}

// clearDraft tells the draft and takes it out of the box.
func (w *work) clearDraft(ctx context.Context, p Prompt) error {
	told := w.view.Screen.Box
	n := Note{Kind: NoteDraftCleared, Session: w.r.Clone(), Prompt: p, Draft: told.Text}
	if err := w.News.SessionNews(ctx, n); err != nil {
		return fmt.Errorf("tell the draft: %w", err)
	}
	w.view = w.View(ctx, *w.r)
	if w.view.Screen.Box != told { // somebody types: that much was not told
		return ErrBoxBusy
	}
	if !w.emptyBox(ctx) || !w.view.TypeSafe() {
		return ErrBoxBusy
	}
	return nil
}
