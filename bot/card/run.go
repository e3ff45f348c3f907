package card

import (
	"context"
	"time"

	"ccbot/bot/render"
)

// idle is how long Run sleeps when no card is to be looked at.
const idle = 24 * time.Hour

// Run takes up what an earlier run left, and does what is due until ctx ends: it closes cards whose
// time is over and looks what became of edits.
func (b *Board) Run(ctx context.Context) error {
	b.takeUp(func(record) bool { return true })
	for ctx.Err() == nil {
		select {
		case <-time.After(b.tend(ctx)):
		case <-b.wake:
		case <-ctx.Done():
		}
	}
	return nil
}

// takeUp has cards looked at of which the chat may not have the last state.
func (b *Board) takeUp(which func(record) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cards {
		if which(c) && (c.Closed || !c.Drawn) {
			c.check, c.unsure = time.Now(), !c.Closed
			b.noteLocked(c)
		}
	}
}

// Reachable has the cards of a chat drawn again that takes messages after it took none: their edits
// were dropped meanwhile, their posts were not.
func (b *Board) Reachable(chat int64) {
	b.takeUp(func(c record) bool { return c.At.ChatID == chat })
}

// tend does what is due, and gives the time until more is.
func (b *Board) tend(ctx context.Context) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait = idle
	for _, c := range b.listLocked() {
		now := time.Now()
		if err := b.tendLocked(ctx, c, now); err != nil {
			b.log.Error("card_not_tended", "kind", c.Kind, "error", err.Error())
			wait = min(wait, checkAfter)
		} else if due := b.cards[c.ID].due(); !due.IsZero() {
			wait = min(wait, max(due.Sub(now), time.Millisecond))
		}
	}
	return wait
}

// due is when a card is to be looked at; zero: not before it changes.
func (c record) due() time.Time {
	if u := c.Look.Until; !c.Closed && !u.IsZero() && (c.check.IsZero() || u.Before(c.check)) {
		return u
	}
	return c.check
}

// tendLocked closes a card whose time is over, posts one that is not in the chat, draws one whose
// edit may be lost, and forgets a closed one after a last edit.
func (b *Board) tendLocked(ctx context.Context, c record, now time.Time) (err error) {
	switch due := c.due(); {
	case due.IsZero() || now.Before(due):
		return nil
	case c.Closed:
		b.stripLocked(ctx, c.At, c.Message, c.message())
		return b.removeLocked(c)
	case !c.alive(now):
		return b.closeLocked(ctx, c, render.Text{})
	case c.Message == 0:
		err = b.postLocked(ctx, c)
	case c.unsure:
		c.unsure = false
		b.drawLocked(ctx, c) // what becomes of an edit is known at the next one
	default:
		b.editLocked(ctx, c)
	}
	if now, ok := b.cards[c.ID]; ok && now.check.Equal(c.check) { // a crash before this is made good
		now.check = time.Time{}
		b.cards[c.ID] = now
	}
	return err
}
