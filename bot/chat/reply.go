package chat

import (
	"context"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// Reactions that say how far a message is. All are in Telegram's list.
const (
	ReactionStored   = "👀" // the message is on disk and waits to be typed
	ReactionTyped    = "✍" // Enter was pressed after the text
	ReactionReceived = "👌" // there is proof that the agent has the text
	ReactionNone     = ""  // nothing comes of the message, or it is unknown: a reply says so
)

// Warning begins a reply that says that something is wrong. It is no reaction that Telegram permits.
const Warning = "⚠ "

// Fail says under a message that nothing comes of the message, and takes its reaction away.
func (c *Chat) Fail(ctx context.Context, to outbox.Conversation, message int, text render.Text, buttons [][]outbox.Button) error {
	if err := c.Warn(ctx, to, message, text, buttons); err != nil {
		return err
	}
	c.Mark(ctx, to, message, ReactionNone)
	return nil
}

// Warn says under a message that something is wrong with the message.
func (c *Chat) Warn(ctx context.Context, to outbox.Conversation, message int, text render.Text, buttons [][]outbox.Button) error {
	text = render.Join(render.Plain(Warning), text)
	return c.PostMessage(ctx, outbox.Message{To: to, Text: text, ReplyTo: message, Buttons: buttons})
}

// Mark puts a reaction under a message. Message 0 is none.
func (c *Chat) Mark(ctx context.Context, to outbox.Conversation, message int, reaction string) {
	if message != 0 && c.Book.MayShow(to) {
		c.Sender.React(ctx, to, message, reaction)
	}
}
