package card

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
)

var _ outbox.Owner = (*Board)(nil)

// postedLocked returns the card of a post.
func (b *Board) postedLocked(post string) (record, bool) {
	id, _, _ := strings.Cut(post, "@")
	c, ok := b.cards[id]
	return c, ok
}

// Needs counts the needs of the open cards about a session.
func (b *Board) Needs(session uuid.UUID) (n Needs) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cards {
		if c.Closed || c.Content.Session != session {
			continue
		}
		switch c.Content.Needs {
		case Answer:
			n.Answers++
		case Decision:
			n.Decisions += max(1, c.Content.Undecided)
		}
	}
	return n
}

// Current returns the current message of a card that waits for its post. When the outbox asks, no
// earlier send of the post is running.
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

// Sent stores the id of a card's message, and that the message shows the card. A message that the
// card does not know, because it was closed, moved or found in another copy, loses its buttons.
func (b *Board) Sent(ctx context.Context, post string, to outbox.Conversation, messageID int, m outbox.Message) error {
	if messageID == 0 {
		messageID = unknownID
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.postedLocked(post)
	if ok && c.isFormer(to, messageID) && c.Message != 0 { // it now links to the card's message
		c.Former = nil
		return b.putLocked(c)
	}
	if ok && c.Message == 0 && b.Failpoint != nil {
		b.Failpoint("card-sent")
	}
	waits := ok && c.Message == 0 && !c.hasLeft(message{to, messageID}) && (c.postName() == post || c.Content.To == to)
	if !waits && !(ok && c.Message == messageID && c.At == to) {
		b.stripLocked(ctx, to, messageID, m)
		return nil
	}
	c.Message, c.At, c.Drawn, c.offered = messageID, to, c.isShownBy(m), ""
	err := b.putLocked(c)
	b.noteLocked(c) // also if the disk refused it: this run must not send it again
	if sent := b.sent[c.Kind]; sent != nil {
		sent(c.Key)
	}
	if c.Former != nil {
		b.leadLocked(ctx, c)
	}
	if !c.Drawn {
		b.logUnsaved(c, b.drawLocked(ctx, c))
	}
	return err
}

// Refused handles a message or edit that Telegram refuses for good, or that waits until the chat
// accepts messages again. A card that never gets a message is forgotten, and its kind's refused is
// called; a panic there ends nothing else.
func (b *Board) Refused(ctx context.Context, post string, to outbox.Conversation, messageID int, why error) {
	b.mu.Lock()
	c, ok := b.postedLocked(post)
	var err error
	var report func(context.Context, record, error)
	switch {
	case ok && c.Message != 0 && c.isFormer(to, messageID):
		c.Former = nil
		err = b.putLocked(c)
	case !ok || c.Message != messageID || messageID != 0 && c.At != to || messageID == 0 && c.postName() != post:
	case messageID != 0:
		err = b.editRefusedLocked(ctx, c, why)
	case errors.Is(why, outbox.ErrBlocked):
		c.offered = "" // it is not visible
		if b.setLocked(c); c.Closed {
			err = b.removeLocked(c)
		}
	case c.offered != c.appearance() && !c.Closed: // it has changed since it was refused
		err = b.postLocked(ctx, c)
	case c.comeBack(): // people have the message that the card had before
		err = b.putLocked(c)
	default:
		if err = b.removeLocked(c); err == nil && !c.Closed {
			report = b.refused[c.Kind]
		}
	}
	b.logUnsaved(c, err)
	b.mu.Unlock()
	if report == nil {
		return
	}
	err = guard.Call(func() error { report(ctx, c, why); return nil })
	if p, ok := errors.AsType[*guard.Panic](err); ok {
		b.log.Error("card_crashed", logkey.Kind, c.Kind, logkey.Panic, fmt.Sprint(p.Value), logkey.Stack, p.Stack)
	}
}

// editRefusedLocked handles a refused edit. If people have deleted the message, the card is sent
// again or forgotten. After another refusal the card's next change tries again.
func (b *Board) editRefusedLocked(ctx context.Context, c record, why error) error {
	b.log.Debug("card_not_edited", logkey.Kind, c.Kind, logkey.ChatID, c.At.ChatID, logkey.Error, why)
	gone := errors.Is(why, outbox.ErrGone)
	switch {
	case c.Closed || gone && !c.Content.Renew && (!c.Content.RenewOnce || c.Renewed):
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
	For     int64  // the only person who may tap it; 0: any
	payload json.RawMessage
}

// Tap returns the meaning of a tap on a message. It returns false if the tap is stale and must have
// no effect: the card is redrawn in its message, and another copy loses its buttons. A tap may come
// before the id of its message, and then identifies it. For a stale tap on the card's message, Tap
// returns the card without an option. The zero Tapped belongs to no stored card.
func (b *Board) Tap(ctx context.Context, at outbox.Conversation, message int, data string) (Tapped, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, tapped, ok := b.identifyLocked(ctx, at, message, data, nil)
	if !ok {
		return Tapped{}, false
	}
	if c.Message != message || c.At != at {
		b.stripLocked(ctx, at, message, c.message())
		return Tapped{}, false
	}
	now := Tapped{Kind: c.Kind, Key: c.Key, Session: c.Content.Session, payload: c.Payload}
	option, ok := c.option(tapped.option)
	if !c.isFresh(tapped) || !ok {
		b.logUnsaved(c, b.drawLocked(ctx, c))
		return now, false
	}
	now.Option, now.For = option.Value, option.For
	return now, true
}

// Answered is the card that a person has replied to.
type Answered struct {
	Kind    string
	Message int       // of the card; 0: the reply is to an earlier form, or to a copy in another chat
	Session uuid.UUID // that the card is about
}

// Reply returns the card that a reply answers, by the data of the buttons that the answered message
// has; false if they belong to no stored card. A reply may come before the id of its message, and
// then identifies it. Another copy of the card's message stands for that message while the card
// offers all of its buttons. It then loses them.
func (b *Board) Reply(ctx context.Context, at outbox.Conversation, message int, buttons []string) (Answered, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, data := range buttons {
		c, pressed, ok := b.identifyLocked(ctx, at, message, data, buttons)
		if !ok {
			continue
		}
		to := Answered{Kind: c.Kind, Message: c.Message, Session: c.Content.Session}
		switch {
		case c.At != at || c.Message != message && !(c.isFresh(pressed) && c.offers(buttons)):
			to.Message = 0
		case c.Message != message:
			b.stripLocked(ctx, at, message, c.message())
		}
		return to, true
	}
	return Answered{}, false
}

// isFresh reports whether a button was drawn for the card as it is now.
func (c record) isFresh(b button) bool { return c.alive(time.Now()) && b.revision == c.Revision }

// offers reports whether each of some buttons is one of the card's options. With Means the revision
// does not tell, because the options change under it.
func (c record) offers(buttons []string) bool {
	return !slices.ContainsFunc(buttons, func(data string) bool {
		b, _ := parse(data)
		_, offered := c.option(b.option)
		return !offered
	})
}

// identifyLocked returns the card of a button of a message, and shown are all buttons of it, if known.
// A card whose message has no known id gets this one, if the button is fresh and it offers them.
func (b *Board) identifyLocked(ctx context.Context, at outbox.Conversation, message int, data string, shown []string) (c record, pressed button, ok bool) {
	if pressed, ok = parse(data); !ok {
		return c, pressed, false
	}
	if c, ok = b.cards[pressed.card]; !ok || b.showsAnotherLocked(c, at, message) {
		return c, pressed, false
	}
	if at == c.place() && (c.Message == 0 && c.isFresh(pressed) && c.offers(shown) || c.Message == unknownID) {
		if c.Message, c.At = message, at; c.isFormer(at, message) { // the new message is not in the chat yet
			c.Former = nil
		}
		b.logUnsaved(c, b.putLocked(c))
		b.logUnsaved(c, b.drawLocked(ctx, c)) // people may see an earlier state, or none of its buttons
	}
	return c, pressed, true
}

// showsAnotherLocked reports whether a message is another card's: an app can send foreign data.
func (b *Board) showsAnotherLocked(c record, at outbox.Conversation, message int) bool {
	for _, o := range b.cards {
		if o.ID != c.ID && o.Message == message && o.At == at {
			return true
		}
	}
	return false
}
