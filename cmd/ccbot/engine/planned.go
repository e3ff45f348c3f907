package engine

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port/refusal"
	"ccbot/port/talk"
	"ccbot/schedule"
)

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
