package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port"
	"ccbot/tmux"
)

// Reattach watches a session's agent again after a restart of ccbot, and asks for a step.
func (s *Service) Reattach(id uuid.UUID) error {
	r, ok := s.core.Store.Get(id)
	if !ok {
		return fmt.Errorf("reattach session %s: no such record", id)
	}
	s.core.watchAgent(r)
	s.core.agenda.wake(id)
	return nil
}

// Settle looks at a live session at a start, decides the outcome of it, and carries the decision
// out. Looking, deciding and nearly every decision are one turn of the session's worker; Discard
// and FinishRestore follow it. A loss has the rule in the history and is not reported: the record
// is Unreported until Reported is called. ErrChanged means that nothing is proven to have ended.
// After an error steps watch the session. A session that has ended stays as it is.
func (s *Service) Settle(ctx context.Context, id uuid.UUID, rule session.Rule) error {
	defer s.core.agenda.wake(id) // a step finishes what has failed halfway, and watches what has not ended
	var d Decision
	err := s.core.do(ctx, id, func(w *work) error {
		if !w.r.State.Live() {
			return nil
		}
		f, launch, err := w.startFacts(ctx)
		if err != nil {
			return err
		}
		switch d = Decide(*w.r, f); d.Do {
		case "", Reattach:
			return fmt.Errorf("settle session %s: %w", id, ErrChanged)
		case MarkLost:
			return w.closing.lostAway(ctx, rule, d.Why)
		}
		return w.live(ctx, d, launch)
	})
	switch {
	case err == nil && d.Do == Discard:
		return s.core.discard(ctx, id)
	case err == nil && d.Do == FinishRestore:
		return s.finishRestore(ctx, id)
	}
	return err
}

// discard removes a start that made no window. The settings of its launch go first, because without
// the record nothing would lead to them. ErrChanged means that the start has continued.
func (c *core) discard(ctx context.Context, id uuid.UUID) error {
	gone, err := c.Store.Purge(ctx, id, func(r session.Record) (bool, error) {
		if r.State != session.Starting || r.Binding != nil {
			return false, nil
		}
		if settings := c.Agents.Of(r.AgentName).Settings; settings != nil {
			return true, settings.Remove(id)
		}
		return true, nil
	})
	if err == nil && !gone {
		err = fmt.Errorf("discard session %s: %w", id, ErrChanged)
	}
	return err
}

// startFacts collects what decides about a live session at a start. launch is the pane that holds
// its launch.
func (w *work) startFacts(ctx context.Context) (f Facts, launch tmux.Pane, err error) {
	if w.r.Binding == nil && w.r.State.Open() {
		return w.opening.launchFacts(ctx, true)
	}
	w.term.Refresh(ctx)
	f = factsOf(w.term.View)
	f.Start = true
	return f, launch, ctx.Err() // ccbot is being stopped: a failed reading proves nothing
}

// finishRestore continues a restore. If that fails, the person who asked for it gets a report. If
// tmux lost the answer, it may have made the window all the same: then steps look for the window.
func (s *Service) finishRestore(ctx context.Context, id uuid.UUID) error {
	_, err := s.Restore(ctx, port.Restore{Session: id})
	if err == nil || errors.Is(err, tmux.ErrLost) {
		return err
	}
	return errors.Join(err, s.core.do(ctx, id, func(w *work) error {
		if !unbound(*w.r) {
			return nil
		}
		return w.closing.failed(ctx, "it could not be brought back: "+err.Error(), "")
	}))
}

// Abandon ends a session that is lost, or that may be running, after too long without a sign
// of life. Nothing is reported; a session that was running is Unreported until Reported is called.
// ErrChanged means that its agent lives, by the same test as in a Survey.
func (s *Service) Abandon(ctx context.Context, id uuid.UUID, rule session.Rule, why, closed string) error {
	return s.core.do(ctx, id, func(w *work) error {
		switch {
		case !session.CanBecome(w.r.State, session.Abandoned):
			return &StateError{State: w.r.State, Want: string(session.Abandoned)}
		case w.r.State == session.Running && w.r.Binding != nil && w.Evidence.AgentAlive(*w.r.Binding) == process.Alive:
			return fmt.Errorf("abandon session %s: %w", id, ErrChanged)
		case w.r.State == session.Running:
			return w.closing.giveUp(ctx, session.Abandoned, rule, why, closed, nil)
		}
		w.r.ClosedReason = cmp.Or(closed, w.r.ClosedReason)
		if err := w.r.Become(session.Abandoned, w.Now(), rule, why); err != nil {
			return err
		}
		return w.save()
	})
}

// Close notes why a session that has ended is no longer meant when its conversation comes back. The
// state of the session stays.
func (s *Service) Close(ctx context.Context, id uuid.UUID, rule session.Rule, why, closed string) error {
	return s.core.do(ctx, id, func(w *work) error {
		switch {
		case w.r.State.Live():
			return &StateError{State: w.r.State, Want: "closed"}
		}
		w.r.ClosedReason = closed
		w.r.Note(w.Now(), rule, why)
		return w.save()
	})
}

// Note adds a line to a session's history.
func (s *Service) Note(ctx context.Context, id uuid.UUID, rule session.Rule, why string) error {
	return s.core.do(ctx, id, func(w *work) error {
		w.r.Note(w.Now(), rule, why)
		return w.save()
	})
}

// Reported notes that the chat has been informed of what recovery did with a session, if that is
// still there.
func (s *Service) Reported(ctx context.Context, id uuid.UUID) error {
	err := s.core.do(ctx, id, func(w *work) error {
		if !w.r.Unreported {
			return nil
		}
		w.r.Unreported = false
		return w.save()
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}

// EndLeftovers ends the leftovers of an ended session and no other process: neither a reported
// second writer nor a process that only may write. Failures are noted in the record, with the time
// of the next try. Nothing is reported.
func (s *Service) EndLeftovers(ctx context.Context, id uuid.UUID, rule session.Rule) (ended []ending.Ending, err error) {
	err = s.core.do(ctx, id, func(w *work) error {
		if !w.r.State.HasEnded() {
			return &StateError{State: w.r.State, Want: "cleaned up"}
		}
		found, all, failures, err := w.ender.EndProven(ctx)
		if err != nil {
			return err
		}
		if found {
			ended = all
			w.at("leftovers-ended")
		}
		if err := ctx.Err(); err != nil {
			return err // ccbot is being stopped: the next start tries again at once
		}
		return w.closing.noteLeftovers(rule, &ending.Receipt{Others: ended, Failures: failures})
	})
	return ended, err
}
