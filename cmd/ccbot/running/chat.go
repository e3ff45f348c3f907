package running

import (
	"context"

	"ccbot/bot/prompt"
	"ccbot/internal/logkey"
)

// startOf implements engine.Start for a chat in this process.
type startOf struct{ s *system }

// Agree implements engine.Start.
func (c startOf) Agree(ctx context.Context) error {
	if err := c.s.outbox.Load(); err != nil { // it sets aside posts that cannot be read
		return err
	}
	if err := c.s.prompts.readable(ctx); err != nil {
		return err
	}
	if err := c.s.prompts.agree(); err != nil {
		return err
	}
	noteCursors(ctx, c.s.Store, c.s.Lifecycle, c.s.bot.Reports.Chat.Book.Store, c.s.Log)
	return nil
}

// Settle implements engine.Start. Without the review, prompts that are too old, or belong to no
// session, would be typed.
func (c startOf) Settle(ctx context.Context) error {
	if err := c.s.bot.Prompts.Review(ctx, c.s.Away); err != nil {
		return err
	}
	if err := c.s.bot.TellPlanners(ctx); err != nil { // other machines are told when they answer
		c.s.Log.Info("plans_not_reviewed", logkey.Error, err)
	}
	return settle(ctx, c.s.Engine, func(ctx context.Context, keys []string) error {
		return prompt.Offer(ctx, c.s.bot.Prompts, keys)
	})
}
