package bot

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/render"
	"ccbot/hooks"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// asks keeps the one message of each permission request as its card says. A card
// is on disk before its message is sent, and before a decision is given to the
// hook: a crash repeats the message in flight at most, and no decision.
type asks struct {
	*Bot
	lanes *lanes
	parts *lanes // of what [Show all] sends: it holds up no request, and no tap
	wake  chan struct{}
	begun time.Time // of Run: hooks redial soon after it
	// halves are requests of which the transcript tells one half, and since when
	// that is known. They and pruned belong to the goroutine that follows them.
	halves map[string]time.Time
	pruned time.Time // when old cards were last forgotten

	// mu is held while a card changes, its edit included: the newest edit is the
	// newest card. No call of Sessions but Wake under it: their workers tell news,
	// which wants it too.
	mu      sync.Mutex
	sending map[string]bool      // messages that a lane has
	flying  map[string]bool      // those of them that Telegram may have
	took    map[string]int       // messages that Telegram has, and of which the disk does not know
	renewed map[string]time.Time // when a message that was deleted was last sent anew
	busy    map[string]bool      // decisions that a tap has not given to the relay yet
	shows   map[string]bool      // requests of which everything is being shown
	recent  map[uuid.UUID]*volume
	due     map[uuid.UUID]bool // sessions whose cards are to be looked at; true: the agent has ended
	left    map[string]bool    // requests whose hook has gone
}

func newAsks(b *Bot) *asks {
	return &asks{Bot: b, lanes: newLanes(), parts: newLanes(), wake: make(chan struct{}, 1), sending: make(map[string]bool),
		flying: make(map[string]bool), took: make(map[string]int), renewed: make(map[string]time.Time),
		halves: make(map[string]time.Time), busy: make(map[string]bool), shows: make(map[string]bool), recent: make(map[uuid.UUID]*volume),
		due: make(map[uuid.UUID]bool), left: make(map[string]bool)}
}

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
	case c.IsOver(): // of its input only a part is kept
		a.Relay.Leave(q.ID)
		return nil
	case !c.Same(q):
		return fmt.Errorf("request %s is another one than before", q.ID)
	case c.State == ask.StateAway && (c.Message == unseen || c.Away == ask.DialogGone || c.Away == ask.ToDesk):
		a.Relay.Leave(q.ID) // nobody could answer it, or nobody would
		return nil
	}
	if err := a.becomeLocked(ctx, c, a.rehomed(ask.Return(c))); err != nil {
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
	if !a.MayShow(r.Conversation) {
		return fmt.Errorf("request %s: %w", q.ID, errNotShown)
	}
	if err := a.admitLocked(ctx, r); err != nil {
		return fmt.Errorf("request %s: %w", q.ID, err)
	}
	c := ask.New(q, r.Conversation)
	c.Project = a.Sessions.Answerers(r)
	if err := a.Asks.Save(c); err != nil {
		return err
	}
	a.At("ask-saved")
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
	next = a.dated(old, next)
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
	if next.IsOver() && !old.IsOver() {
		delete(a.renewed, next.Request.ID)
		a.closeNotice(ctx, next)
	}
	if changed || next.Message == 0 { // or the last try to send it failed
		a.showLocked(ctx, next)
	}
	return nil
}

// dated notes since when a card is away, and whose words are not awaited any more
// although nobody here has ended that.
func (a *asks) dated(old, next ask.Card) ask.Card {
	if next.State == ask.StateAway && next.AwayAt.IsZero() {
		next.AwayAt = a.Now().UTC()
	}
	if old.Why != nil && (next.State == ask.StateAway || next.IsOver()) {
		next = ask.Miss(next, old.Why.By, a.Now())
	}
	return next
}

// putLocked is becomeLocked for what a person did. A decision is shown when it is
// known whether a hook takes it.
func (a *asks) putLocked(ctx context.Context, old, next ask.Card, effect ask.Effect) error {
	if effect != ask.SendDecision {
		return a.becomeLocked(ctx, old, next)
	}
	if err := a.keepLocked(next); err != nil {
		return err
	}
	if !a.waits(next) {
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
	if next.State == ask.StateAway || next.IsOver() {
		a.Relay.Leave(next.Request.ID)
		a.Sessions.Wake(next.Request.Session)
	}
	return nil
}

// tellUnread says that a text which was given as a reason was not taken, or that
// nobody knows whether it was: it has left the queue, so nobody else will say so.
func (a *asks) tellUnread(ctx context.Context, c ask.Card) error {
	if c.Prompt == "" || c.Decision == nil || c.Outcome.Chat {
		return nil
	}
	key := i18n.AskTextLost
	if broken := c.Outcome.What == ask.Unknown || c.Outcome.What == ask.Interrupted; broken && !c.Given.IsZero() {
		key = i18n.AskTextUnsure // a hook has it
	}
	return a.Fail(ctx, c.Conversation, c.Text, render.Plain(a.words.Say(key, i18n.Args{"Name": a.nameOf(c)})), nil)
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
		if err := a.becomeLocked(ctx, c, ask.Leave(c, ask.DialogGone)); err != nil {
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
	for _, c := range a.Asks.Unsettled() {
		if c.Request.Session == id {
			cards = append(cards, c)
		}
	}
	return cards
}

// Forget takes away what is kept of a session that is itself forgotten.
func (b *Bot) Forget(ctx context.Context, id uuid.UUID) error {
	errs := []error{b.Deps.Cards.Forget(ctx, id)}
	for _, f := range b.rooms {
		if f.Forget != nil {
			errs = append(errs, f.Forget(ctx, id))
		}
	}
	return errors.Join(errs...)
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
