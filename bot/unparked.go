package bot

import (
	"context"
)

// unpark hears that somebody in a chat has written or tapped: it takes messages
// again, and gets what it missed.
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

// unparked sends the questions that a chat has not got. One whose refusal is still
// on its way has a second job here, behind the first in the same lane: whichever
// comes too late finds nothing to do.
func (a *asks) unparked(chat int64) {
	for _, c := range a.Asks.Unsettled() {
		if c.Conversation.ChatID != chat {
			continue
		}
		if isDue(c) {
			id := c.Request.ID
			a.lanes.add(c.Conversation, func(ctx context.Context) { a.send(ctx, id) })
		}
		a.sendNotice(c)
	}
}
