package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Reattach watches a session's agent again after a restart and takes a step.
func (s *Service) Reattach(_ context.Context, id uuid.UUID) error {
	r, ok := s.Store.Get(id)
	if !ok {
		return fmt.Errorf("reattach session %s: no such record", id)
	}
	s.Watch(r)
	s.Wake(id)
	return nil
}

// Bind binds a session to the window that carries its tag, after a crash
// between making the window and recording it. The process must be the launch
// that the record describes.
func (s *Service) Bind(ctx context.Context, id uuid.UUID, pane tmux.Pane) error {
	return s.do(ctx, id, func(w *work) error {
		if pane.Tag != w.Tag(id) || w.r.Binding != nil {
			return fmt.Errorf("bind session %s: pane %s is not its own", id, pane.ID)
		}
		// The tag is the window's: a pane that a person split off has it too.
		if p, err := w.Processes.Inspect(pane.PID); err == nil && !startedFor(p, w.r.ClaudeSessionID) {
			return fmt.Errorf("bind session %s: process %d is not its launch", id, pane.PID)
		}
		return w.takeUp(ctx, pane)
	})
}

// takeUp binds a session to a window that was found, and goes on from there.
func (w *work) takeUp(ctx context.Context, pane tmux.Pane) error {
	if err := w.bind(ctx, pane); err != nil {
		return err
	}
	w.Watch(w.r.Clone())
	w.Wake(w.r.ID)
	return nil
}

// findWindow binds a launch whose outcome was lost to the window that it made. If
// there is none after a while there never was.
func (w *work) findWindow(ctx context.Context) error {
	panes, err := w.Tmux.Panes(ctx)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) {
		return fmt.Errorf("find the window of session %s: %w", w.r.ID, err)
	}
	for _, p := range panes {
		if p.Tag == w.Tag(w.r.ID) && w.isLaunch(p.PID) {
			return w.takeUp(ctx, p)
		}
	}
	if launchAge(w.r, w.Now()) > unboundFor {
		return w.failed(ctx, "its window was never made")
	}
	w.again = holdPace
	return nil
}

// unboundFor is how long the window of a launch is looked for.
const unboundFor = 30 * time.Second

// MarkLost notes that a session's pane and process are proven gone.
func (s *Service) MarkLost(ctx context.Context, id uuid.UUID, why string) error {
	return s.do(ctx, id, func(w *work) error {
		if !w.r.State.CanBecome(session.Lost) {
			return w.failed(ctx, why)
		}
		return w.lost(ctx)
	})
}

// Fail ends a start or a restore that was interrupted before it had a window,
// and tells it.
func (s *Service) Fail(ctx context.Context, id uuid.UUID, why string) error {
	return s.do(ctx, id, func(w *work) error { return w.failed(ctx, why) })
}

func (w *work) failed(ctx context.Context, why string) error {
	if err := w.tell(ctx, NoteFailed, Prompt{}); err != nil {
		return err
	}
	return w.fail(ctx, why)
}

// identify reads which process a fresh pane holds. One that has already ended
// has no identity any more: its pane says how it ended.
func (w *work) identify(pane tmux.Pane) (process.Identity, error) {
	p, err := w.Processes.Inspect(pane.PID)
	if errors.Is(err, process.ErrGone) {
		return process.Identity{PID: pane.PID}, nil
	}
	if err != nil {
		return process.Identity{}, fmt.Errorf("inspect process %d: %w", pane.PID, err)
	}
	return p.Identity, nil
}
