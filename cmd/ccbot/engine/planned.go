package engine

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
	"ccbot/recovery"
	"ccbot/schedule"
)

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

// Own are the prompts of loops and schedules of an engine whose chat is on another machine. They
// have no number: no chat has offered them, and none gets a report.
type Own struct{ Prompts *PromptStore }

// Keep implements PlannedPrompts.
func (o Own) Keep(ctx context.Context, q Planned, queues Queues) error {
	typed, class, ok := talk.Normalise(q.Text)
	if !ok {
		return schedule.ErrNoText
	}
	queue := queues.Queue
	if q.Waits {
		queue = queues.Keep
	}
	err := queue(ctx, q.Session.ID, talk.Offer{Key: talk.PromptKey(q.Key), Text: typed, Class: class, Since: time.Now().UTC()})
	if refusal.Is(err, refusal.NotFound) && !errors.Is(err, session.ErrNotFound) { // it is typed, or finished
		return nil
	}
	return err
}

// Withdraw implements PlannedPrompts.
func (o Own) Withdraw(ctx context.Context, id, key uuid.UUID, queues Queues) error {
	err := queues.Withdraw(ctx, id, talk.PromptKey(key), 1) // the only command about it
	if refusal.Is(err, refusal.NotFound) {
		return nil
	}
	return err
}

// Kept implements PlannedPrompts.
func (o Own) Kept(key uuid.UUID) (bool, error) {
	_, _, err := o.Prompts.Files.Find(talk.PromptKey(key))
	if errors.Is(err, prompts.ErrNoPrompt) {
		return false, nil
	}
	return err == nil, err
}

// OutcomeOf implements PlannedPrompts.
func (o Own) OutcomeOf(key uuid.UUID) (outcome.Prompt, error) {
	p, ended, err := o.Prompts.Files.Find(talk.PromptKey(key))
	switch {
	case errors.Is(err, prompts.ErrNoPrompt):
		return outcome.Prompt{Finished: true}, nil
	case err != nil:
		return outcome.Prompt{}, err
	case ended != "" && ended != prompts.Delivered:
		p.Mark = nil // it was taken out
	}
	return outcome.Prompt{Text: p.Text, Class: p.Class, Mark: p.Mark, Finished: ended != "", Unproven: p.State == prompts.Unproven}, nil
}
