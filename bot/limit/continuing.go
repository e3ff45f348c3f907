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
	// Add puts a prompt into the inbox, durably.
	Add(e inbox.Entry) (fresh bool, err error)
	Load(key string) (inbox.Entry, error)
	Finish(key string) error
}

// continuing offers sessions to go on.
type continuing struct {
	chat    *chat.Chat
	entries Entries
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
	Until   time.Time `json:"until"`            // the end of the limit
	Prompt  string    `json:"prompt,omitempty"` // its key in the inbox; empty: nobody has asked for it
}

func (p plan) due() time.Time { return p.Until.Add(after) }

func (p plan) name() string { return fmt.Sprintf("%s-%d", p.Session, p.Until.Unix()) }

// New gives the feature. work is what is known of a session's work without asking git.
func New(c *chat.Chat, e Entries, q prompts.Queue, work func(ctx context.Context, id uuid.UUID) views.Work) chat.Feature {
	l := &continuing{chat: c, entries: e, queue: q, work: work, cards: chat.NewCards[plan](c, continuingKind), wake: make(chan struct{}, 1)}
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
			if c.Payload.Prompt == "" {
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
	if p.Prompt != "" {
		said, option, look.Until = i18n.LimitPlanned, w.Option(i18n.ButtonDrop, dropOption, ""), time.Time{}
	}
	look.Text, look.Options = chat.Lines(w.Text(said, at), chat.Quoted(prompt)), [][]card.Option{{option}}
	return look
}

// tap plans the prompt, or takes it back. Until its time the prompt is in a state in which nothing types it.
func (l *continuing) tap(ctx context.Context, t chat.Tap, was plan) (chat.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, open := l.cards.Get(t.Card.Key)
	r, known := l.chat.Book.Records.Get(was.Session)
	p := c.Payload
	if !open || !known || p.Prompt != was.Prompt || p.Prompt == "" && !p.due().After(l.chat.Now()) {
		return l.cards.Over(ctx, t)
	}
	defer l.look()
	if t.Card.Option == planOption {
		typed, class, _ := prompts.Normalise(prompt)
		p.Prompt = inbox.PromptKey(uuid.New())
		_, err := l.entries.Add(inbox.Entry{Key: p.Prompt, State: inbox.Asked, Session: r.ID, Conversation: r.Conversation, Text: typed, Class: string(class)})
		if err != nil {
			return chat.Answer{}, err
		}
		l.chat.At("continue-held")
		return chat.Answer{}, l.cards.Redraw(ctx, t.Card.Key, l.card(r, c.Look.To, p), p)
	}
	p.Prompt = ""
	if err := l.cards.Redraw(ctx, t.Card.Key, l.card(r, c.Look.To, p), p); err != nil {
		return chat.Answer{}, err
	}
	return chat.Answer{}, l.entries.Finish(was.Prompt)
}

// carryOut sends the prompt of a plan whose time has come, or says why nothing is sent. It is called again after a
// kill: where the prompt is in a queue, or was in one, it does not come again.
func (l *continuing) carryOut(ctx context.Context, key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, open := l.cards.Get(key)
	p := c.Payload
	if !open || p.Prompt == "" {
		return nil // somebody has just taken it back
	}
	r, _ := l.chat.Book.Records.Get(p.Session)
	e, err := l.entries.Load(p.Prompt)
	waits, why := err == nil && e.State == inbox.Asked, i18n.Key("")
	if err != nil && !chat.IsGone(err) {
		return err
	}
	if waits {
		why = objection(r, l.work(ctx, r.ID), p)
	}
	if waits && why == "" {
		switch err := l.queue.Queue(ctx, r.ID, p.Prompt); {
		case refusal.Is(err, refusal.NoAgent, refusal.WrongState): // it has ended since the look
			why = i18n.LimitOver
		case err != nil:
			return err
		}
	}
	w := l.chat.In(c.Look.To)
	if why == "" {
		return l.cards.Close(ctx, key, chat.Lines(w.Text(i18n.Continues, i18n.Args{"Name": r.Name}), chat.Quoted(prompt)))
	}
	if err := l.cards.Close(ctx, key, w.Text(why, i18n.Args{"Name": r.Name})); err != nil {
		return err
	}
	return l.entries.Finish(p.Prompt)
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
