package card

import (
	"context"
	"encoding/json"
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

// Needs counts what the open cards about a session ask of people.
func (b *Board) Needs(session uuid.UUID) (n Needs) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cards {
		if c.Closed || c.Look.Session != session {
			continue
		}
		switch c.Look.Needs {
		case Answer:
			n.Answers++
		case Decision:
			n.Decisions += max(1, c.Look.Undecided)
		}
	}
	return n
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
	b.setLocked(c)
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
	if ok && c.isFormer(to, messageID) && c.Message != 0 { // it leads to the card's message now
		c.Former = nil
		return b.putLocked(c)
	}
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
	if c.Former != nil {
		b.leadLocked(ctx, c)
	}
	if !c.Drawn {
		b.logUnsaved(c, b.drawLocked(ctx, c))
	}
	return err
}

// Refused hears that Telegram will never take a card's message, or an edit of it, or that the message waits until the chat
// takes messages again. A card that never gets a message is forgotten, and its kind told: a panic there ends nothing else.
func (b *Board) Refused(ctx context.Context, post string, to outbox.Conversation, messageID int, why error) {
	b.mu.Lock()
	c, ok := b.postedLocked(post)
	var err error
	var tell func(context.Context, record, error)
	switch {
	case ok && c.Message != 0 && c.isFormer(to, messageID):
		c.Former = nil
		err = b.putLocked(c)
	case !ok || c.Message != messageID || messageID != 0 && c.At != to || messageID == 0 && c.postName() != post:
	case messageID != 0:
		err = b.editRefusedLocked(ctx, c, why)
	case errors.Is(why, outbox.ErrBlocked):
		c.offered = "" // nobody can see it
		if b.setLocked(c); c.Closed {
			err = b.removeLocked(c)
		}
	case c.offered != c.appearance() && !c.Closed: // it has changed since it was refused
		err = b.postLocked(ctx, c)
	case c.comeBack(): // people have the message that the card had before
		err = b.putLocked(c)
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
	b.log.Debug("card_not_edited", logkey.Kind, c.Kind, logkey.ChatID, c.At.ChatID, logkey.Error, why)
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

// Tapped is an option that a person has tapped, with the card as it was drawn.
type Tapped struct {
	Kind    string
	Key     string
	Session uuid.UUID
	Option  string // its value
	For     int64  // the only person who may tap it; 0: anybody
	payload json.RawMessage
}

// Tap gives what a tap on a message means. False: the tap is stale, and nothing may follow from it.
// Then the card is drawn again in its message, and another copy of the message loses its buttons. A
// tap may come before the id of its message: then the tap says which message it is. A stale tap on
// the message of the card gives the card as it is now, without an option; the zero Tapped is of no
// card that is kept, so nothing draws its message any more.
func (b *Board) Tap(ctx context.Context, at outbox.Conversation, message int, data string) (Tapped, bool) {
	tapped, ok := parse(data)
	if !ok {
		return Tapped{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.cards[tapped.card]
	if !ok || b.showsAnotherLocked(c, at, message) {
		return Tapped{}, false
	}
	fresh := c.alive(time.Now()) && tapped.revision == c.Revision
	if at == c.place() && (c.Message == 0 && fresh || c.Message == unknownID) {
		if c.Message, c.At = message, at; c.isFormer(at, message) { // the new message is not in the chat yet
			c.Former = nil
		}
		b.logUnsaved(c, b.putLocked(c))
		b.logUnsaved(c, b.drawLocked(ctx, c)) // people may see an earlier look, or none of its buttons
	}
	if c.Message != message || c.At != at {
		b.stripLocked(ctx, at, message, c.message())
		return Tapped{}, false
	}
	now := Tapped{Kind: c.Kind, Key: c.Key, Session: c.Look.Session, payload: c.Payload}
	option, ok := c.option(tapped.option)
	if !fresh || !ok {
		b.logUnsaved(c, b.drawLocked(ctx, c))
		return now, false
	}
	now.Option, now.For = option.Value, option.For
	return now, true
}

// showsAnotherLocked says whether a message is that of another card: an app can send data for a message that
// never had it.
func (b *Board) showsAnotherLocked(c record, at outbox.Conversation, message int) bool {
	for _, o := range b.cards {
		if o.ID != c.ID && o.Message == message && o.At == at {
			return true
		}
	}
	return false
}
