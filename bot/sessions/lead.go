package sessions

import (
	"context"
	"fmt"

	"ccbot/bot/card"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Lead says in one place that a session is shown in a topic of its own; nothing where that is the place.
func (s *Sessions) Lead(ctx context.Context, from address.Conversation, r views.Session, at address.Conversation) error {
	if from == at {
		return nil
	}
	text, seen := s.chat.In(from).Text(i18n.TopicItsOwn, i18n.Args{"Name": r.Name}), at
	seen.ChatID, _ = s.chat.Book.Aliases.Out(at.ChatID, 0)
	if link := linkTo(seen); link != "" {
		text = render.Link(text, link)
	}
	return s.chat.Post(ctx, card.Look{To: from, Text: text, Session: r.ID})
}

// linkTo is the address of a topic; empty: it has none. Only topics of supergroups have one.
func linkTo(at address.Conversation) string {
	const supergroups = -1_000_000_000_000 // their numbers are below it
	if at.ChatID >= supergroups || at.ThreadID == 0 {
		return ""
	}
	return fmt.Sprintf("https://t.me/c/%d/%d", supergroups-at.ChatID, at.ThreadID)
}
