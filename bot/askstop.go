package bot

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/bot/ask"
)

// interrupt sends Esc to an agent. The cards know of it before: the transcript tells
// of an Esc, but not whose.
func (b *Bot) interrupt(ctx context.Context, id uuid.UUID) error {
	noted, err := b.asks.noteStop(id)
	if err != nil {
		return err
	}
	if err := b.Sessions.Interrupt(ctx, id); err != nil {
		return errors.Join(err, b.asks.undoStop(noted))
	}
	b.outputs.Interrupted(ctx, id)
	return nil
}

// noteStop notes in a session's open cards that the agent is interrupted from the
// chat. A subagent is not stopped by it.
func (a *asks) noteStop(id uuid.UUID) (noted []string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.cardsOf(id) {
		if c.State != ask.StateOpen || c.Request.SubagentID != "" || c.Stopped {
			continue
		}
		c.Stopped = true
		if err := a.keepLocked(c); err != nil {
			return noted, err
		}
		noted = append(noted, c.Request.ID)
	}
	return noted, nil
}

func (a *asks) undoStop(noted []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, id := range noted {
		if c, ok := a.Asks.Get(id); ok && !c.IsOver() {
			c.Stopped = false
			errs = append(errs, a.keepLocked(c))
		}
	}
	return errors.Join(errs...)
}
