package bot

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/session"
)

// sayer speaks of one session: a person who answers such a message means it.
type sayer struct {
	*Bot
	session uuid.UUID
}

func (b *Bot) of(id uuid.UUID) sayer { return sayer{b, id} }

// say is Bot.say.
func (s sayer) say(ctx context.Context, to session.Conversation, text string) error {
	return s.post(ctx, to, plain(text), nil)
}

// post is Bot.post.
func (s sayer) post(ctx context.Context, to session.Conversation, text render.Text, buttons [][]outbox.Button) error {
	return s.postUnder(ctx, outbox.Message{To: to, Text: text, Buttons: buttons, Session: s.session})
}

// sessionUnder is whose a message is that stands under another one.
func (b *Bot) sessionUnder(m outbox.Message) uuid.UUID {
	if m.Session != uuid.Nil || m.ReplyTo == 0 {
		return m.Session
	}
	id, _ := b.Chats.SessionOf(m.To, m.ReplyTo)
	return id
}
