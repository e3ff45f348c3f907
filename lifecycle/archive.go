package lifecycle

import (
	"context"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port"
)

// Archive ends a session, as archived or as completed. If it returns without an error, either no
// leftover of the session lives (P3), or the state is cleanup_failed. The receipt, which is
// reported as news, has the result and the reasons. While tmux does not answer, Archive refuses
// with view.ErrSilent; a stop that is on disk continues.
func (s *Service) Archive(ctx context.Context, id uuid.UUID, final session.State, cause port.Cause) error {
	return s.end(ctx, id, func(w *work) error { return w.closing.archive(ctx, final, requestedEnd(cause), &ending.Receipt{}) })
}

// BeginEnd is Archive that returns when the end is on disk: the next step carries it out.
func (s *Service) BeginEnd(ctx context.Context, id uuid.UUID, final session.State, cause port.Cause) error {
	return s.end(ctx, id, func(w *work) error { return w.closing.begin(final, requestedEnd(cause)) })
}

// end is ask, but an end that is on disk continues while tmux does not answer.
func (s *Service) end(ctx context.Context, id uuid.UUID, fn func(w *work) error) error {
	if r, ok := s.core.Store.Get(id); ok && r.State != session.Stopping {
		return s.core.ask(ctx, id, fn)
	}
	return s.core.change(ctx, id, fn)
}
