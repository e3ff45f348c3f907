package outbox

import (
	"ccbot/internal/address"
	"context"
	"fmt"
)

// EditNow is Edit for who must know that the chat has it: it waits until Telegram has changed the
// message, or already had it so. Edits of the message that still wait are dropped, also those that
// come back from a broken call: they are older. Errors as in Send; after one that is ErrUnsure the
// message may be changed.
func (o *Outbox) EditNow(ctx context.Context, to address.Conversation, messageID int, m Message) error {
	switch {
	case m.blank():
		return &Refused{errBlank}
	case m.Rich != "" && !o.TakesRich():
		return &Refused{ErrNoRich}
	}
	if err := o.overtake(refOf(to, messageID)); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	if _, err := o.ask(ctx, &job{kind: edit, rank: m.Rank, to: to, messageID: messageID, change: change{message: m}}); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	return nil
}

// overtake drops the edit of a message that waits; of one that is under way this is the last attempt.
func (o *Outbox) overtake(at ref) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Aliases.Lost(at.chat, at.message) {
		return &Refused{ErrMoved}
	}
	j := o.edits[at]
	switch {
	case j == nil:
	case j.flying:
		j.newer, j.abandoned = nil, true
		delete(o.edits, at) // an edit that comes later has its own turn
	default:
		o.dropLocked(j)
	}
	return nil
}
