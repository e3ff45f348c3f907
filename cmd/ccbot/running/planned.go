package running

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/engine"
	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Keep implements engine.PlannedPrompts. A prompt that does not wait is finished if its session has
// no agent: it must not wait for an agent that comes back.
func (p *prompts) Keep(ctx context.Context, q engine.Planned, queues engine.Queues) error {
	typed, class, ok := talk.Normalise(q.Text)
	if !ok {
		return errBlank
	}
	name := talk.PromptKey(q.Key)
	if _, err := p.inbox.Add(inbox.Entry{Key: name, State: inbox.Held, Session: q.Session.ID, Conversation: q.Session.Conversation, Text: typed, Class: class}); err != nil {
		return err
	}
	offers := p.offers(queues)
	queue := offers.Queue
	if q.Waits {
		queue = offers.Keep
	}
	err := queue(ctx, q.Session.ID, name)
	switch {
	case refusal.Is(err, refusal.NotFound) && !errors.Is(err, session.ErrNotFound): // it is typed, or finished
		return nil
	case errors.Is(err, view.ErrNoAgent) && !q.Waits:
		return errors.Join(err, p.finishHeld(name))
	}
	return err
}

// finishHeld finishes a prompt that no queue has.
func (p *prompts) finishHeld(key string) error {
	if err := p.inbox.FinishIn(key, inbox.Held); !errors.Is(err, inbox.ErrNoEntry) {
		return err
	}
	return nil
}

// Withdraw implements engine.PlannedPrompts.
func (p *prompts) Withdraw(ctx context.Context, id, key uuid.UUID, queues engine.Queues) error {
	name := talk.PromptKey(key)
	n, err := p.inbox.NextNumber()
	if err == nil {
		err = queues.Withdraw(ctx, id, name, n)
	}
	if errors.Is(err, typing.ErrNoPrompt) || errors.Is(err, session.ErrNotFound) {
		return p.finishHeld(name)
	}
	return err
}

// Kept implements engine.PlannedPrompts.
func (p *prompts) Kept(key uuid.UUID) (bool, error) {
	name := talk.PromptKey(key)
	_, err := p.inbox.Load(name)
	if errors.Is(err, inbox.ErrNoEntry) {
		_, err = p.inbox.Finished(name)
	}
	if errors.Is(err, inbox.ErrNoEntry) {
		return false, nil
	}
	return err == nil, err
}

// OutcomeOf implements engine.PlannedPrompts.
func (p *prompts) OutcomeOf(key uuid.UUID) (outcome.Prompt, error) {
	return p.outcomeOf(talk.PromptKey(key))
}
