package card

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
)

var _ outbox.Owner = (*Board)(nil)

// postedLocked is the card that a post brings into the chat.
func (b *Board) postedLocked(post string) (record, bool) {
	id, _, _ := strings.Cut(post, "@")
	c, ok := b.cards[id]
	return c, ok
}

// Waits reports whether a question about a session is open that makes a sound, and whose answer is Awaited.
func (b *Board) Waits(session uuid.UUID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cards {
		if c.Look.Session == session && c.Look.Sounds && !c.Closed && b.asks[c.Kind] == Awaited {
			return true
		}
	}
	return false
}

// Current gives a card that waits for its post as it looks now. When the outbox asks, nothing of the
// post is under way any more.
func (b *Board) Current(post string, to outbox.Conversation) (outbox.Message, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.postedLocked(post)
	if !ok || c.Message != 0 || c.postName() != post {
		return outbox.Message{}, false
	}
	wanted := c.alive(time.Now()) && b.mayShow(to)
	c.offered = ""
	if wanted {
		c.offered = c.appearance()
	}
	b.cards[c.ID] = c
	if c.Closed {
		b.logUnsaved(c, b.removeLocked(c))
	}
	return c.message(), wanted
}

// Sent notes the id of a card's message, and that the message shows the card. A message that the card
// does not know, because the card was closed, moved or found in another copy meanwhile, loses its buttons.
func (b *Board) Sent(ctx context.Context, post string, to outbox.Conversation, messageID int, m outbox.Message) error {
	if messageID == 0 {
		messageID = unknownID
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.postedLocked(post)
	if ok && c.Message == 0 && b.Failpoint != nil {
		b.Failpoint("card-sent")
	}
	waits := ok && c.Message == 0 && c.left != (message{to, messageID}) && (c.postName() == post || c.Look.To == to)
	if !waits && !(ok && c.Message == messageID && c.At == to) {
		b.stripLocked(ctx, to, messageID, m)
		return nil
	}
	c.Message, c.At, c.Drawn, c.offered = messageID, to, c.isShownBy(m), ""
	err := b.putLocked(c)
	b.noteLocked(c) // also when the disk did not take it: this run must not send it again
	if !c.Drawn {
		b.logUnsaved(c, b.drawLocked(ctx, c))
	}
	return err
}

// Refused hears that Telegram will never take a card's message, or an edit of it. Without a message
// the card is forgotten, and its kind told: a panic there ends nothing else.
func (b *Board) Refused(ctx context.Context, post string, to outbox.Conversation, messageID int, why error) {
	b.mu.Lock()
	c, ok := b.postedLocked(post)
	var err error
	var tell func(context.Context, record, error)
	switch {
	case !ok || c.Message != messageID || messageID != 0 && c.At != to || messageID == 0 && c.postName() != post:
	case messageID != 0:
		err = b.editRefusedLocked(ctx, c, why)
	case c.offered != c.appearance() && !c.Closed: // it has changed since it was refused
		err = b.postLocked(ctx, c)
	default:
		if err = b.removeLocked(c); err == nil && !c.Closed {
			tell = b.refused[c.Kind]
		}
	}
	b.logUnsaved(c, err)
	b.mu.Unlock()
	if tell == nil {
		return
	}
	err = guard.Call(func() error { tell(ctx, c, why); return nil })
	if p, ok := errors.AsType[*guard.Panic](err); ok {
		b.log.Error("card_crashed", logkey.Kind, c.Kind, logkey.Panic, fmt.Sprint(p.Value), logkey.Stack, p.Stack)
	}
}

// editRefusedLocked hears that an edit was refused. Where people have deleted the message the card
// is sent anew, or forgotten; an edit that was refused for another reason is tried again when the
// card changes.
func (b *Board) editRefusedLocked(ctx context.Context, c record, why error) error {
	b.log.Debug("card_not_edited", logkey.Kind, c.Kind, logkey.ChatID, c.At.ChatID, logkey.Error, why.Error())
	gone := errors.Is(why, outbox.ErrGone)
	switch {
	case c.Closed || gone && !c.Look.Renew && (!c.Look.RenewOnce || c.Renewed):
		return b.removeLocked(c)
	case gone:
		c.Renewed = true
		return b.resendLocked(ctx, c)
	}
	return nil
}
