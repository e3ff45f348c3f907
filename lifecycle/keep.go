package lifecycle

import (
	"context"
	"slices"

	"github.com/google/uuid"
)

// Keep puts a held prompt at the end of a session's queue, also of one that is
// over: there it waits until the session is back. The prompt must be on disk
// already.
func (s *Service) Keep(ctx context.Context, id uuid.UUID, key string) error {
	defer s.Wake(id)
	return s.do(ctx, id, func(w *work) error {
		switch to, err := w.passOn(key); {
		case err != nil:
			return err
		case to != uuid.Nil:
			return s.Keep(ctx, to, key)
		}
		if slices.Contains(w.r.Prompts, key) {
			return nil
		}
		w.r.Prompts = append(w.r.Prompts, key)
		return w.save()
	})
}
