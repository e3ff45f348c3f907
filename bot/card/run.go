package card

import (
	"context"
	"slices"
	"time"

	"ccbot/bot/render"
)

// Run takes up what an earlier run left, and does what is due until ctx ends: it closes cards whose
// time is over and looks what became of edits.
func (b *Board) Run(ctx context.Context) error {
	b.takeUp(ctx)
	for ctx.Err() == nil {
		b.wait(ctx, b.tend(ctx))
	}
	return nil
}

// wait ends when there may be something to do; d 0 has no end of its own.
func (b *Board) wait(ctx context.Context, d time.Duration) {
	var due <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-b.wake:
	case <-due:
	}
}

// takeUp posts the cards that are not in the chat, draws those whose edit may be lost, and forgets
// the closed ones after a last edit.
func (b *Board) takeUp(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.listLocked()
	slices.SortStableFunc(all, func(x, y record) int { // people wait for those that are open
		switch {
		case x.Closed == y.Closed:
			return 0
		case x.Closed:
			return 1
		}
		return -1
	})
	for _, c := range all {
		var err error
		switch {
		case c.Closed:
			err = b.endLocked(ctx, c)
		case !c.alive(time.Now()): // tend closes it
		case c.Message == 0:
			c.check = c.NotSoon
			b.noteLocked(c)
			err = b.postLocked(ctx, c)
		case !c.Drawn:
			b.drawLocked(ctx, c)
		}
		if err != nil {
			b.log.Error("card_not_taken_up", "kind", c.Kind, "error", err.Error())
		}
	}
}

// endLocked edits a closed card for the last time and forgets it.
func (b *Board) endLocked(ctx context.Context, c record) error {
	b.stripLocked(ctx, c.At, c.Message, c.message())
	return b.removeLocked(c)
}

// tend does what is due, and gives the time until more is; 0: when something changes.
func (b *Board) tend(ctx context.Context) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.listLocked() {
		now := time.Now()
		if err := b.tendLocked(ctx, c, now); err != nil {
			b.log.Error("card_not_tended", "kind", c.Kind, "error", err.Error())
			wait = sooner(wait, renewPace)
			continue
		}
		if due := b.cards[c.ID].due(); !due.IsZero() {
			wait = sooner(wait, max(due.Sub(now), time.Millisecond))
		}
	}
	return wait
}

func sooner(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// due is when a card is to be looked at; zero: not before it changes.
func (c record) due() time.Time {
	due := c.check
	if u := c.Look.Until; !c.Closed && !u.IsZero() && (due.IsZero() || u.Before(due)) {
		due = u
	}
	return due
}

func (b *Board) tendLocked(ctx context.Context, c record, now time.Time) error {
	switch due := c.due(); {
	case due.IsZero() || now.Before(due):
		return nil
	case c.Closed:
		return b.endLocked(ctx, c)
	case !c.alive(now):
		return b.closeLocked(ctx, c, render.Text{})
	}
	c.check = time.Time{}
	b.cards[c.ID] = c
	if c.Message == 0 {
		return b.postLocked(ctx, c)
	}
	b.editLocked(ctx, c)
	return nil
}
