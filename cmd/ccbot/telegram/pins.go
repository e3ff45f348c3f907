package telegram

import (
	"context"

	tgbot "github.com/go-telegram/bot"

	"ccbot/internal/address"
)

// Pin pins a message without a notice. Errors: see outbox.Outbox.Call.
func (t Topics) Pin(ctx context.Context, at address.Conversation, message int) error {
	return t.Call(ctx, at, func(ctx context.Context, to address.Conversation) error {
		_, err := t.API.PinChatMessage(ctx, &tgbot.PinChatMessageParams{ChatID: to.ChatID, MessageID: t.Out(at, message), DisableNotification: true})
		return err
	})
}

// Delete deletes a message of the bot. Telegram refuses that for messages older than two days.
func (t Topics) Delete(ctx context.Context, at address.Conversation, message int) error {
	return t.Call(ctx, at, func(ctx context.Context, to address.Conversation) error {
		_, err := t.API.DeleteMessage(ctx, &tgbot.DeleteMessageParams{ChatID: to.ChatID, MessageID: t.Out(at, message)})
		return err
	})
}
