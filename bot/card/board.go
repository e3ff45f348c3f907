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
	diskAgain  = 5 * time.Second // a full disk may have room again
	keepClosed = time.Hour       // people may tap the buttons of a closed card
)

var errBlank = errors.New("the card has no text")

// Sender sends messages; *outbox.Outbox implements it. Post and Edit do not wait.
type Sender interface {
	Post(ctx context.Context, m outbox.Message) error
	Edit(ctx context.Context, to outbox.Conversation, messageID int, m outbox.Message) error
	EditNow(ctx context.Context, to outbox.Conversation, messageID int, m outbox.Message) error
}

// Board holds all cards, and is the Owner of their posts. Its methods are safe for concurrent use,
// also before Run.
type Board struct {
	// Failpoint is called with "card-sent" when Telegram has a card's message and the disk does not
	// know that yet. It is nil except in programs built to crash there.
	Failpoint func(name string)
	// Changed, Stepped and Link are set before Run by what is made with the board: it needs the board
	// itself.

	// Changed is called when an open question appears, ends or changes, and when a card gets its
	// message. It must not block or call the board. It may be nil.
	Changed func()
	// Stepped is called like Changed when a question with Bring.Repost is answered, with its place.
	Stepped func(at outbox.Conversation)
	// Link returns the address of a message, or "" in private chats. It may be nil.
	Link func(at outbox.Conversation, message int) string

	folder  spool.Folder
	sender  Sender
	mayShow func(outbox.Conversation) bool
	log     *slog.Logger
	wake    chan struct{}

	mu      sync.Mutex // held during disk writes, Post and Edit; never during a call that waits
	cards   map[string]record
	open    map[string]map[string]bool                                // the ids of the open cards, by kind
	due     time.Time                                                 // when Run checks all cards again
	refused map[string]func(ctx context.Context, c record, why error) // by kind
	sent    map[string]func(key string)                               // by kind
	asks    map[string]bool                                           // the kinds that are questions
	without map[string]func(payload json.RawMessage, session uuid.UUID) (json.RawMessage, error)
}

// Open reads the cards of dir. mayShow reports whether a place may see cards: otherwise nothing is
// sent or edited there. It must be quick and not call the board.
func Open(dir, quarantine string, sender Sender, mayShow func(outbox.Conversation) bool, log *slog.Logger) (*Board, error) {
	b := &Board{
		folder: spool.Folder{Path: dir, MaxSize: maxSize, Fsync: true},
		sender: sender, mayShow: mayShow, log: log, wake: make(chan struct{}, 1),
		cards: map[string]record{}, open: map[string]map[string]bool{}, refused: map[string]func(context.Context, record, error){}, asks: map[string]bool{}, sent: map[string]func(string){},
		without: map[string]func(json.RawMessage, uuid.UUID) (json.RawMessage, error){},
	}
	_, err := spool.Loader{Quarantine: quarantine, Log: log}.Load(b.folder, suffix, func(name string, data []byte) error {
		c, err := read(name, data)
		if err == nil {
			c.forget = time.Now() // for a closed one: when the chat has its last edit
			b.setLocked(c)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open cards: %w", err)
	}
	return b, nil
}

// Undrawn returns the number of cards that the chat may show in an older state.
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

// openLocked returns the open card of a key.
func (b *Board) openLocked(kind, key string) (record, bool) {
	for id := range b.open[kind] {
		if c := b.cards[id]; c.Key == key {
			return c, true
		}
	}
	return record{}, false
}

// openOfLocked returns copies of the open cards of a kind, in a fixed order.
func (b *Board) openOfLocked(kind string) (all []record) {
	for _, id := range slices.Sorted(maps.Keys(b.open[kind])) {
		all = append(all, b.cards[id])
	}
	return all
}

// listLocked returns copies of all cards in a fixed order, the open ones first.
func (b *Board) listLocked() []record {
	all := make([]record, 0, len(b.cards))
	for _, c := range b.cards {
		all = append(all, c)
	}
	rank := func(c record) string { return strconv.FormatBool(c.Closed) + c.ID }
	slices.SortFunc(all, func(x, y record) int { return cmp.Compare(rank(x), rank(y)) })
	return all
}

// saveLocked stores a card, and posts it if it has no message. The card needs a new message below
// all others, or in a new place; the old message then loses its buttons.
func (b *Board) saveLocked(ctx context.Context, kind, key string, l Content, payload any, below bool) (c record, changed bool, err error) {
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
	c.Content, c.Payload, c.Revision = l, data, revisionOf(l, data)
	c.noteNews(l.News)
	if c.noteNeed(time.Now()); c.Content.Needs != Answer {
		b.stepLocked(&c)
	}
	if below || l.To != old.Content.To && c.place() != l.To {
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

// postLocked queues the card's post, once. The outbox asks for the message when its turn comes.
func (b *Board) postLocked(ctx context.Context, c record) error {
	if !b.mayShow(c.Content.To) {
		b.log.Info("card_not_shown", logkey.Kind, c.Kind, logkey.ChatID, c.Content.To.ChatID, logkey.Why, "no person there is allowed")
		return nil
	}
	err := b.sender.Post(ctx, outbox.Message{Name: c.postName(), To: c.Content.To, Session: c.Content.Session, Rank: c.Content.Rank})
	if err != nil && !c.unposted {
		pause.Poke(b.wake)
	}
	c.unposted = err != nil // the disk is full, and may have room later
	b.setLocked(c)
	return err
}

// drawLocked updates a card's message. It removes a closed card without a message.
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

// stripLocked removes the buttons of a message that is not, or no longer, the card's.
func (b *Board) stripLocked(ctx context.Context, to outbox.Conversation, message int, m outbox.Message) {
	m.Buttons, m.Name = nil, "" // the card gets no callback
	if message <= 0 || !b.mayShow(to) {
		return
	}
	if err := b.sender.Edit(ctx, to, message, m); err != nil {
		b.log.Debug("card_not_stripped", logkey.ChatID, to.ChatID, logkey.Error, err)
	}
}

// resendLocked sends a card in a new message.
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

// closeLocked removes the buttons. It edits no message that has none and gets no last text. It
// removes a card that was never sent; the outbox then has nothing to send.
func (b *Board) closeLocked(ctx context.Context, c record, last render.Text) error {
	if c.Message == 0 && c.offered == "" && !c.comeBack() {
		return b.removeLocked(c)
	}
	b.stepLocked(&c)
	shown := c.Drawn && last.Blank() && len(c.Content.Options) == 0
	c.Closed, c.Drawn, c.forget = true, shown, time.Now().Truncate(time.Minute).Add(keepClosed) // cards of one minute are forgotten together
	if !last.Blank() {
		c.Content.Text = last.Begin(c.Content.limit())
	}
	if err := b.putLocked(c); err != nil || shown {
		return err
	}
	return b.drawLocked(ctx, c)
}

// Forget removes the cards of a session, and the buttons of their messages. In other cards the
// payload loses the session (see Forgetter), and options about it get the value Forgotten.
func (b *Board) Forget(ctx context.Context, session uuid.UUID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, c := range b.listLocked() {
		if c.Content.Session == session {
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
		content, named := c.Content.without(session)
		if named || !bytes.Equal(payload, c.Payload) {
			c.Content, c.Payload = content, payload
			errs = append(errs, b.putLocked(c))
		}
	}
	return errors.Join(errs...)
}

// Moved shows the open cards of moved places, in a new message unless their message is there
// already, and forgets the closed ones. Of a deleted topic it shows in the chat only questions,
// cards with Renew or RenewOnce, and cards that were never sent. where returns the new place of a
// message, and whether the message is there; it must be quick. Calling Moved again changes nothing.
func (b *Board) Moved(ctx context.Context, where func(at outbox.Conversation, message int) (to outbox.Conversation, there bool)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, c := range b.listLocked() {
		to, there := where(c.place(), c.Message)
		if there {
			to, _ = where(c.Content.To, 0) // the outbox may have been quicker
			there = to == c.place()
		}
		if !there || to != c.Content.To {
			errs = append(errs, b.moveLocked(ctx, c, to, there))
		}
	}
	return errors.Join(errs...)
}

func (b *Board) moveLocked(ctx context.Context, c record, to outbox.Conversation, there bool) error {
	old, goneWithItsTopic := c, c.At.ChatID == to.ChatID && !there && c.Message != 0
	c.Content.To, c.Former = to, nil
	switch {
	case c.Closed:
		return b.removeLocked(c)
	case goneWithItsTopic && !b.asks[c.Kind] && !c.Content.Renew && !c.Content.RenewOnce:
		return b.removeLocked(c)
	case there:
		return b.putLocked(c)
	}
	c.Content.ReplyTo = 0
	b.stripLocked(ctx, old.At, old.Message, old.message())
	return b.resendLocked(ctx, c)
}

// idle is the time that Run sleeps if no card has an end.
const idle = 24 * time.Hour

// Run completes the work of an earlier run, and closes cards at their end, until ctx ends.
func (b *Board) Run(ctx context.Context) error {
	b.takeUp(ctx, func(record) bool { return true })
	for ctx.Err() == nil {
		pause.Until(ctx, b.tend(ctx), b.wake)
	}
	return nil
}

// takeUp draws the cards that the chat may show in an older state.
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

// Reachable redraws the cards of a chat that accepts messages again: their edits were dropped,
// their posts were not.
func (b *Board) Reachable(ctx context.Context, chat int64) {
	b.takeUp(ctx, func(c record) bool { return c.At.ChatID == chat })
}

// tend closes the cards whose time has passed, posts those that the disk refused and forgets closed
// ones. It returns the time until its next call.
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
