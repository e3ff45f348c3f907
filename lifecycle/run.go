package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/internal/sysfault"
)

// Run takes steps and watches agents until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.core.noticeRegularly(ctx) })
	s.core.running.Store(true)
	defer s.core.running.Store(false)
	// Ended sessions may have processes to end, and the chat may lack news.
	s.core.wakeEach(func(r session.Record) bool { return !r.State.Live() && stepped(r) || len(r.News) > 0 })
	a := s.core.agenda
	for {
		steps, watches, foreign, gits := a.take()
		for _, id := range steps {
			g.Go(func() error { s.core.run(ctx, id); return nil })
		}
		for _, w := range watches {
			g.Go(func() error { s.core.watch(ctx, w); return nil })
		}
		if len(foreign) > 0 {
			g.Go(func() error { s.core.notice(ctx, foreign); return nil })
		}
		if len(gits) > 0 {
			g.Go(func() error { s.core.readGits(ctx, gits); return nil })
		}
		select {
		case <-ctx.Done():
			defer a.stopTimers() // deferred, because until then a step may still start a timer
			return errors.Join(g.Wait(), ctx.Err())
		case <-a.wakes:
		}
	}
}

// run takes one step and schedules the next.
func (c *core) run(ctx context.Context, id uuid.UUID) {
	again, err := c.step(ctx, id)
	failed := err != nil && !errors.Is(err, session.ErrNotFound) && ctx.Err() == nil
	if failed {
		c.Log.Warn("session_step_failed", logkey.SessionID, id.String(), logkey.Error, err)
	}
	c.states.remember(id, func(m *stepState) {
		if !failed {
			m.failures = 0
			return
		}
		// The pause grows, because what a step reports before it fails is reported again by the next
		// step.
		most := 5 * time.Minute
		if sysfault.Of(err) != "" { // it passes
			most = 5 * time.Second
		}
		again = max(again, pause.Doubled(2*time.Second, most, m.failures))
		m.failures++
	})
	if r, ok := c.Store.Get(id); !ok || !stepped(r) {
		c.forget(id)
	}
	if ctx.Err() != nil {
		again = 0
	}
	c.agenda.stepped(id, again)
}

func (c *core) watch(ctx context.Context, w watch) {
	if err := c.Observer.Processes.Wait(ctx, w.agent); err != nil && ctx.Err() == nil {
		c.Log.Warn("agent_watch_failed", logkey.PID, w.agent.PID, logkey.Error, err)
		_ = pause.For(ctx, watchRetry)
	}
	c.agenda.note(func() { delete(c.agenda.watched, w.agent) })
	if ctx.Err() == nil {
		c.agenda.wake(w.session)
	}
}

// watchRetry is the pause after the kernel refused to watch an agent.
const watchRetry = 30 * time.Second

func (c *core) readGits(ctx context.Context, ids []uuid.UUID) {
	for _, id := range ids {
		r, ok := c.Store.Get(id)
		if !ok || ctx.Err() != nil {
			continue
		}
		state, known := c.ReadGit(ctx, r)
		if !known {
			continue
		}
		c.states.remember(id, func(m *stepState) { m.git = &gitReading{state: state} })
		if !sameGit(state, r.GitNow) {
			c.agenda.wake(id) // a step puts it into the record
		}
	}
	c.agenda.note(func() { c.agenda.gits.running = false })
}
