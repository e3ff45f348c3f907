package card

import (
	"context"
	"time"

	"ccbot/bot/render"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// idle is how long Run sleeps when no card has an end.
const idle = 24 * time.Hour

// Run takes up what an earlier run left, and closes cards whose time is over, until ctx ends.
func (b *Board) Run(ctx context.Context) error {
	b.takeUp(ctx, func(record) bool { return true })
	for ctx.Err() == nil {
		pause.Until(ctx, b.tend(ctx), b.wake)
	}
	return nil
}

// takeUp draws the cards of which the chat may not have the last state.
func (b *Board) takeUp(ctx context.Context, which func(record) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.listLocked() {
		if which(c) && !c.Drawn {
			b.logUnsaved(c, b.drawLocked(ctx, c))
		}
	}
}

// Reachable has the cards of a chat drawn again that takes messages after it took none: their edits
// were dropped meanwhile, their posts were not.
func (b *Board) Reachable(ctx context.Context, chat int64) {
	b.takeUp(ctx, func(c record) bool { return c.At.ChatID == chat })
}

// tend closes the cards whose time is over, posts those that the disk did not take and forgets closed
// ones, and gives the time until more is to be done.
func (b *Board) tend(ctx context.Context) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait = idle
	for _, c := range b.listLocked() {
		var err error
		now := time.Now()
		end := c.Look.Until
		if c.Closed {
			end = c.forget
		}
		over := !end.IsZero() && !now.Before(end)
		switch {
		case c.Closed && c.Drawn && over:
			err = b.removeLocked(c)
		case !c.Closed && over:
			err = b.closeLocked(ctx, c, render.Text{})
		case c.unposted && c.Message == 0:
			err = b.postLocked(ctx, c)
		}
		if err != nil {
			b.log.Error("card_not_tended", logkey.Kind, c.Kind, logkey.Error, err.Error())
			wait = min(wait, diskAgain)
		}
		if !end.IsZero() && !over {
			wait = min(wait, end.Sub(now))
		}
	}
	return wait
}
