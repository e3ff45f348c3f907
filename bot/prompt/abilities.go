package prompt

import (
	"context"
	"errors"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/port"
)

// refuse ends a text that the agent of a session cannot take, for the reason unable.
func refuse(ctx context.Context, p *Prompts, e inbox.Entry, r port.Session, unable error) error {
	phrases := p.Chat.In(e.Conversation)
	text := chat.Lines(phrases.Failure(r, unable).Text, phrases.Text(i18n.NotDelivered))
	return errors.Join(p.Chat.Fail(ctx, e.Conversation, e.MessageID, text, nil), p.Entries.FinishIn(e.Key, e.State))
}
