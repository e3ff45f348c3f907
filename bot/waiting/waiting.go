package waiting

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// Waiting shows the queues of all sessions.
type Waiting struct {
	chat    *chat.Chat
	entry   func(key string) (inbox.Entry, error)
	order   prompts.Order
	looks   func(ctx context.Context, ids ...uuid.UUID) map[uuid.UUID]desk.Look
	discard func(ctx context.Context, e inbox.Entry) error
	again   []func(ctx context.Context, session uuid.UUID) (shown bool, err error)
	cards   chat.Cards[page]
	wake    chan struct{}

	mu      sync.Mutex
	changed map[uuid.UUID]bool // sessions of which there was news
}

// page is what a card shows.
type page struct {
	Session uuid.UUID `json:"session"`
	Page    int       `json:"page,omitempty"`
	Prompt  string    `json:"prompt,omitempty"` // key of the prompt that is shown in full; empty: the list
	Posted  time.Time `json:"posted,omitzero"`
}

const kind = "waiting"

// New returns the queues of a chat. entry reads the inbox. discard takes a prompt out of its queue for good, and says so under
// it; chat.IsGone of its error: the prompt waits no more. again bring what an agent asks below, each another kind.
func New(c *chat.Chat, entry func(key string) (inbox.Entry, error), order prompts.Order,
	looks func(ctx context.Context, ids ...uuid.UUID) map[uuid.UUID]desk.Look, discard func(ctx context.Context, e inbox.Entry) error,
	again ...func(ctx context.Context, session uuid.UUID) (shown bool, err error)) *Waiting {
	return &Waiting{chat: c, entry: entry, order: order, looks: looks, discard: discard, again: again,
		cards: chat.NewCards[page](c, kind), wake: make(chan struct{}, 1), changed: make(map[uuid.UUID]bool)}
}

// Feature is what the roof knows of the queues.
func (w *Waiting) Feature() chat.Feature {
	f := chat.Feature{Name: "waiting", Cards: map[string]chat.OnTap{kind: w.cards.OnTap(w.tap)}, Run: w.run,
		Heard: func(_ context.Context, r views.Session, n news.News) error {
			if taken, is := n.(news.Transferred); is { // and those of the one whose conversation it goes on with
				w.change(taken.From)
			}
			w.change(r.ID)
			return nil
		}}
	w.chat.ByName(&f, chat.Command{Name: "queue"}, func(views.Session) bool { return true },
		func(ctx context.Context, in chat.Incoming, r views.Session) error {
			return w.show(ctx, in.To, r.ID, false)
		})
	return f
}

// Show shows what waits for a session. Two taps are one message.
func (w *Waiting) Show(ctx context.Context, in chat.Incoming, r views.Session) error {
	return w.show(ctx, in.To, r.ID, true)
}

// show shows what waits for a session in a new message; tapped: or leaves the one that the last tap has brought, which
// says what is so. An earlier message about it in the same place loses its buttons.
func (w *Waiting) show(ctx context.Context, to address.Conversation, session uuid.UUID, tapped bool) error {
	defer w.cards.Hold()()
	for _, c := range w.cards.List() {
		if c.Payload.Session != session || c.Look.To != to {
			continue
		}
		if tapped && w.chat.Now().Sub(c.Payload.Posted) < chat.StillThere {
			return nil
		}
		if err := w.cards.Close(ctx, c.Key, c.Look.Text); err != nil {
			return err
		}
	}
	look, p := w.look(ctx, to, page{Session: session, Posted: w.chat.Now()})
	if err := w.cards.Post(ctx, look, p); err != nil {
		return err
	}
	w.change(session) // news that came meanwhile knew no card
	return nil
}

func (w *Waiting) change(session uuid.UUID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed[session] = true
	pause.Poke(w.wake)
}

// run draws the cards of sessions of which there is news, and at its start all.
func (w *Waiting) run(ctx context.Context) error {
	for _, c := range w.cards.List() {
		w.change(c.Payload.Session)
	}
	for pause.Until(ctx, pause.Forever, w.wake) {
		w.mu.Lock()
		changed := w.changed
		w.changed = make(map[uuid.UUID]bool)
		w.mu.Unlock()
		for _, c := range w.cards.List() {
			if !changed[c.Payload.Session] {
				continue
			}
			if err := w.redraw(ctx, c.Key, func(now page) page { return now }); err != nil && ctx.Err() == nil {
				w.chat.Log.Error("queue_not_drawn", logkey.SessionID, c.Payload.Session.String(), logkey.Error, err.Error())
			}
		}
	}
	return nil
}

// redraw shows in an open card what is so now, on the page that turn gives. Where nothing waits any
// more the card says so and is closed.
func (w *Waiting) redraw(ctx context.Context, key string, turn func(now page) page) error {
	defer w.cards.Hold()()
	c, open := w.cards.Get(key)
	if !open {
		return nil
	}
	look, p := w.look(ctx, c.Look.To, turn(c.Payload))
	return w.cards.Redraw(ctx, key, look, p)
}

// What the options of a card do, with a colon and their value behind it.
const (
	pageOption    = "page"
	showOption    = "show"
	backOption    = "back"
	nowOption     = "now"
	askOption     = "ask"
	nextOption    = "next"
	discardOption = "discard"
)

// tap turns a page, or does something with the prompt that is shown. Any allowed person may.
func (w *Waiting) tap(_ context.Context, t chat.Tap, was page) (chat.Answer, error) {
	what, value, _ := strings.Cut(t.Card.Option, ":")
	to := func(p page) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			return w.redraw(ctx, t.Card.Key, func(page) page { return p })
		}
	}
	list := page{Session: was.Session, Page: was.Page, Posted: was.Posted}
	switch what {
	case pageOption:
		list.Page, _ = strconv.Atoi(value)
		return chat.Do(to(list))
	case showOption:
		return chat.Do(to(page{was.Session, was.Page, value, was.Posted}))
	case backOption:
		return chat.Do(to(list))
	}
	e, err := w.entry(was.Prompt)
	switch {
	case err == nil && (e.State == inbox.Typing || e.State == inbox.Unproven):
		return chat.Answer{Text: w.chat.In(t.To).Say(i18n.QueueTyping), Then: to(list)}, nil
	case chat.IsGone(err), err == nil && e.State != inbox.Held:
		return chat.Answer{Text: w.chat.In(t.To).Say(i18n.QueueLeft), Then: to(list)}, nil
	case err != nil:
		return chat.Answer{}, err
	}
	r, _ := w.chat.Book.Records.Get(e.Session)
	a := chat.Answer{Then: func(ctx context.Context) error {
		err := w.do(ctx, t, what, e, r)
		if chat.IsGone(err) { // somebody was quicker: the card shows what is so
			err = nil
		}
		if drawn := to(list)(ctx); err == nil || drawn != nil {
			return errors.Join(err, drawn)
		}
		return w.chat.Explain(ctx, t.To, w.chat.In(t.To).Failure(r, err))
	}}
	if what == nowOption {
		a.Text = w.chat.In(t.To).Say(i18n.Interrupting, i18n.Args{"Name": r.Name})
	}
	return a, nil
}

// do carries out what a person has decided about a prompt.
func (w *Waiting) do(ctx context.Context, t chat.Tap, what string, e inbox.Entry, r views.Session) error {
	switch what {
	case askOption:
		return w.showAsked(ctx, e.Session)
	case nowOption:
		told, err := w.order.SendNow(ctx, e.Session, e.Key)
		if refusal.Is(err, refusal.Asks) {
			return w.showAsked(ctx, e.Session)
		}
		if err != nil || told {
			return err
		}
		return w.chat.Tell(ctx, t, w.chat.In(t.To).Text(i18n.TurnInterrupted, i18n.Args{"Name": r.Name}))
	case nextOption:
		return w.order.ToFront(ctx, e.Session, e.Key)
	case discardOption:
		return w.discard(ctx, e)
	}
	return nil
}

// showAsked shows again what an agent asks, which has to be answered before anything is sent.
func (w *Waiting) showAsked(ctx context.Context, session uuid.UUID) error {
	for _, again := range w.again {
		if shown, err := again(ctx, session); err != nil || shown {
			return err
		}
	}
	return &refusal.Error{Code: refusal.Asks}
}
