package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Reattach watches a session's agent again after a restart of ccbot, and asks for a step.
func (s *Service) Reattach(id uuid.UUID) error {
	r, ok := s.kit.Store.Get(id)
	if !ok {
		return fmt.Errorf("reattach session %s: no such record", id)
	}
	s.kit.watchAgent(r)
	s.kit.agenda.wake(id)
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
		return w.opening.takeUp(ctx, pane)
	})
}

// FinishStop continues a stop that was interrupted. If the session is no longer being stopped, it
// does nothing.
func (s *Service) FinishStop(ctx context.Context, id uuid.UUID) error {
	return s.kit.change(ctx, id, func(w *work) error {
		if w.r.State != session.Stopping {
			return nil
		}
		return w.closing.stop(ctx, &Receipt{})
	})
}

// Conclude finishes a session whose agent ended by itself while no ccbot ran, as a step would. A
// session that is no longer open stays as it is. ErrChanged means that the end of the agent is not
// proven, or no longer proven.
func (s *Service) Conclude(ctx context.Context, id uuid.UUID) error {
	return s.kit.change(ctx, id, func(w *work) error {
		if !w.r.State.Open() {
			return nil
		}
		w.term.look(ctx)
		d := Decide(*w.r, w.term.facts())
		if d.Do != Conclude && d.Do != MarkLost {
			return fmt.Errorf("conclude session %s: %w", id, ErrChanged)
		}
		return w.live(ctx, d, tmux.Pane{})
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
		return w.closing.giveUp(ctx, next, rule, why, closed, nil)
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
			return w.closing.giveUp(ctx, session.Abandoned, rule, why, closed, nil)
		}
		w.r.Closed = cmp.Or(closed, w.r.Closed)
		if err := w.r.Become(session.Abandoned, w.Now(), rule, why); err != nil {
			return err
		}
		return w.save()
	})
}

// Close notes why a session that is over is no longer meant when its conversation comes back. The
// state of the session stays.
func (s *Service) Close(ctx context.Context, id uuid.UUID, rule session.Rule, why, closed string) error {
	return s.kit.do(ctx, id, func(w *work) error {
		switch {
		case w.r.State.Live():
			return &StateError{State: w.r.State, Want: "closed"}
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
		return w.closing.failed(ctx, why, "")
	})
}

// EndLeftovers ends what is left of a session that is over, and no other process: neither a
// reported second writer nor a process that only may write. What cannot be ended is noted in the
// record, with the time of the next try. Nothing is reported.
func (s *Service) EndLeftovers(ctx context.Context, id uuid.UUID, rule session.Rule) (ended []Ending, err error) {
	err = s.kit.do(ctx, id, func(w *work) error {
		if !w.r.Resumable() {
			return &StateError{State: w.r.State, Want: "cleaned up"}
		}
		l, err := w.ender.leftovers(ctx)
		if err != nil {
			return err
		}
		if len(l.left) == 0 && len(l.unknown) == 0 {
			return w.ender.noteEnded(rule, nil, nil)
		}
		var failures []Failure
		ended, failures = w.ender.endWriting(ctx, l.left, w.ender.proveLeftover(ctx))
		below, failed := w.ender.endBelow(ctx)
		ended = append(ended, below...)
		w.at("leftovers-ended")
		if err := ctx.Err(); err != nil {
			return err // ccbot is being stopped: the next start tries again at once
		}
		return w.ender.noteEnded(rule, ended, slices.Concat(l.unknown, failures, failed))
	})
	return ended, err
}

// Move shows a session in another conversation of the chat from now on.
func (s *Service) Move(ctx context.Context, id uuid.UUID, to session.Conversation) error {
	return s.kit.do(ctx, id, func(w *work) error {
		w.r.Conversation = to
		return w.save()
	})
}

// Advance notes up to which position the chat has shown a transcript. A cursor with another path
// says that the earlier files were read to their end.
func (s *Service) Advance(ctx context.Context, id uuid.UUID, c transcript.Cursor) error {
	return s.kit.do(ctx, id, func(w *work) error {
		i := slices.IndexFunc(w.r.Cursors, func(k transcript.Cursor) bool { return k.Path == c.Path })
		if i < 0 {
			return nil
		}
		w.r.Cursors = slices.Delete(w.r.Cursors, 0, i)
		w.r.Cursors[0] = c
		return w.save()
	})
}
