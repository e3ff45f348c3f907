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

// Kind holds the cards of one feature. Their payloads of type P are stored as JSON.
type Kind[P any] struct{ kind }

// kind is the part of Kind that does not depend on the payload's type, so it is compiled once.
type kind struct {
	board    *Board
	name     string
	changing *sync.Mutex // see Hold
}

// Asking marks the cards of the kind as questions, which outlive their place (see Moved).
func (k Kind[P]) Asking() Kind[P] {
	k.board.mu.Lock()
	defer k.board.mu.Unlock()
	k.board.asks[k.name] = true
	return k
}

// OnSent has sent called with the key of each card whose message has come into the chat. It must not
// wait or call the board.
func (k kind) OnSent(sent func(key string)) {
	k.board.mu.Lock()
	defer k.board.mu.Unlock()
	k.board.sent[k.name] = sent
}

// Hold locks the Kind against other holders until release is called, between a feature's read of a
// card and its change. It does not lock the board.
func (k kind) Hold() (release func()) {
	k.changing.Lock()
	return k.changing.Unlock
}

// Card is an open card.
type Card[P any] struct {
	Key     string
	Content Content
	Payload P
	Sent    bool // its message is in the chat
	Message int  // its id, if it is known
}

// Forgetter is a payload that names sessions other than the card's.
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

// NewKind returns the cards of a kind, before Run. If set, refused is called with a card that
// Telegram refuses for good, and which is then forgotten.
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

// Show stores the content and payload of the card with a key, and sends it, or edits its message if
// it has changed. It is on disk when Show returns nil. Show does not wait for the chat.
func (k Kind[P]) Show(ctx context.Context, key string, l Content, payload P) error {
	return k.show(ctx, key, l, payload)
}

func (k kind) show(ctx context.Context, key string, l Content, payload any) error {
	b := k.board
	b.mu.Lock()
	defer b.mu.Unlock()
	c, changed, err := b.saveLocked(ctx, k.name, key, l, payload, false)
	if err == nil && changed && c.Message != 0 {
		err = b.drawLocked(ctx, c)
	}
	return err
}

// Post shows a card that is never updated, under a new key, and then calls Tidy.
func (k Kind[P]) Post(ctx context.Context, l Content, payload P) error {
	return k.post(ctx, l, payload)
}

func (k kind) post(ctx context.Context, l Content, payload any) error {
	key := NewKey()
	if err := k.show(ctx, key, l, payload); err != nil {
		return errors.Join(err, k.Close(ctx, key, render.Text{})) // a retry has another key
	}
	k.tidy(ctx, l.To, func(record) bool { return true })
	return nil
}

// Withdraw removes an unseen card. It returns false if its message is in the chat, or may be,
// because a call to send it may have succeeded.
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

// NewKey returns a unique key. Keys sort by time.
func NewKey() string { return uuid.Must(uuid.NewV7()).String() }

// keepOpen is the number of Post cards per kind and place that stay open.
const keepOpen = 10

// Tidy closes the finished cards of a place except the newest ten; their keys must be of NewKey. A
// card that is not sent yet stays open, because closing it would drop its message.
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
	open := slices.DeleteFunc(b.openOfLocked(k.name), func(r record) bool { return r.Content.To != to || !over(r) })
	slices.SortFunc(open, func(x, y record) int { return cmp.Compare(x.Key, y.Key) })
	for _, c := range open[:max(0, len(open)-keepOpen)] {
		if c.Message == 0 {
			continue
		}
		c.Content.Rank = outbox.Card // it is not urgent
		if err := b.closeLocked(ctx, c, render.Text{}); err != nil {
			b.log.Error("card_not_closed", logkey.Kind, k.name, logkey.Error, err)
		}
	}
}

// DropNeeds clears Needs in the kind's open cards about a session that were not asked after before,
// except the card with the key except. Their messages and buttons stay.
func (k kind) DropNeeds(session uuid.UUID, except string, before time.Time) (err error) {
	b := k.board
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.openOfLocked(k.name) {
		if c.Content.Needs != "" && c.Content.Session == session && c.Key != except && !c.WaitsSince.After(before) {
			c.Content.Needs, c.WaitsSince = "", time.Time{}
			err = errors.Join(err, b.putLocked(c))
		}
	}
	return err
}

// Redraw updates an open card. A content without options closes it; a closed card stays.
func (k Kind[P]) Redraw(ctx context.Context, key string, l Content, payload P) error {
	if len(Filled(l.Options)) == 0 {
		return k.Close(ctx, key, l.Text)
	}
	if _, open := k.get(key); !open {
		return nil
	}
	return k.show(ctx, key, l, payload)
}

// Repost is Redraw in a new message, below all others, where people who write look. The old message
// keeps its text and loses its buttons.
func (k Kind[P]) Repost(ctx context.Context, key string, l Content, payload P) error {
	b := k.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, open := b.openLocked(k.name, key); !open {
		return nil
	}
	_, _, err := b.saveLocked(ctx, k.name, key, l, payload, true)
	return err
}

// ShowNow is Show, but waits until Telegram has the edit. It returns ErrUnsent if there is no
// message to edit, and then sends the card as Show does. It also returns the errors of
// Outbox.EditNow; the card is stored in each case.
func (k Kind[P]) ShowNow(ctx context.Context, key string, l Content, payload P) error {
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

// Again sends an open card again: see [Board.Again].
func (k kind) Again(ctx context.Context, key string, how Bring) (shown bool, err error) {
	return k.board.Again(ctx, k.name, key, how)
}

// ErrUnsent is returned if ShowNow did not wait, because no message of the card may be edited.
var ErrUnsent = errors.New("the card is not in the chat")

// Close removes the buttons of a card and, unless last is blank, sets its last text. A card that
// was never sent is removed. Closing a card that is not open does nothing.
func (k kind) Close(ctx context.Context, key string, last render.Text) error {
	return k.CloseFor(ctx, key, last, "")
}

// CloseFor is Close with a last text that reports news, as Content.News does.
func (k kind) CloseFor(ctx context.Context, key string, last render.Text, news string) error {
	b := k.board
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.openLocked(k.name, key)
	if !ok {
		return nil
	}
	c.noteNews(news)
	if b.asks[k.name] {
		c.Content.Rank = outbox.Now // an open question goes first
	}
	return b.closeLocked(ctx, c, last)
}

// List returns the open cards.
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

// Get returns the open card of a key.
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

// Find returns the open card of a message.
func (k Kind[P]) Find(at outbox.Conversation, message int) (Card[P], bool) {
	open := k.open()
	i := slices.IndexFunc(open, func(r record) bool { return r.Message > 0 && r.Message == message && r.At == at })
	if i < 0 {
		return Card[P]{}, false
	}
	return k.found(open[i], true)
}

// Payload returns a tapped card's payload when it was drawn.
func (k Kind[P]) Payload(t Tapped) (P, error) { return decode[P](t.payload) }

// card converts a record for the feature. It logs an error: the payload is not of this program.
func (k Kind[P]) card(r record) (Card[P], error) {
	p, err := decode[P](r.Payload)
	if err != nil {
		k.board.log.Error("card_payload_unreadable", logkey.Kind, k.name, logkey.Error, err)
	}
	return Card[P]{Key: r.Key, Content: r.Content, Payload: p, Sent: r.Message != 0, Message: max(r.Message, 0)}, err
}

func decode[P any](data json.RawMessage) (P, error) {
	var p P
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("payload of a card: %w", err)
	}
	return p, nil
}
