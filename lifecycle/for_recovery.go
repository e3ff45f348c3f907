package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Reattach watches a session's agent again after a restart of ccbot, and asks for a step.
func (s *Service) Reattach(_ context.Context, id uuid.UUID) error {
	r, ok := s.kit.Store.Get(id)
	if !ok {
		return fmt.Errorf("reattach session %s: no such record", id)
	}
	s.kit.watchAgent(r)
	s.Wake(id)
	return nil
}

// Bind binds a session to the window that carries its tag, after a crash between making the window
// and recording it. The process must be the launch that the record describes.
func (s *Service) Bind(ctx context.Context, id uuid.UUID, pane tmux.Pane) error {
	return s.kit.do(ctx, id, func(w *work) error {
		if pane.Tag != w.Evidence.Tag(id) || w.r.Binding != nil {
			return fmt.Errorf("bind session %s: pane %s is not its own", id, pane.ID)
		}
		// The tag belongs to the window: a pane that a person split off has it too.
		if p, err := w.Processes.Inspect(pane.PID); err == nil && !evidence.StartedFor(p, w.r.ClaudeSessionID) {
			return fmt.Errorf("bind session %s: process %d is not its launch", id, pane.PID)
		}
		return w.takeUp(ctx, pane)
	})
}

// takeUp binds a session to a window that was found, and continues the launch from there.
func (w *work) takeUp(ctx context.Context, pane tmux.Pane) error {
	if err := w.bind(ctx, pane); err != nil {
		return err
	}
	w.watchAgent(w.r.Clone())
	w.agenda.wake(w.r.ID)
	return nil
}

// findWindow binds a launch with an unknown outcome to the window that it made. If no window is
// found within OrphanGrace, there never was one.
func (w *work) findWindow(ctx context.Context) error {
	if found, err := w.findLaunch(ctx); found || err != nil {
		return err
	}
	if launchAge(w.r, w.Now()) > w.OrphanGrace {
		return w.failed(ctx, "its window was never made", "")
	}
	w.again = min(holdPace, max(w.OrphanGrace, soon))
	return nil
}

// findLaunch binds a launch whose window is not known to the window that it made, if that window is
// there.
func (w *work) findLaunch(ctx context.Context) (found bool, err error) {
	if !unbound(*w.r) {
		return false, nil
	}
	panes, err := w.Tmux.Panes(ctx)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) {
		return false, fmt.Errorf("find the window of session %s: %w", w.r.ID, err)
	}
	for _, p := range panes {
		if p.Tag == w.Evidence.Tag(w.r.ID) && w.isLaunch(p.PID) {
			return true, w.takeUp(ctx, p)
		}
	}
	return false, nil
}

// FinishStop continues a stop that was interrupted. If the session is no longer being stopped, it
// does nothing.
func (s *Service) FinishStop(ctx context.Context, id uuid.UUID) error {
	defer s.Wake(id) // what failed halfway is finished by a step
	return s.kit.do(ctx, id, func(w *work) error {
		if w.r.State != session.Stopping {
			return nil
		}
		return w.stop(ctx, &Receipt{})
	})
}

// Conclude finishes a session whose agent ended by itself while no ccbot ran, as a step would. A
// session that is no longer open stays as it is. ErrChanged means that the end of the agent is not
// proven, or no longer proven.
func (s *Service) Conclude(ctx context.Context, id uuid.UUID) error {
	defer s.Wake(id) // what failed halfway is finished by a step
	return s.kit.do(ctx, id, func(w *work) error {
		if !w.r.State.Open() {
			return nil
		}
		w.term.look(ctx)
		d, over := decideEnd(*w.r, w.term.View)
		if !over {
			return fmt.Errorf("conclude session %s: %w", id, ErrChanged)
		}
		return w.act(ctx, d, nil)
	})
}

// MarkLost notes that a session's pane and process are proven gone: the session is lost or, if it
// was never ready, failed. Nothing is reported: the record is Unreported until Reported is called.
// ErrChanged means that the agent is not proven gone, or no longer proven gone.
func (s *Service) MarkLost(ctx context.Context, id uuid.UUID, rule session.Rule, why, closed string) error {
	return s.kit.do(ctx, id, func(w *work) error {
		next := session.Lost
		if w.r.State.Launching() {
			next = session.Failed
		}
		if !w.r.State.CanBecome(next) {
			return &StateError{State: w.r.State, Want: string(next)}
		}
		if s.kit.ownAgent(*w.r) != process.Gone {
			return fmt.Errorf("mark session %s as %s: %w", id, next, ErrChanged)
		}
		return w.giveUp(ctx, next, rule, why, closed, nil)
	})
}

// Abandon gives up a session that is lost, or that may be running, after too long without a sign of
// life. Nothing is reported; a session that was running is Unreported until Reported is called.
// ErrChanged means that its agent lives, by the same test as in a Survey.
func (s *Service) Abandon(ctx context.Context, id uuid.UUID, rule session.Rule, why, closed string) error {
	return s.kit.do(ctx, id, func(w *work) error {
		switch {
		case !w.r.State.CanBecome(session.Abandoned):
			return &StateError{State: w.r.State, Want: string(session.Abandoned)}
		case w.r.State == session.Running && w.r.Binding != nil && w.Evidence.AgentAlive(*w.r.Binding) == process.Alive:
			return fmt.Errorf("abandon session %s: %w", id, ErrChanged)
		case w.r.State == session.Running:
			return w.giveUp(ctx, session.Abandoned, rule, why, closed, nil)
		}
		w.r.Closed = cmp.Or(closed, w.r.Closed)
		if err := w.r.Become(session.Abandoned, w.Now(), rule, why); err != nil {
			return err
		}
		return w.save()
	})
}

// ownAgent says whether a session's agent lives. An agent that ended before it could be identified,
// or that never was, is gone.
func (k *kit) ownAgent(r session.Record) process.Liveness {
	if !r.Agent().Valid() {
		return process.Gone
	}
	return k.Processes.Liveness(r.Agent())
}

// giveUp ends the life of a session of which nothing is left, as far as is known. Without news it is
// Unreported: recovery reports all such sessions at once.
func (w *work) giveUp(ctx context.Context, next session.State, rule session.Rule, why, closed string, told news.News) error {
	if err := w.settlePrompts(ctx); err != nil {
		return err
	}
	if next == session.Lost { // otherwise the end of the agent is not proven, or the session was never ready
		noteInterruption(ctx, w)
	}
	w.over(w.endSeen())
	w.r.Closed, w.r.Unreported = closed, told == nil
	return w.become(ctx, next, rule, why, told)
}

// Close notes why a session that is over is no longer meant when its conversation comes back. The
// state of the session stays.
func (s *Service) Close(ctx context.Context, id uuid.UUID, rule session.Rule, why, closed string) error {
	return s.kit.do(ctx, id, func(w *work) error {
		switch {
		case w.r.State.Live():
			return &StateError{State: w.r.State, Want: "closed"}
		case w.r.HandedOver():
			return nil // Closed must keep leading to the successor
		}
		w.r.Closed = closed
		w.r.Note(w.Now(), rule, why)
		return w.save()
	})
}

// Note adds a line to a session's history.
func (s *Service) Note(ctx context.Context, id uuid.UUID, rule session.Rule, why string) error {
	return s.kit.do(ctx, id, func(w *work) error {
		w.r.Note(w.Now(), rule, why)
		return w.save()
	})
}

// Reported notes that the chat has been informed of what recovery did with a session, if that is still there.
func (s *Service) Reported(ctx context.Context, id uuid.UUID) error {
	err := s.kit.do(ctx, id, func(w *work) error {
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

// Fail ends a start or a restore that was interrupted before it had a window, and reports it. A
// session that has a window by now, or that has ended, stays as it is.
func (s *Service) Fail(ctx context.Context, id uuid.UUID, why string) error {
	return s.kit.do(ctx, id, func(w *work) error {
		if !unbound(*w.r) {
			return nil
		}
		return w.failed(ctx, why, "")
	})
}

func (w *work) failed(ctx context.Context, why, screen string) error {
	if err := w.tell(ctx, *w.r, news.Failed{Screen: screen}); err != nil {
		return err
	}
	return w.fail(ctx, why)
}
