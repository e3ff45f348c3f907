package card

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ccbot/bot/outbox"
	"ccbot/internal/guard"
)

var _ outbox.Owner = (*Board)(nil)

// postedLocked is the card that a post brings into the chat.
func (b *Board) postedLocked(post string) (record, bool) {
	id, _, _ := strings.Cut(post, "@")
	c, ok := b.cards[id]
	return c, ok
}

// Current gives a card that waits for its post as it looks now.
func (b *Board) Current(post string, to outbox.Conversation) (outbox.Message, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.postedLocked(post)
	if !ok || c.Message != 0 || c.post() != post || !c.alive(time.Now()) || !b.mayShow(to) {
		return outbox.Message{}, false
	}
	c.offered = c.Revision
	b.cards[c.ID] = c
	return c.message(), true
}

// Sent notes the id of a card's message. A message that the card does not know, because the card
// was closed, moved or found in another copy meanwhile, loses its buttons.
func (b *Board) Sent(ctx context.Context, post string, to outbox.Conversation, messageID int, m outbox.Message) error {
	if messageID == 0 {
		messageID = unknownID
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.postedLocked(post)
	if ok && b.Failpoint != nil {
		b.Failpoint("card-sent")
	}
	waits := ok && c.Message == 0 && (c.post() == post || c.Look.To == to)
	if !waits && !(ok && c.Message == messageID && c.At == to) {
		b.stripLocked(ctx, to, messageID, m)
		return nil
	}
	c.Message, c.At, c.Drawn, c.offered = messageID, to, c.isShownBy(m), ""
	err := b.putLocked(c)
	b.noteLocked(c) // also when the disk did not take it: this run must not send it again
	if !c.Drawn {
		b.drawLocked(ctx, c)
	}
	return err
}

// Refused forgets a card whose message Telegram will never take, and tells its kind: a panic there
// ends nothing else. A card that has changed since it was refused is tried again.
func (b *Board) Refused(ctx context.Context, post string, why error) {
	c, tell := b.giveUp(ctx, post)
	if tell == nil {
		return
	}
	err := guard.Call(func() error { tell(ctx, c, why); return nil })
	if p, ok := errors.AsType[*guard.Panic](err); ok {
		b.log.Error("card_crashed", "kind", c.Kind, "panic", fmt.Sprint(p.Value), "stack", p.Stack)
	}
}

func (b *Board) giveUp(ctx context.Context, post string) (c record, tell func(context.Context, record, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.postedLocked(post)
	switch {
	case !ok || c.Message != 0 || c.post() != post:
	case c.offered != c.Revision && !c.Closed:
		b.logUnsaved(c, b.postLocked(ctx, c))
	default:
		if err := b.removeLocked(c); err != nil || c.Closed {
			b.logUnsaved(c, err)
			break
		}
		tell = b.refused[c.Kind]
	}
	return c, tell
}
