package card

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/spool"
)

const (
	diskAgain  = 5 * time.Second // a disk that was full may have room by then
	keepClosed = time.Hour       // people may tap what a closed card has shown
)

var errBlank = errors.New("the card has no text")

// Sender brings messages into the chat; *outbox.Outbox is one. Post and Edit do not wait.
type Sender interface {
	Post(ctx context.Context, m outbox.Message) error
	Edit(ctx context.Context, to outbox.Conversation, messageID int, m outbox.Message) error
	EditNow(ctx context.Context, to outbox.Conversation, messageID int, m outbox.Message) error
}

// Board has all cards, and is the Owner of their posts. Its methods may be called from anywhere,
// also before Run.
type Board struct {
	// Failpoint is called with "card-sent" where Telegram has a card's message and the disk does
	// not know that yet. It is nil but in programs built to die there.
	Failpoint func(name string)
	// Changed is called when an open question has come, gone or changed, and when a card has got its message. It must
	// not block, and calls no method of the board. It may be nil.
	Changed func()
	// Stepped is called like Changed when a question is answered that had options of Bring.Below; at is its conversation.
	Stepped func(at outbox.Conversation)
	// Link returns the address of a message; empty: it has none, as in private chats. It may be nil.
	Link func(at outbox.Conversation, message int) string

	folder  spool.Folder
	sender  Sender
	mayShow func(outbox.Conversation) bool
	log     *slog.Logger
	wake    chan struct{}

	mu      sync.Mutex // held over disk writes, Post and Edit; never over a call that waits
	cards   map[string]record
	open    map[string]map[string]bool                                // the ids of the cards that are not closed, by kind
	due     time.Time                                                 // when Run looks at all cards again
	refused map[string]func(ctx context.Context, c record, why error) // by kind
	asks    map[string]bool                                           // the kinds that are questions
	without map[string]func(payload json.RawMessage, session uuid.UUID) (json.RawMessage, error)
}

// Open reads the cards of dir. mayShow says whether a place may see cards: where it may not,
// nothing is sent or edited. It must be quick and call no method of the board.
func Open(dir, quarantine string, sender Sender, mayShow func(outbox.Conversation) bool, log *slog.Logger) (*Board, error) {
	b := &Board{
		folder: spool.Folder{Path: dir, MaxSize: maxSize, Fsync: true},
		sender: sender, mayShow: mayShow, log: log, wake: make(chan struct{}, 1),
		cards: map[string]record{}, open: map[string]map[string]bool{}, refused: map[string]func(context.Context, record, error){}, asks: map[string]bool{},
		without: map[string]func(json.RawMessage, uuid.UUID) (json.RawMessage, error){},
	}
	_, err := spool.Loader{Quarantine: quarantine, Log: log}.Load(b.folder, suffix, func(name string, data []byte) error {
		c, err := read(name, data)
		if err == nil {
			c.forget = time.Now() // of a closed one: when the chat has its last edit
			b.setLocked(c)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open cards: %w", err)
	}
	return b, nil
}

// Undrawn is how many cards the chat is not known to have as they should look.
func (b *Board) Undrawn() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cards {
		if !c.Drawn {
			n++
		}
	}
	return n
}

// openLocked is the card of a name that is not closed.
func (b *Board) openLocked(kind, key string) (record, bool) {
	for id := range b.open[kind] {
		if c := b.cards[id]; c.Key == key {
			return c, true
		}
	}
	return record{}, false
}

// openOfLocked returns copies of the cards of a kind that are not closed, in a fixed order.
func (b *Board) openOfLocked(kind string) (all []record) {
	for _, id := range slices.Sorted(maps.Keys(b.open[kind])) {
		all = append(all, b.cards[id])
	}
	return all
}

// listLocked gives copies of the cards in a fixed order, with the open ones first: people wait for
// those.
func (b *Board) listLocked() []record {
	all := make([]record, 0, len(b.cards))
	for _, c := range b.cards {
		all = append(all, c)
	}
	rank := func(c record) string { return strconv.FormatBool(c.Closed) + c.ID }
	slices.SortFunc(all, func(x, y record) int { return cmp.Compare(rank(x), rank(y)) })
	return all
}

// saveLocked keeps what a card should look like, and posts a card that has no message. Below all others, and in a place
// that is not the one asked for until now, the card needs a message of its own; the old message loses its buttons.
func (b *Board) saveLocked(ctx context.Context, kind, key string, l Look, payload any, below bool) (c record, changed bool, err error) {
	data, err := json.Marshal(payload)
	if err != nil {
		return c, false, fmt.Errorf("payload of a card: %w", err)
	}
	l = l.fitting()
	if b.asks[kind] && l.Rank != outbox.Card {
		l.Rank = outbox.Question
	}
	if l.Text.Blank() {
		return c, false, errBlank
	}
	old, ok := b.openLocked(kind, key)
	c = old
	if !ok {
		c = record{Version: version, ID: rand.Text()[:idLength], Kind: kind, Key: key}
	}
	c.Look, c.Payload, c.Revision = l, data, revisionOf(l, data)
	if c.noteNeed(time.Now()); c.Look.Needs != Answer {
		b.stepLocked(&c)
	}
	if below || l.To != old.Look.To && c.place() != l.To {
		c.leave()
	}
	changed = c.appearance() != old.appearance()
	c.Drawn = c.Drawn && !changed
	if !ok || digest(c) != digest(old) {
		if err := b.putLocked(c); err != nil {
			return c, false, err
		}
	}
	if c.Message != old.Message {
		b.stripLocked(ctx, old.At, old.Message, old.message())
	}
	if c.Message == 0 {
		err = b.postLocked(ctx, c)
	}
	return c, changed, err
}

// postLocked has the card sent. The outbox asks for it when its turn comes; a post that waits
// already is not doubled.
func (b *Board) postLocked(ctx context.Context, c record) error {
	if !b.mayShow(c.Look.To) {
		b.log.Info("card_not_shown", logkey.Kind, c.Kind, logkey.ChatID, c.Look.To.ChatID, logkey.Why, "nobody there is allowed any more")
		return nil
	}
	err := b.sender.Post(ctx, outbox.Message{Name: c.postName(), To: c.Look.To, Session: c.Look.Session, Rank: c.Look.Rank})
	if err != nil && !c.unposted {
		pause.Poke(b.wake)
	}
	c.unposted = err != nil // the disk is full, and may have room later
	b.setLocked(c)
	return err
}

// drawLocked brings a card into the chat as it should look. Nothing more can be done for a closed one
// that has no message to edit.
func (b *Board) drawLocked(ctx context.Context, c record) error {
	switch shown := c.Message > 0 && b.mayShow(c.At); {
	case shown:
		if err := b.sender.Edit(ctx, c.At, c.Message, c.message()); err != nil {
			b.log.Debug("card_not_edited", logkey.Kind, c.Kind, logkey.ChatID, c.At.ChatID, logkey.Error, err)
		}
	case c.Closed && c.offered == "":
		return b.removeLocked(c)
	case c.Message == 0 && !c.Closed:
		return b.postLocked(ctx, c)
	}
	return nil
}

// stripLocked takes the buttons off a message that is not the card's, or not any more.
func (b *Board) stripLocked(ctx context.Context, to outbox.Conversation, message int, m outbox.Message) {
	m.Buttons, m.Name = nil, "" // the card does not hear of it
	if message <= 0 || !b.mayShow(to) {
		return
	}
	if err := b.sender.Edit(ctx, to, message, m); err != nil {
		b.log.Debug("card_not_stripped", logkey.ChatID, to.ChatID, logkey.Error, err)
	}
}

// resendLocked sends a card in a message of its own, whatever there was.
func (b *Board) resendLocked(ctx context.Context, c record) error {
	c.leave()
	if err := b.putLocked(c); err != nil {
		return err
	}
	return b.postLocked(ctx, c)
}

func (b *Board) logUnsaved(c record, err error) {
	if err != nil {
		b.log.Error("card_not_saved", logkey.Kind, c.Kind, logkey.Error, err)
	}
}

// closeLocked takes the buttons off; a message that has none, and gets no last text, is not edited. A
// card that was never sent is removed, and the outbox, when it asks for the message, has nothing to send.
func (b *Board) closeLocked(ctx context.Context, c record, last render.Text) error {
	if c.Message == 0 && c.offered == "" && !c.comeBack() {
		return b.removeLocked(c)
	}
	b.stepLocked(&c)
	shown := c.Drawn && last.Blank() && len(c.Look.Options) == 0
	c.Closed, c.Drawn, c.forget = true, shown, time.Now().Truncate(time.Minute).Add(keepClosed) // those of a minute go together
	if !last.Blank() {
		c.Look.Text = last.Begin(c.Look.limit())
	}
	if err := b.putLocked(c); err != nil || shown {
		return err
	}
	return b.drawLocked(ctx, c)
}

// Forget removes the cards of a session; their messages lose their buttons. Other cards that name it, as a list does, stay: the
// payload loses it (see Forgetter), and its options have the value Forgotten.
func (b *Board) Forget(ctx context.Context, session uuid.UUID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, c := range b.listLocked() {
		if c.Look.Session == session {
			b.stripLocked(ctx, c.At, c.Message, c.message())
			errs = append(errs, b.removeLocked(c))
			continue
		}
		payload := c.Payload
		if without := b.without[c.Kind]; without != nil {
			var err error
			payload, err = without(payload, session)
			errs = append(errs, err)
		}
		look, named := c.Look.without(session)
		if named || !bytes.Equal(payload, c.Payload) {
			c.Look, c.Payload = look, payload
			errs = append(errs, b.putLocked(c))
		}
	}
	return errors.Join(errs...)
}

// Moved shows the open cards of places that have become others, each in a new message unless its message
// is there already, and forgets the closed ones. Of a topic that was deleted it shows in the chat only
// questions, what comes back when people delete it, and what was never sent: the rest went with the topic.
// where gives what the place of a message has become, and whether the message is there; it must be quick.
// Calling Moved again changes nothing.
func (b *Board) Moved(ctx context.Context, where func(at outbox.Conversation, message int) (to outbox.Conversation, there bool)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, c := range b.listLocked() {
		to, there := where(c.place(), c.Message)
		if there {
			to, _ = where(c.Look.To, 0) // the outbox may have been quicker
			there = to == c.place()
		}
		if !there || to != c.Look.To {
			errs = append(errs, b.moveLocked(ctx, c, to, there))
		}
	}
	return errors.Join(errs...)
}

func (b *Board) moveLocked(ctx context.Context, c record, to outbox.Conversation, there bool) error {
	old, goneWithItsTopic := c, c.At.ChatID == to.ChatID && !there && c.Message != 0
	c.Look.To, c.Former = to, nil
	switch {
	case c.Closed:
		return b.removeLocked(c)
	case goneWithItsTopic && !b.asks[c.Kind] && !c.Look.Renew && !c.Look.RenewOnce:
		return b.removeLocked(c)
	case there:
		return b.putLocked(c)
	}
	c.Look.ReplyTo = 0
	b.stripLocked(ctx, old.At, old.Message, old.message())
	return b.resendLocked(ctx, c)
}

// idle is how long Run sleeps when no card has an end.
const idle = 24 * time.Hour

// Run takes up what an earlier run left, and closes cards whose time is over, until ctx ends.
func (b *Board) Run(ctx context.Context) error {
	b.takeUp(ctx, func(record) bool { return true })
	for ctx.Err() == nil {
		pause.Until(ctx, b.tend(ctx), b.wake)
	}
	return nil
}

// takeUp draws the cards of which the chat may not have the last state.
func (b *Board) takeUp(ctx context.Context, which func(record) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.listLocked() {
		if which(c) && c.Former != nil && c.Message > 0 {
			b.leadLocked(ctx, c)
		}
		if which(c) && !c.Drawn {
			b.logUnsaved(c, b.drawLocked(ctx, c))
		}
	}
}

// Reachable has the cards of a chat drawn again that takes messages after it took none: their edits
// were dropped meanwhile, their posts were not.
func (b *Board) Reachable(ctx context.Context, chat int64) {
	b.takeUp(ctx, func(c record) bool { return c.At.ChatID == chat })
}

// tend closes the cards whose time is over, posts those that the disk did not take and forgets closed
// ones, and gives the time until more is to be done.
func (b *Board) tend(ctx context.Context) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait = idle
	for _, c := range b.listLocked() {
		var err error
		now, end := time.Now(), c.end()
		over := !end.IsZero() && !now.Before(end)
		switch {
		case c.Closed && c.Drawn && over:
			err = b.removeLocked(c)
		case !c.Closed && over:
			err = b.closeLocked(ctx, c, render.Text{})
		case c.unposted && c.Message == 0:
			err = b.postLocked(ctx, c)
		}
		if err != nil {
			b.log.Error("card_not_tended", logkey.Kind, c.Kind, logkey.Error, err)
			wait = min(wait, diskAgain)
		}
		if !end.IsZero() && !over {
			wait = min(wait, end.Sub(now))
		}
	}
	b.due = time.Now().Add(wait)
	return wait
}
