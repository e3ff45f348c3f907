package bot

import (
	"context"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/session"
)

// Reactions that say how far a message is. All are in Telegram's list.
const (
	reactionStored   = "👀" // on disk, waits to be typed
	reactionTyped    = "✍" // Enter was pressed after it
	reactionReceived = "👌" // proof that the agent has it
	reactionNone     = ""  // nothing comes of it, or nobody knows: a reply says so
)

// warning begins such a reply. It is no reaction that Telegram permits.
const warning = "⚠ "

// failed says under a message that nothing comes of it, and takes away the
// reaction that said that something would.
func (b *Bot) failed(ctx context.Context, to session.Conversation, message int, text render.Text, buttons [][]outbox.Button) error {
	if err := b.warn(ctx, to, message, text, buttons); err != nil {
		return err
	}
	b.mark(ctx, to, message, reactionNone)
	return nil
}

// warn says under a message that something is wrong with it. It is on disk when
// warn returns.
func (b *Bot) warn(ctx context.Context, to session.Conversation, message int, text render.Text, buttons [][]outbox.Button) error {
	return b.postReply(ctx, to, message, render.Join(plain(warning), text), buttons)
}

// postReply is post for what is about one message.
func (b *Bot) postReply(ctx context.Context, to session.Conversation, message int, text render.Text, buttons [][]outbox.Button) error {
	return b.postUnder(ctx, outbox.Message{To: to, Text: text, ReplyTo: message, Buttons: buttons})
}

// mark puts a reaction under a message, which may be of a prompt that was none.
func (b *Bot) mark(ctx context.Context, to session.Conversation, message int, reaction string) {
	if message != 0 && b.mayShow(to) {
		b.Sender.React(ctx, to, message, reaction)
	}
}
