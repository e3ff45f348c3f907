package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// Move shows a session in another conversation of the chat: all that it says from now on, or from its
// next turn on. A turn that runs, and lines of the last one that the chat does not have yet, then
// keep their place.
func (s *Service) Move(ctx context.Context, id uuid.UUID, to session.Conversation, since port.MoveSince) error {
	return s.core.do(ctx, id, func(w *work) error {
		switch now := view.Noted(*w.r); {
		case since != port.NextTurn:
			w.r.Move(to)
		case to == w.r.Conversation:
			w.r.Next = session.Conversation{}
		case w.r.State.Live() && mayWork(now):
			w.r.Next = to
		default:
			w.r.GoOn(to, w.prompts.End())
		}
		return w.save()
	})
}

// mayWork reports whether an agent may be in a turn.
func mayWork(now talk.Activity) bool {
	return now.Works() || now.Phase.Waiting() || now.Phase == talk.PhaseUnknown
}

// leave shows the session where a person wants to see its next turn, as soon as no turn runs.
func (w *work) leave() error {
	if w.r.Next.ChatID == 0 || mayWork(view.Doing(w.term.View, talk.Failure{})) {
		return nil
	}
	w.r.GoOn(w.r.Next, w.prompts.End())
	return w.save()
}

// SetIdleAfter sets how long a session may be idle before it is archived, see
// [session.Record].IdleAfter, if that session is still there.
func (s *Service) SetIdleAfter(ctx context.Context, id uuid.UUID, after *time.Duration) error {
	err := s.core.do(ctx, id, func(w *work) error {
		w.r.IdleAfter = after
		w.r.Upkeep()
		return w.save()
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}

// SetBudget stores whether prompts may be typed, see [port.Budget]. view.ErrChanged means that the
// chat has seen another turn, or not the present one.
func (s *Service) SetBudget(ctx context.Context, id uuid.UUID, b port.Budget) error {
	defer s.core.agenda.wake(id)
	return s.core.do(ctx, id, func(w *work) error {
		head, err := w.prompts.Head()
		if err != nil {
			return err
		}
		works := view.Noted(*w.r).Works() || head != nil && head.State == typing.Typing
		if b.Turn != w.r.Budget.Turn || b.State == port.BudgetLeft && works {
			return fmt.Errorf("set the budget: %w", ErrChanged)
		}
		w.r.Budget = b
		w.r.Upkeep()
		return w.save()
	})
}

// Advance notes up to which position the chat has shown a transcript. A cursor with another path
// says that the earlier files were read to their end. The chat has stored the position, so the next
// save of the record is early enough, unless the position is not simply a later one, or the session
// has ended and nothing else may save its record.
func (s *Service) Advance(ctx context.Context, id uuid.UUID, c talk.Cursor) error {
	return s.core.do(ctx, id, func(w *work) error {
		if w.r.State.Live() && w.r.Shown(c) {
			s.core.Store.Keep(*w.r)
			return nil
		}
		i := slices.IndexFunc(w.r.Cursors, func(k talk.Cursor) bool { return k.Path == c.Path })
		if i < 0 || i == 0 && w.r.Cursors[0] == c {
			return nil
		}
		w.r.Cursors = slices.Delete(w.r.Cursors, 0, i)
		w.r.Cursors[0] = c
		return w.save()
	})
}
