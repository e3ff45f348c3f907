package chat

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// Sender is the outbox as the chat speaks through it. Post is durable when it returns; React and
// Typing do not wait.
type Sender interface {
	Post(ctx context.Context, m outbox.Message) error
	React(ctx context.Context, to outbox.Conversation, message int, emoji string)
	Typing(ctx context.Context, to outbox.Conversation)
}

// Editor changes the buttons of a message that the chat has. It does not wait for the Bot API.
type Editor interface {
	EditButtons(ctx context.Context, to outbox.Conversation, message int, buttons [][]outbox.Button) error
}

// Chat speaks to people. Its methods may be called from anywhere.
type Chat struct {
	Phrases
	Sender Sender
	Editor Editor
	Book   *conversation.Book // who may read what, and whose a message is
	Cards  *card.Board        // messages that change later
	Log    *slog.Logger
	// Failpoint is called at each persisted step with its name. It is nil but in programs built to
	// die there.
	Failpoint func(name string)
}

// At passes a persisted step.
func (c *Chat) At(point string) {
	if c.Failpoint != nil {
		c.Failpoint(point)
	}
}

// Say posts one plain sentence.
func (c *Chat) Say(ctx context.Context, to outbox.Conversation, text string) error {
	return c.For(uuid.Nil).Say(ctx, to, text)
}

// PostMessage posts one message: it is on disk when PostMessage returns. The outbox splits what is
// too long: all of it is posted, or nothing, so that a retry repeats no part. Of a blank text nothing
// is posted, and people who were taken off the list get nothing.
func (c *Chat) PostMessage(ctx context.Context, m outbox.Message) error {
	if m.Text.Blank() {
		return nil
	}
	if !c.Book.MayShow(m.To) {
		c.Log.Info("not_told", "chat_id", m.To.ChatID, "why", "nobody there is allowed any more")
		return nil
	}
	if m.Session == uuid.Nil && m.ReplyTo != 0 {
		m.Session, _ = c.Book.SessionOf(m.To, m.ReplyTo)
	}
	if err := c.Sender.Post(ctx, m); err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return nil
}

// For speaks of one session: a person who answers such a message means that session.
func (c *Chat) For(session uuid.UUID) Speaker { return Speaker{chat: c, session: session} }

// Speaker speaks of one session, or of none.
type Speaker struct {
	chat    *Chat
	session uuid.UUID
}

// Say posts one plain sentence.
func (s Speaker) Say(ctx context.Context, to outbox.Conversation, text string) error {
	return s.Post(ctx, to, render.Plain(text), nil)
}

// Post posts a text; the buttons stand under its last part.
func (s Speaker) Post(ctx context.Context, to outbox.Conversation, text render.Text, buttons [][]outbox.Button) error {
	return s.chat.PostMessage(ctx, outbox.Message{To: to, Text: text, Buttons: buttons, Session: s.session})
}
