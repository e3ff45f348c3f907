package ask

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/guard"
)

var errNotShown = errors.New("nobody in that conversation is allowed any more")

// request is one request that is not over.
type request struct {
	of      *Requests
	id      string
	session uuid.UUID
	wake    chan struct{} // there is news

	// Under the lock of Requests.
	news     pending
	followed bool // a goroutine follows it
	queued   bool // its message waits for its turn

	mu      sync.Mutex // held while it changes, its card included; not over a wait for the chat
	due     bool       // its card is not as it should be
	giving  bool       // a tap gives its decision to the hook
	reading bool       // everything that it says is being shown
}

// turn changes a request: its next state is on disk, then in the chat. A hook that has nothing to
// wait for any more is let go, and the dialog of the terminal, if it still stands, is looked at.
func (r *request) turn(ctx context.Context, change func(Card) Card) error {
	old, next, err := r.change(ctx, change)
	if err == nil && !reflect.DeepEqual(old, next) {
		r.free(next)
	}
	return err
}

func (r *request) change(ctx context.Context, change func(Card) Card) (old, next Card, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, open := r.get()
	if !open {
		return old, old, nil
	}
	next, err = r.becomeLocked(ctx, old, change(old))
	return old, next, err
}

// get is the request as it is; false: it is over, or forgotten.
func (r *request) get() (Card, bool) {
	if now, open := r.of.find(r.id); !open || now != r {
		return Card{}, false
	}
	c, ok := r.of.Store.Get(r.id)
	return c, ok && !c.IsOver()
}

// becomeLocked puts the next state of a request on disk and shows it.
func (r *request) becomeLocked(ctx context.Context, old, next Card) (Card, error) {
	next = r.dated(old, next)
	changed := !reflect.DeepEqual(old, next)
	if next.IsOver() {
		if err := r.tellUnread(ctx, next); err != nil {
			return old, err
		}
	}
	if changed {
		if err := r.of.Store.Save(next); err != nil {
			return old, err
		}
	}
	if next.IsOver() {
		r.remove()
		r.of.Over(ctx, next)
	}
	if changed || r.due {
		r.showLocked(ctx, next)
	}
	return next, nil
}

// free lets the hook of a request go that nobody decides here any more.
func (r *request) free(c Card) {
	if c.State == StateAway || c.IsOver() {
		r.of.Hooks.Leave(r.id)
		r.of.Sessions.Wake(r.session)
	}
}

// dated notes since when a request is away, and whose words are not awaited any more although that
// person has not ended it.
func (r *request) dated(old, next Card) Card {
	now := r.of.Chat.Now()
	if next.State == StateAway && next.AwayAt.IsZero() {
		next.AwayAt = now.UTC()
	}
	if old.Why != nil && (next.State == StateAway || next.IsOver()) {
		next = Miss(next, old.Why.By, now)
	}
	return next
}

// tellUnread says that a text which was given as a reason was not taken, or that it is unknown
// whether it was: it has left the queue, so nothing else says so.
func (r *request) tellUnread(ctx context.Context, c Card) error {
	a := r.of
	if c.Prompt == "" || c.Decision == nil || c.Outcome.Chat {
		return nil
	}
	key := i18n.AskTextLost
	if broken := c.Outcome.What == Unknown || c.Outcome.What == Interrupted; broken && !c.Given.IsZero() {
		key = i18n.AskTextUnsure // a hook has it
	}
	text := render.Plain(a.Chat.Words.Say(key, i18n.Args{"Name": a.NameOf(c)}))
	return a.Chat.Fail(ctx, c.Conversation, c.Text, text, nil)
}

// housed is a request that its conversation may not show any more: it goes to where its session is
// by now, or to the desk.
func (r *request) housed(c Card) Card {
	book := r.of.Chat.Book
	if c.State != StateOpen && c.State != StateSent || book.MayShow(c.Conversation) {
		return c
	}
	s, ok := book.Records.Get(c.Request.Session)
	if !ok || !book.MayShow(s.Conversation) {
		return Leave(c, ToDesk)
	}
	return inPlace(c, s.Conversation)
}

// inPlace is a request that is to be shown in another place, where nobody has seen anything of it.
func inPlace(c Card, to outbox.Conversation) Card {
	c.Conversation, c.AllShown, c.Why, c.Text = to, false, nil, 0
	return c
}

// showLocked brings the card up to date. What cannot be done now is done at the next round.
func (r *request) showLocked(ctx context.Context, c Card) {
	err := r.show(ctx, c)
	r.due = err != nil
	if err != nil && !errors.Is(err, errTurn) {
		r.note(err)
	}
}

// show keeps a card while somebody may decide, and while it says what became of what people have seen.
func (r *request) show(ctx context.Context, c Card) error {
	now, ok := r.of.cards.Get(r.id)
	wanted := c.State == StateOpen || c.AllShown || ok && (now.Sent || c.State == StateSent)
	switch {
	case c.IsOver(), !wanted:
		r.leaveQueue()
		return r.of.cards.Close(ctx, r.id, r.of.look(c).Text)
	case !ok && !r.maySend(ctx):
		return errTurn
	}
	return r.of.cards.Show(ctx, r.id, r.of.look(c), struct{}{})
}

// look is the card of a request.
func (a *Requests) look(c Card) card.Look {
	l := card.Look{To: c.Conversation, Session: c.Request.Session, Renew: c.State == StateOpen}
	v, err := a.viewer().drawn(a.NameOf(c), func(v Viewer, name string) View { return v.View(c, name) })
	if err != nil {
		a.Chat.Log.Error("ask_not_drawn", "request", c.Request.ID, "error", err.Error())
	}
	l.Text, l.Options = v.Text, v.Options
	return l
}

// drawn is what draw gives. It draws what an agent has written, so a mistake in it must not end the
// bot, at each start again: then the message says where the request can be decided.
func (v Viewer) drawn(name string, draw func(v Viewer, name string) View) (seen View, err error) {
	err = guard.Call(func() error { seen = draw(v, name); return nil })
	if err != nil {
		seen = View{Text: render.Plain(name + ": " + v.Words.Say(i18n.AskAtDesk))}
	}
	return seen, err
}

func (a *Requests) viewer() Viewer {
	return Viewer{Words: a.Chat.Words, Home: a.Chat.Places.Bounds().Home}
}

// NameOf is the name of a request's session.
func (a *Requests) NameOf(c Card) string {
	s, _ := a.Chat.Book.Records.Get(c.Request.Session)
	return glyph.Name(s.Name)
}

// refused leaves a request to the terminal whose message Telegram will never take.
func (a *Requests) refused(ctx context.Context, shown card.Card[struct{}], why error) {
	a.Chat.Log.Warn("ask_not_sent", "request", shown.Key, "error", why.Error())
	if r, ok := a.find(shown.Key); ok {
		r.note(r.turn(ctx, func(c Card) Card { return Leave(c, ToDesk) }))
	}
}

// note logs what could not be done now; the next look does it.
func (r *request) note(err error) {
	if err != nil {
		r.of.Chat.Log.Error("ask_not_settled", "request", r.id, "error", err.Error())
	}
}

// crashed ends a request whose goroutine made a mistake of ours; the terminal decides it.
func (r *request) crashed(ctx context.Context, p *guard.Panic) {
	r.of.Chat.Log.Error("ask_crashed", "request", r.id, "panic", fmt.Sprint(p.Value), "stack", p.Stack)
	if c, ok := r.get(); ok {
		r.note(r.of.Chat.For(r.session).Say(ctx, c.Conversation, chat.Warning+r.of.Chat.Words.Say(i18n.InternalError)))
	}
	now := r.of.Chat.Now() // whether a hook has its decision is not known
	r.note(r.turn(ctx, func(c Card) Card { return GiveWay(Give(c, now), now) }))
}
