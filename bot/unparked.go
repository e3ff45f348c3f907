package bot

import (
	"context"
)

// unpark hears that somebody in a chat has written or tapped: it takes messages again, and gets
// what it missed.
func (b *Bot) unpark(ctx context.Context, chat int64) {
	parked := b.Sender.Parked(chat)
	b.Sender.Unpark(chat)
	if parked {
		b.Deps.Cards.Reachable(ctx, chat)
	}
	for _, f := range b.rooms {
		if f.Unparked != nil {
			f.Unparked(chat)
		}
	}
}

// poke wakes who waits at a channel, unless that is under way already.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
