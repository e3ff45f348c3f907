package lifecycle

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port"
	"ccbot/port/news"
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

// ArchiveQuiet archives a quiet session; it returns nil only if Archive would. It checks the
// session again on its worker. ErrChanged means that it ended nothing, because the session was used
// since the decision, or that is unknown, or schedules of its own would end with it, which it reports
// if no person asked, or the agent is in a pane that a person opened: only a person ends that agent. After any other error a step may continue the archive: the record has the
// state.
func (s *Service) ArchiveQuiet(ctx context.Context, id uuid.UUID, q port.Silence) error {
	return s.core.change(ctx, id, func(w *work) error {
		l := w.Observer.Inspector(ctx)(*w.r)
		if w.r.State != session.Running || len(w.r.Prompts) > 0 || !l.Quiet() || !l.Active.Equal(q.Since) {
			return ErrChanged
		}
		if w.term.Refresh(ctx); w.r.Binding.Adopted && !w.ender.HasMadeAdopted(w.term.Pane) {
			return ErrChanged
		}
		all, err := w.Evidence.Settled(ctx, w.r.AgentSessionID)
		switch {
		case err != nil:
			return err
		case len(all.Unreported(*w.r)) > 0:
			return ErrChanged // a writer has just come, which has to be reported to the person first
		}
		if l.Schedules > 0 {
			if q.Quiet > 0 { // otherwise a person reads it in the answer
				err = w.notify(ctx, news.Spared{Quiet: q.Quiet, Schedules: l.Schedules})
			}
			return cmp.Or(err, ErrChanged)
		}
		why := requestedEnd(q.Cause)
		if q.Quiet > 0 {
			why.Rule = RuleIdle
		}
		return w.closing.archive(ctx, session.Archived, why, &ending.Receipt{Quiet: q.Quiet, Together: q.Together})
	})
}
