package bot

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/outbox"
	"ccbot/hooks"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// asks keeps the one message of each permission request as its card says. A card
// is on disk before its message is sent, and before a decision is given to the
// hook: a crash repeats the message in flight at most, and no decision.
type asks struct {
	*Bot
	lanes *lanes
	wake  chan struct{}
	begun time.Time // of Run: hooks redial soon after it
	// halves are requests of which the transcript tells one half, and since when
	// that is known. It belongs to the goroutine that follows them.
	halves map[string]time.Time

	// mu is held while a card changes, its edit included: the newest edit is the
	// newest card. No call of Sessions but Wake under it: their workers tell news,
	// which wants it too.
	mu      sync.Mutex
	sending map[string]bool    // messages that a lane has
	busy    map[string]bool    // decisions that a tap has not given to the relay yet
	given   map[string]bool    // decisions that a hook has taken, in this run
	due     map[uuid.UUID]bool // sessions whose cards are to be looked at; true: the agent has ended
	left    map[string]bool    // requests whose hook has gone

	patience time.Duration                 // askLead
	calls    map[uuid.UUID]transcript.Item // the last call of each session that the chat has come to
	leads    map[string]lead
}

func newAsks(b *Bot) *asks {
	return &asks{Bot: b, lanes: newLanes(), wake: make(chan struct{}, 1), sending: make(map[string]bool),
		halves: make(map[string]time.Time), busy: make(map[string]bool), given: make(map[string]bool), due: make(map[uuid.UUID]bool), left: make(map[string]bool),
		patience: askLead, calls: make(map[uuid.UUID]transcript.Item), leads: make(map[string]lead)}
}

// unseen is the id of a message that Telegram refused, or of which it did not
// say one.
const unseen = -1

var errNotShown = errors.New("nobody in that conversation is allowed any more")

// Asked takes a request that waits, or that waits again after its hook has
// redialled. It does not wait for Telegram.
func (b *Bot) Asked(ctx context.Context, q hooks.Request) error { return b.asks.asked(ctx, q) }

// Left hears that a request's hook is gone without an answer. When the program
// stops, this is told of every request, although the hooks will redial; so it is
// only looked at while Run runs.
func (b *Bot) Left(_ context.Context, q hooks.Request) {
	a := b.asks
	a.mu.Lock()
	a.left[q.ID] = true
	a.mu.Unlock()
	poke(a.wake)
}

func (a *asks) asked(ctx context.Context, q hooks.Request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.left, q.ID)
	c, known := a.Asks.Get(q.ID)
	switch {
	case !known:
		return a.freshLocked(ctx, q)
	case !c.Same(q):
		return fmt.Errorf("request %s is another one than before", q.ID)
	case c.IsOver(), c.State == ask.StateAway && c.Message == unseen: // nobody could answer it
		a.Relay.Leave(q.ID)
		return nil
	}
	if err := a.becomeLocked(ctx, c, found(c)); err != nil {
		return err
	}
	a.lookLocked(q.Session, false) // which delivers what was decided meanwhile
	return nil
}

// freshLocked takes a request that was not known.
func (a *asks) freshLocked(ctx context.Context, q hooks.Request) error {
	r, ok := a.Records.Get(q.Session)
	if !ok {
		return fmt.Errorf("request %s: %w", q.ID, session.ErrNotFound)
	}
	if !a.mayShow(r.Conversation) {
		return fmt.Errorf("request %s: %w", q.ID, errNotShown)
	}
	c := ask.New(q, r.Conversation)
	if err := a.Asks.Save(c); err != nil {
		return err
	}
	a.at("ask-saved")
	a.showLocked(ctx, c)
	return nil
}

// become changes a card, see becomeLocked.
func (a *asks) become(ctx context.Context, id string, turn func(ask.Card) ask.Card) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.Asks.Get(id)
	if !ok || c.IsOver() {
		return nil
	}
	return a.becomeLocked(ctx, c, turn(c))
}

// becomeLocked puts a card's next state on disk and shows it.
func (a *asks) becomeLocked(ctx context.Context, old, next ask.Card) error {
	changed := !reflect.DeepEqual(old, next)
	if next.IsOver() && !old.IsOver() {
		if err := a.tellUnread(ctx, next); err != nil {
			return err
		}
	}
	if changed {
		if err := a.keepLocked(next); err != nil {
			return err
		}
	}
	if changed || next.Message == 0 { // or the last try to send it failed
		a.showLocked(ctx, next)
	}
	return nil
}

// keepLocked puts a card's next state on disk. A hook that has nothing to wait for
// any more is let go, and the terminal's own dialog, if it still stands, is
// looked at.
func (a *asks) keepLocked(next ask.Card) error {
	if err := a.Asks.Save(next); err != nil {
		return err
	}
	if next.IsOver() {
		delete(a.given, next.Request.ID)
	}
	if next.State == ask.StateAway || next.IsOver() {
		a.Relay.Leave(next.Request.ID)
		a.Sessions.Wake(next.Request.Session)
	}
	return nil
}

// tellUnread says that a text which was given as a reason was not taken: it has
// left the queue, so nobody else will say so.
func (a *asks) tellUnread(ctx context.Context, c ask.Card) error {
	if c.Prompt == "" || c.Decision == nil || c.Outcome.Chat {
		return nil
	}
	args := i18n.Args{"Name": a.nameOf(c)}
	return a.postUnder(ctx, outbox.Message{To: c.Conversation, Text: plain(a.words.Say(i18n.AskTextLost, args)),
		ReplyTo: max(c.Message, 0)})
}

// showLocked brings a card's message up to date, or into the chat.
func (a *asks) showLocked(ctx context.Context, c ask.Card) {
	switch {
	case c.Message > 0 && a.mayShow(c.Conversation):
		if err := a.Sender.Edit(ctx, c.Conversation, c.Message, a.message(c)); err != nil {
			a.Log.Debug("edit_failed", "error", err.Error())
		}
	case c.Message == 0 && !a.sending[c.Request.ID] && (c.State == ask.StateOpen || c.State == ask.StateSent):
		a.sending[c.Request.ID] = true
		a.lanes.add(c.Conversation, func(ctx context.Context) { a.send(ctx, c.Request.ID) })
	}
}

func (a *asks) message(c ask.Card) outbox.Message {
	return a.drawn(c, func() ask.View { return a.viewer().View(c, a.nameOf(c)) })
}

// drawn is what draw makes of a card. It draws what an agent has written, so a
// mistake in it must not end the bot, at each start again.
func (a *asks) drawn(c ask.Card, draw func() ask.View) (m outbox.Message) {
	defer func() {
		if p := recover(); p != nil {
			a.Log.Error("ask_not_drawn", "request", c.Request.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			m = outbox.Message{To: c.Conversation, Text: plain(a.nameOf(c) + ": " + a.words.Say(i18n.AskAtDesk))}
		}
	}()
	v := draw()
	m = outbox.Message{To: c.Conversation, Text: v.Text}
	for _, row := range v.Buttons {
		var buttons []outbox.Button
		for _, one := range row {
			buttons = append(buttons, outbox.Button{Text: one.Text, Data: one.Data, Style: outbox.Style(one.Style)})
		}
		m.Buttons = append(m.Buttons, buttons)
	}
	return m
}

func (a *asks) viewer() ask.Viewer { return ask.Viewer{Words: a.words, Home: a.Home} }

func (a *asks) nameOf(c ask.Card) string {
	r, _ := a.Records.Get(c.Request.Session)
	return r.Name
}

// send brings a card's message into the chat. One that Telegram does not take is
// left to the terminal, whose own dialog is told then.
func (a *asks) send(ctx context.Context, id string) {
	var m outbox.Message
	var sent int
	var err error
	if c, ok := a.Asks.Get(id); ok && c.Message == 0 && (c.State == ask.StateOpen || c.State == ask.StateSent) {
		a.awaitLead(ctx, c)
		m = a.message(c)
		sent, err = a.deliverMessage(ctx, m)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sending, id)
	if err != nil {
		a.Log.Warn("ask_not_sent", "request", id, "error", err.Error())
	}
	c, ok := a.Asks.Get(id)
	if sent == 0 || !ok {
		return
	}
	c.Message = sent
	if err != nil {
		c = ask.Leave(c)
	}
	if err := a.keepLocked(c); err != nil {
		a.Log.Error("ask_not_saved", "request", id, "error", err.Error())
	}
	if !reflect.DeepEqual(m, a.message(c)) { // it has changed meanwhile
		a.showLocked(ctx, c)
	}
}

// deliverMessage gives the id of the message; 0 says that nobody knows whether
// it was taken, so that it is sent again.
func (a *asks) deliverMessage(ctx context.Context, m outbox.Message) (int, error) {
	if !a.mayShow(m.To) {
		return unseen, errNotShown
	}
	sent, err := a.Sender.Send(context.WithoutCancel(ctx), m)
	a.at("ask-sent")
	if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
		return unseen, err
	}
	if err == nil && sent == 0 {
		return unseen, nil
	}
	return sent, err
}

// dialogGone ends the wait for what the terminal does not ask any more. A request
// that came since that was seen has a dialog of its own.
func (a *asks) dialogGone(ctx context.Context, id uuid.UUID) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.cardsOf(id) {
		if c.State != ask.StateOpen || c.Request.SubagentID != "" || a.Now().Sub(c.Request.Asked) < dialogDrawn {
			continue // a subagent's dialog is not drawn before its hook has ended
		}
		if err := a.becomeLocked(ctx, c, ask.Leave(c)); err != nil {
			return err
		}
	}
	a.lookLocked(id, false)
	return nil
}

// dialogDrawn is how long a request is older than its dialog at most.
const dialogDrawn = time.Second

// cardsOf are a session's cards that are not over, oldest first.
func (a *asks) cardsOf(id uuid.UUID) []ask.Card {
	var cards []ask.Card
	for _, c := range a.Asks.List() {
		if c.Request.Session == id && !c.IsOver() {
			cards = append(cards, c)
		}
	}
	return cards
}

// Forget takes away what is kept of a session that is itself forgotten.
func (b *Bot) Forget(id uuid.UUID) error {
	return errors.Join(b.Asks.Forget(id), b.Dialogs.Forget(id))
}

// look asks for another look at what became of a session's requests.
func (a *asks) look(id uuid.UUID, ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lookLocked(id, ended)
}

func (a *asks) lookLocked(id uuid.UUID, ended bool) {
	a.due[id] = a.due[id] || ended
	poke(a.wake)
}
