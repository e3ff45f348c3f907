package engine

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/recovery"
)

// Chat has the calls of an engine to its chat that are not news. Each assumes a chat that can be
// asked now.
type Chat interface {
	// Holds is lifecycle.Callbacks.Holds.
	Holds(ctx context.Context, id uuid.UUID) (why news.Wait, capped bool)
}

// PlannedPrompts keeps the prompts of loops and schedules.
type PlannedPrompts interface {
	// Keep puts a prompt on disk, and then into the queue of a session, also of an ended one if it
	// waits.
	Keep(ctx context.Context, p Planned, queues Queues) error
	// Kept reports whether a prompt was ever kept.
	Kept(key uuid.UUID) (bool, error)
	// Withdraw takes a prompt back that is not typed yet.
	Withdraw(ctx context.Context, session, key uuid.UUID, queues Queues) error
	// OutcomeOf returns a prompt as the outcome of its turn needs it.
	OutcomeOf(key uuid.UUID) (outcome.Prompt, error)
}

// Planned is the prompt of a loop or a schedule.
type Planned struct {
	Key     uuid.UUID
	Session session.Record
	Text    string
	Waits   bool // for a session that has ended, until it is restored
}

// Queues are the queues of an engine.
type Queues interface {
	talk.PromptQueue
	Withdraw(ctx context.Context, id uuid.UUID, key string, number int64) error
	TakeBack(ctx context.Context, id uuid.UUID, key string, number int64, held bool) error
}

// Counts counts what an engine does, for package metrics.
type Counts interface {
	Recovered(report recovery.Report)
	Acted(results []recovery.Result)
	End(outcome string)
	Forgot(state session.State, age time.Duration)
	LoopEnded(outcome port.LoopState, age time.Duration)
	LoopPurged(outcome port.LoopState, age time.Duration)
	WorktreeCleaned(ok bool)
}
