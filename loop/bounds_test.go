package loop

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

// busyAgents are an agent and its subagents, each of which gets one answer after another until Esc.
// An answer takes longer than a count of the use and an Esc.
type busyAgents struct {
	*fakeEngine
	agents  int
	counted chan struct{}
	after   []int // the answers of each agent since the bound was reached
}

func (e *busyAgents) Spent(_ context.Context, _ uuid.UUID, _ time.Time) (Spent, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.spent.Tokens < tokenBound { // otherwise Esc follows
		e.release()
	}
	return e.spent, nil
}

// release lets each agent get its next answer.
func (e *busyAgents) release() {
	close(e.counted)
	e.counted = make(chan struct{})
}

func (e *busyAgents) Interrupt(ctx context.Context, id uuid.UUID) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.release()
	return e.fakeEngine.Interrupt(ctx, id)
}

func (e *busyAgents) Outcome(ctx context.Context, r session.Record, key uuid.UUID, known *outcome.Prompt) (outcome.Outcome, outcome.Prompt, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fakeEngine.Outcome(ctx, r, key, known)
}

// Listen lets all agents work.
func (e *busyAgents) Listen(ctx context.Context, _ uuid.UUID, heard func()) {
	var all sync.WaitGroup
	for i := range e.agents {
		all.Go(func() {
			for ctx.Err() == nil {
				e.mu.Lock()
				counted := e.counted
				if e.escs > 0 {
					e.mu.Unlock()
					return
				}
				if e.spent.Tokens >= tokenBound {
					e.after[i]++
				}
				e.spent.Tokens += 10
				e.mu.Unlock()
				heard()
				select {
				case <-counted:
				case <-ctx.Done():
				}
			}
		})
	}
	all.Wait()
}

const tokenBound = 100

// TestBoundAtEachAnswer: a bound is compared after each answer, also of subagents, so each of them
// gets at most one answer more.
func TestBoundAtEachAnswer(t *testing.T) {
	t.Parallel()
	for _, agents := range []int{1, 3} {
		w := newWorld(t)
		e := &busyAgents{fakeEngine: w.engine, agents: agents, counted: make(chan struct{}), after: make([]int, agents)}
		e.turn = outcome.Outcome{Kind: outcome.Open}
		w.Engine = e
		l := w.begin("true", port.LoopBounds{Tokens: tokenBound})
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = w.Run(ctx) }()
		waittest.Until(t, func() bool { return !w.loops[l.ID].copy().State.Live() })
		end()
		<-done
		assert.Equal(t, []any{port.LoopExhausted, port.BoundTokens, 1}, []any{w.only().State, w.only().Reason, e.escs})
		for _, n := range e.after {
			assert.LessOrEqual(t, n, 1, "%d agents", agents)
		}
		assert.LessOrEqual(t, w.only().Used.Tokens, int64(tokenBound+10*agents))
	}
}
