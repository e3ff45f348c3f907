package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/phase"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

const (
	continuingKind = "limit"
	planOption     = "plan"
	dropOption     = "drop"

	// prompt is what the agent is sent.
	prompt = "The usage limit is over. Continue where you stopped."
	// after is how long after the end of a limit the prompt comes: until then Claude Code may go on by itself.
	after = 3 * time.Minute
	// nap is how often the clock is looked at while a prompt has its time: a machine that slept stops timers, not the clock.
	nap = time.Minute
)

// Entries are the inbox.
type Entries interface {
	Load(key string) (inbox.Entry, error)
	Finish(key string) error
	Finished(key string) bool
}

// continuing offers sessions to go on.
type continuing struct {
	chat    *chat.Chat
	entries Entries
	add     func(e inbox.Entry) (fresh bool, err error)
	queue   prompts.Queue
	work    func(ctx context.Context, id uuid.UUID) views.Work
	cards   chat.Cards[plan]
	wake    chan struct{}

	mu      sync.Mutex // held from the look at a card to its change
	reached []plan     // limits that nobody was told of yet; guarded by listing
	listing sync.Mutex
}

// plan is what a card offers, or has been told.
type plan struct {
	Session uuid.UUID `json:"session"`
	Until   time.Time `json:"until"` // the end of the limit
	Planned bool      `json:"planned,omitempty"`
}

func (p plan) due() time.Time { return p.Until.Add(after) }

func (p plan) name() string { return fmt.Sprintf("%s-%d", p.Session, p.Until.Unix()) }

// entry is the key of the one prompt that ever comes of the plan.
func (p plan) entry() string { return inbox.PromptKey(uuid.NewSHA1(p.Session, []byte(p.name()))) }

// Continuing gives the feature that has sessions go on. add puts a prompt into the inbox, durably, unless its key was
// ever there; work is what is known of a session's work without asking git.
func Continuing(c *chat.Chat, e Entries, add func(e inbox.Entry) (fresh bool, err error), q prompts.Queue, work func(ctx context.Context, id uuid.UUID) views.Work) chat.Feature {
	l := &continuing{chat: c, entries: e, add: add, queue: q, work: work, cards: chat.NewCards[plan](c, continuingKind), wake: make(chan struct{}, 1)}
	return chat.Feature{Name: "limit", Cards: map[string]chat.OnTap{continuingKind: l.cards.OnTap(l.tap)}, Item: l.item, Run: l.run}
}

// item hears what a transcript has.
func (l *continuing) item(session uuid.UUID, item talk.Item) {
	f := item.Failed
	if item.Sidechain || item.Meta || f.Phase != phase.Limited || !f.Until.After(l.chat.Now()) {
		return
	}
	l.listing.Lock()
	l.reached = append(l.reached, plan{Session: session, Until: f.Until})
	l.listing.Unlock()
	l.look()
}

// look has run look at once.
func (l *continuing) look() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *continuing) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := l.offer(ctx); err != nil {
			l.chat.Log.Warn("limit_not_offered", logkey.Error, err.Error())
		}
		wait := pause.Forever
		for _, c := range l.cards.List() {
			if !c.Payload.Planned {
				continue
			}
			wait = nap
			if left := c.Payload.due().Sub(l.chat.Now()); left > 0 {
				wait = min(wait, left)
			} else if err := l.carryOut(ctx, c.Key); err != nil {
				l.chat.Log.Warn("limit_not_continued", logkey.SessionID, c.Payload.Session.String(), logkey.Error, err.Error())
			}
		}
		pause.Until(ctx, wait, l.wake)
	}
	return nil
}

// offer shows a card for each limit that was reached.
func (l *continuing) offer(ctx context.Context) (all error) {
	l.listing.Lock()
	reached := l.reached
	l.reached = nil
	l.listing.Unlock()
	for _, p := range reached {
		r, known := l.chat.Book.Records.Get(p.Session)
		if _, shown := l.cards.Get(p.name()); known && !shown && r.Live {
			all = errors.Join(all, l.cards.Show(ctx, p.name(), l.card(r, r.Conversation, p), p))
		}
	}
	return all
}

// card is what a plan looks like.
func (l *continuing) card(r views.Session, to outbox.Conversation, p plan) card.Look {
	w := l.chat.In(to)
	at := i18n.Args{"Name": r.Name, "Time": w.Moment(p.due())}
	look := card.Look{To: to, Session: r.ID, Until: p.due()} // nobody wants it any more then
	said, option := i18n.LimitOffer, card.Option{Text: w.Say(i18n.ButtonContinueAt, at), Value: planOption}
	if p.Planned {
		said, option, look.Until = i18n.LimitPlanned, w.Option(i18n.ButtonDrop, dropOption, ""), time.Time{}
	}
	look.Text, look.Options = chat.Lines(w.Text(said, at), chat.Quoted(prompt)), [][]card.Option{{option}}
	return look
}

// tap plans the prompt, or takes it back.
func (l *continuing) tap(ctx context.Context, t chat.Tap, was plan) (chat.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, open := l.cards.Get(t.Card.Key)
	r, known := l.chat.Book.Records.Get(was.Session)
	if !open || !known || !was.Planned && !was.due().After(l.chat.Now()) {
		return l.cards.Over(ctx, t)
	}
	p := c.Payload
	p.Planned = t.Card.Option == planOption
	defer l.look()
	return chat.Answer{}, l.cards.Redraw(ctx, t.Card.Key, l.card(r, c.Look.To, p), p)
}

// carryOut sends the prompt of a plan whose time has come, or says why nothing is sent. Whatever is
// killed in between, it is called again, and the entry's key keeps the prompt from coming twice.
func (l *continuing) carryOut(ctx context.Context, key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, open := l.cards.Get(key)
	if !open || !c.Payload.Planned {
		return nil // somebody has just taken it back
	}
	p := c.Payload
	r, _ := l.chat.Book.Records.Get(p.Session)
	given, err := l.given(p.entry())
	if err != nil {
		return err
	}
	why := i18n.Key("")
	if !given {
		why = objection(r, l.work(ctx, r.ID), p)
	}
	if !given && why == "" {
		why, err = l.give(ctx, r, p)
	}
	w := l.chat.In(c.Look.To)
	switch {
	case err != nil:
		return err
	case why == "":
		return l.cards.Close(ctx, key, chat.Lines(w.Text(i18n.Continues, i18n.Args{"Name": r.Name}), chat.Quoted(prompt)))
	}
	err = l.cards.Close(ctx, key, w.Text(why, i18n.Args{"Name": r.Name}))
	if _, kept := l.entries.Load(p.entry()); err == nil && kept == nil {
		err = l.entries.Finish(p.entry())
	}
	return err
}

// given reports whether a prompt has left this package: it is in a queue, or was.
func (l *continuing) given(key string) (bool, error) {
	e, err := l.entries.Load(key)
	if chat.IsGone(err) {
		return l.entries.Finished(key), nil
	}
	return e.State != inbox.Asked, err
}

// give puts the prompt of a plan into the session's queue; why is why not. Until then its state keeps a
// start from typing it.
func (l *continuing) give(ctx context.Context, r views.Session, p plan) (why i18n.Key, err error) {
	typed, class, _ := prompts.Normalise(prompt)
	e := inbox.Entry{Key: p.entry(), State: inbox.Asked, Session: r.ID, Conversation: r.Conversation, Text: typed, Class: string(class)}
	if _, err := l.add(e); err != nil {
		return "", err
	}
	l.chat.At("continue-held")
	err = l.queue.Queue(ctx, r.ID, e.Key)
	if refusal.Is(err, refusal.NoAgent, refusal.WrongState) { // it has ended since the look
		return i18n.LimitOver, nil
	}
	return "", err
}

// objection is why nothing is sent; empty: nothing has happened since the limit.
func objection(r views.Session, w views.Work, p plan) i18n.Key {
	switch {
	case !r.Live:
		return i18n.LimitOver
	case len(r.Prompts) > 0, r.State != views.Running, r.Now.Phase != phase.Idle && r.Now.Phase != phase.Limited,
		w.Failed.Phase != phase.Limited, !w.Failed.Until.Equal(p.Until):
		return i18n.LimitMovedOn
	}
	return ""
}
