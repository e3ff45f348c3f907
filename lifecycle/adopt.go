package lifecycle

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
)

// Adopt makes a session of an agent that a person runs, in the terminal where the agent runs. A
// session whose conversation it is continues there: its record is bound to that agent, in one save.
// The pane is the person's and stays theirs. If a session has that agent already, Adopt returns
// that session unchanged.
//
// Errors: ErrChanged means that the agent is no longer the proven writer; ErrNoTerminal that it
// runs where ccbot cannot type; ErrBusy that another change of From took too long; a WriterError
// that another process writes the conversation too, or that the agent was reported as a second
// writer and no person has decided; a StateError that From may not continue elsewhere.
func (s *Service) Adopt(ctx context.Context, q AdoptRequest) (adopted session.Record, err error) {
	if err := s.core.answers(ctx); err != nil { // otherwise the agent would seem to run outside of tmux
		return session.Record{}, err
	}
	wait, done := withTimeout(ctx, q.Timeout)
	defer done()
	if q.From == uuid.Nil {
		none := &session.Record{ID: uuid.New(), ClaudeSessionID: q.Claude}
		return s.core.work(none, func() error { return nil }).adoption.adopt(ctx, wait, q)
	}
	begun := false
	err = s.core.do(wait, q.From, func(w *work) (err error) {
		begun = true
		adopted, err = w.adoption.adopt(ctx, wait, q)
		return err
	})
	if !begun {
		err = waitError(ctx, wait, err)
	}
	return adopted, err
}

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}
