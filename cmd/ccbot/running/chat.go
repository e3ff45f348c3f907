package running

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/prompt"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/news"
)

// localChat implements engine.Chat by the bot of this process.
type localChat struct{ s *system }

// Agree implements engine.Start.
func (c localChat) Agree(ctx context.Context) error {
	if err := c.s.outbox.Load(); err != nil { // it sets aside posts that cannot be read
		return err
	}
	if err := c.s.prompts.readable(ctx); err != nil {
		return err
	}
	if err := c.s.prompts.agree(); err != nil {
		return err
	}
	chats := c.s.bot.Reports.Chat.Book.Store
	noteCursors(ctx, c.s.Store, c.s.Lifecycle, chats, c.s.Log)
	return finishTransfers(ctx, c.s, chats)
}

// Settle implements engine.Start. Without the review, prompts that are too old, or belong to no
// session, would be typed.
func (c localChat) Settle(ctx context.Context) error {
	if err := c.s.bot.Prompts.Review(ctx, c.s.Away); err != nil {
		return err
	}
	return settle(ctx, c.s.Engine, func(ctx context.Context, keys []string) error {
		return prompt.Offer(ctx, c.s.bot.Prompts, keys)
	})
}

// Zone implements engine.Plans.
func (c localChat) Zone(to address.Conversation) string { return c.s.bot.Chat.Book.ZoneOf(to.ChatID) }

// Explain implements engine.Plans.
func (c localChat) Explain(r port.Session, err error) string {
	return c.s.bot.Chat.In(r.Conversation).Failure(r, err).Text.Text
}

// Holds implements engine.Chat.
func (c localChat) Holds(ctx context.Context, id uuid.UUID) (why news.Wait, capped bool) {
	return c.s.bot.Budget.Holds(ctx, id)
}

// Awaited implements engine.Chat.
func (c localChat) Awaited() (map[string]bool, error) { return c.s.bot.Prompts.Awaited("") }
