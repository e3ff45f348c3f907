package chat

import (
	"context"
	"fmt"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// Lead says in one place that a session is shown in a topic of its own; nothing where that is the place.
func (c *Chat) Lead(ctx context.Context, from outbox.Conversation, r views.Session, at outbox.Conversation) error {
	if from == at {
		return nil
	}
	text, seen := c.In(from).Text(i18n.TopicItsOwn, i18n.Args{"Name": r.Name}), at
	seen.ChatID, _ = c.Book.Aliases.Out(at.ChatID, 0)
	if link := linkTo(seen); link != "" {
		text = render.Link(text, link)
	}
	return c.Post(ctx, card.Look{To: from, Text: text, Session: r.ID})
}

// linkTo is the address of a topic; empty: it has none. Only topics of supergroups have one.
func linkTo(at outbox.Conversation) string {
	const supergroups = -1_000_000_000_000 // their numbers are below it
	if at.ChatID >= supergroups || at.ThreadID == 0 {
		return ""
	}
	return fmt.Sprintf("https://t.me/c/%d/%d", supergroups-at.ChatID, at.ThreadID)
}
