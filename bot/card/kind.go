package card

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/logkey"
)

// Kind is the cards of one feature, each with a payload of type P, which goes over the disk as JSON
// and comes back with a tap.
type Kind[P any] struct{ kind }

// kind is what does not depend on the payload's type: compiled once, not for each of them.
type kind struct {
	board    *Board
	name     string
	changing *sync.Mutex // see Hold
}

// Asking says that the cards of the kind are questions, which outlive their place (see Moved).
func (k Kind[P]) Asking() Kind[P] {
	k.board.mu.Lock()
	defer k.board.mu.Unlock()
	k.board.asks[k.name] = true
	return k
}

// Hold has everybody else who holds the same Kind wait until release is called: from a feature's look at
// a card to its change of the card. The board itself goes on.
func (k kind) Hold() (release func()) {
	k.changing.Lock()
	return k.changing.Unlock
}

// Card is a card that is not closed.
type Card[P any] struct {
	Key     string
	Look    Look
	Payload P
	Sent    bool // its message is in the chat
	Message int  // its id, if it is known
}

// Forgetter is a payload that names sessions besides the card's own.
type Forgetter[P any] interface {
	// Without returns the payload after a session is forgotten.
	Without(session uuid.UUID) P
}

func without[P any](data json.RawMessage, session uuid.UUID) (json.RawMessage, error) {
	p, err := decode[P](data)
	if err != nil {
		return data, err
	}
	return json.Marshal(any(p).(Forgetter[P]).Without(session))
}

// NewKind gives the cards of a kind, before Run. refused, when set, hears of a card that Telegram
// will never take; the card is forgotten then.
func NewKind[P any](b *Board, name string, refused func(ctx context.Context, c Card[P], why error)) Kind[P] {
	k := Kind[P]{kind{board: b, name: name, changing: new(sync.Mutex)}}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, names := any(*new(P)).(Forgetter[P]); names {
		b.without[name] = without[P]
	}
	if refused == nil {
		return k
	}
	b.refused[name] = func(ctx context.Context, r record, why error) {
		if c, err := k.card(r); err == nil {
			refused(ctx, c, why)
		}
	}
	return k
}

// Show keeps what the card of a key looks like and means, and brings it into the chat: in a new
// message, or as an edit of the card's message. Showing what is shown already does nothing. It is
// on disk when Show returns nil, and does not wait for the chat.
func (k Kind[P]) Show(ctx context.Context, key string, l Look, payload P) error {
	return k.show(ctx, key, l, payload)
}

func (k kind) show(ctx context.Context, key string, l Look, payload any) error {
	b := k.board
	b.mu.Lock()
	defer b.mu.Unlock()
	c, changed, err := b.saveLocked(ctx, k.name, key, l, payload, false)
	if err == nil && changed && c.Message != 0 {
		err = b.drawLocked(ctx, c)
	}
	return err
}

// Post is Show under a key of its own, for a message that nobody shows again, and Tidy.
func (k Kind[P]) Post(ctx context.Context, l Look, payload P) error {
	return k.post(ctx, l, payload)
}

func (k kind) post(ctx context.Context, l Look, payload any) error {
	key := NewKey()
	if err := k.show(ctx, key, l, payload); err != nil {
		return errors.Join(err, k.Close(ctx, key, render.Text{})) // who repeats the post has another key
	}
	k.tidy(ctx, l.To, func(record) bool { return true })
	return nil
}

// Withdraw removes a card that nobody can have seen. False: its message is in the chat, or may be, because a call to send
// it was begun and is not known to have failed.
func (k kind) Withdraw(key string) (gone bool, err error) {
	k.board.mu.Lock()
	defer k.board.mu.Unlock()
	c, ok := k.board.openLocked(k.name, key)
	if ok && (c.Message != 0 || c.offered != "") {
		return false, nil
	}
	if ok {
		err = k.board.removeLocked(c)
	}
	return err == nil, err
}

// NewKey is a key of its own. Keys sort by time.
func NewKey() string { return uuid.Must(uuid.NewV7()).String() }

// keepOpen is how many cards stay open that nobody shows again, of one kind in one place.
const keepOpen = 10

// Tidy keeps the newest ten cards of the kind in a place open, of those that are over; older ones lose
// their buttons. A card that is not in the chat yet stays: to close it would be to lose its message. The
// cards have keys of NewKey.
func (k Kind[P]) Tidy(ctx context.Context, to outbox.Conversation, over func(P) bool) {
	k.tidy(ctx, to, func(r record) bool {
		c, err := k.card(r)
		return err != nil || over(c.Payload)
	})
}

func (k kind) tidy(ctx context.Context, to outbox.Conversation, over func(record) bool) {
	b := k.board
	b.mu.Lock()
	defer b.mu.Unlock()
	open := slices.DeleteFunc(b.openOfLocked(k.name), func(r record) bool { return r.Look.To != to || !over(r) })
	slices.SortFunc(open, func(x, y record) int { return cmp.Compare(x.Key, y.Key) })
	for _, c := range open[:max(0, len(open)-keepOpen)] {
		if c.Message == 0 {
			continue
		}
		c.Look.Rank = outbox.Card // nobody waits for it
		if err := b.closeLocked(ctx, c, render.Text{}); err != nil {
			b.log.Error("card_not_closed", logkey.Kind, k.name, logkey.Error, err)
		}
	}
}

// DropNeeds makes the open cards of the kind about a session ask nothing of people, if they were not asked after a time, except
// the card of a key. Their messages and buttons stay.
func (k kind) DropNeeds(session uuid.UUID, except string, before time.Time) (err error) {
	b := k.board
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.openOfLocked(k.name) {
		if c.Look.Needs != "" && c.Look.Session == session && c.Key != except && !c.Asked.After(before) {
			c.Look.Needs, c.Asked = "", time.Time{}
			err = errors.Join(err, b.putLocked(c))
		}
	}
	return err
}

// Redraw shows in an open card what is true now. A look without options closes the card; a card
// that is not open any more stays as it is.
func (k Kind[P]) Redraw(ctx context.Context, key string, l Look, payload P) error {
	if len(Filled(l.Options)) == 0 {
		return k.Close(ctx, key, l.Text)
	}
	if _, open := k.get(key); !open {
		return nil
	}
	return k.show(ctx, key, l, payload)
}

// Below is Redraw in a new message, below all others: that is where people look after they have written. The old message
// keeps its text and loses its buttons.
func (k Kind[P]) Below(ctx context.Context, key string, l Look, payload P) error {
	b := k.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, open := b.openLocked(k.name, key); !open {
		return nil
	}
	_, _, err := b.saveLocked(ctx, k.name, key, l, payload, true)
	return err
}

// ShowNow is Show that waits until Telegram has the edit. ErrUnsent: there is no message to edit; the card
// is kept and sent as by Show. Other errors are those of Outbox.EditNow, and the card is kept, too.
func (k Kind[P]) ShowNow(ctx context.Context, key string, l Look, payload P) error {
	b := k.board
	b.mu.Lock()
	c, _, err := b.saveLocked(ctx, k.name, key, l, payload, false)
	b.mu.Unlock()
	switch {
	case err != nil:
		return err
	case c.Message <= 0 || !b.mayShow(c.At):
		return ErrUnsent
	}
	return b.sender.EditNow(ctx, c.At, c.Message, c.message())
}

// Again brings an open card to people again: see [Board.Again].
func (k kind) Again(ctx context.Context, key string, how Bring) (shown bool, err error) {
	return k.board.Again(ctx, k.name, key, how)
}

// ErrUnsent is why ShowNow did not wait: the card has no message in the chat, or may not be shown there.
var ErrUnsent = errors.New("the card is not in the chat")

// Close takes the buttons off a card and, unless last is blank, gives it a last text. A card that
// was never sent is removed. Closing what is not open does nothing.
func (k kind) Close(ctx context.Context, key string, last render.Text) error {
	b := k.board
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.openLocked(k.name, key)
	if !ok {
		return nil
	}
	if b.asks[k.name] {
		c.Look.Rank = outbox.Now // an open question goes first
	}
	return b.closeLocked(ctx, c, last)
}

// List gives the open cards.
func (k Kind[P]) List() []Card[P] {
	var all []Card[P]
	for _, r := range k.open() {
		if c, err := k.card(r); err == nil {
			all = append(all, c)
		}
	}
	return all
}

func (k kind) open() []record {
	k.board.mu.Lock()
	defer k.board.mu.Unlock()
	return k.board.openOfLocked(k.name)
}

// Get gives the open card of a key.
func (k Kind[P]) Get(key string) (Card[P], bool) { return k.found(k.get(key)) }

func (k kind) get(key string) (record, bool) {
	k.board.mu.Lock()
	defer k.board.mu.Unlock()
	return k.board.openLocked(k.name, key)
}

func (k Kind[P]) found(r record, open bool) (Card[P], bool) {
	if !open {
		return Card[P]{}, false
	}
	c, err := k.card(r)
	return c, err == nil
}

// Find gives the open card that a message of a place shows.
func (k Kind[P]) Find(at outbox.Conversation, message int) (Card[P], bool) {
	open := k.open()
	i := slices.IndexFunc(open, func(r record) bool { return r.Message > 0 && r.Message == message && r.At == at })
	if i < 0 {
		return Card[P]{}, false
	}
	return k.found(open[i], true)
}

// Payload is what a tapped card meant when it was drawn.
func (k Kind[P]) Payload(t Tapped) (P, error) { return decode[P](t.payload) }

// card is a record as the feature knows it. An error is logged: the payload is not of this program.
func (k Kind[P]) card(r record) (Card[P], error) {
	p, err := decode[P](r.Payload)
	if err != nil {
		k.board.log.Error("card_payload_unreadable", logkey.Kind, k.name, logkey.Error, err)
	}
	return Card[P]{Key: r.Key, Look: r.Look, Payload: p, Sent: r.Message != 0, Message: max(r.Message, 0)}, err
}

func decode[P any](data json.RawMessage) (P, error) {
	var p P
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("payload of a card: %w", err)
	}
	return p, nil
}
