package bot

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// movedTo is the session that lifecycle refuses another one for: it goes on with
// that one's conversation since a moment.
func (b *Bot) movedTo(err error) (session.Record, bool) {
	moved := (*lifecycle.MovedError)(nil)
	if !errors.As(err, &moved) {
		return session.Record{}, false
	}
	return b.Records.Get(moved.To)
}

// tellMoved lets a session take the place of the one whose conversation it goes
// on with, and tells it where nobody has asked for it.
func (b *Bot) tellMoved(ctx context.Context, n lifecycle.Note) error {
	if n.From.ID != uuid.Nil {
		if err := b.ReplaceCurrent(ctx, n.From.ID, n.Session.ID); err != nil {
			return err
		}
		b.answers.Follow(n.From) // which has nothing to read any more
	}
	b.answers.Follow(n.Session)
	if n.Asked {
		return nil
	}
	window := ""
	if n.Session.Binding != nil {
		window = n.Session.Binding.Window
	}
	return b.For(n.Session.ID).Say(ctx, n.Session.Conversation, b.adoptedText(i18n.Moved, n.Session, window))
}
