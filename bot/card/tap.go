package card

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
)

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
		c.Message, c.At = message, at
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
