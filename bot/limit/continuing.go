package limit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/sysfault"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
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
	// faultInterval is the pause after a fault of the machine.
	faultInterval = 5 * time.Second
)

// Entries are the inbox.
type Entries interface {
	// Add puts a prompt into the inbox, durably.
	Add(e inbox.Entry) (fresh bool, err error)
	Load(key string) (inbox.Entry, error)
	Finish(key string) error
}

// Continuing offers sessions to go on.
type Continuing struct {
	chat    *chat.Chat
	entries Entries
	queue   talk.PromptQueue
	work    func(ctx context.Context, id uuid.UUID) port.Work
	cards   chat.Cards[plan]
	wake    chan struct{}

	reached []plan // limits that nobody was told of yet; guarded by listing
	listing sync.Mutex
}

// plan is what a card offers, or has been told.
type plan struct {
	Session uuid.UUID `json:"session"`
	Until   time.Time `json:"until"`             // the end of the limit
	Prompt  string    `json:"prompt,omitempty"`  // its key in the inbox, where it is when its time comes; empty: nobody has asked for it
	Refused bool      `json:"refused,omitempty"` // nothing is sent: the card says why, and the inbox is to forget the prompt
}

func (p plan) due() time.Time { return p.Until.Add(after) }

func (p plan) planned() bool { return p.Prompt != "" && !p.Refused }

func (p plan) name() string { return fmt.Sprintf("%s-%d", p.Session, p.Until.Unix()) }

// New gives the offers of a chat. work is what is known of a session's work without asking git.
func New(c *chat.Chat, e Entries, q talk.PromptQueue, work func(ctx context.Context, id uuid.UUID) port.Work) *Continuing {
	return &Continuing{chat: c, entries: e, queue: q, work: work, cards: chat.NewCards[plan](c, continuingKind).Asking(), wake: make(chan struct{}, 1)}
}

// Feature is what the roof knows of the offers.
func (l *Continuing) Feature() chat.Feature {
	return chat.Feature{Name: "limit", Cards: map[string]chat.OnTap{continuingKind: l.cards.OnTap(l.tap)}, Item: l.item, Run: l.run}
}

// Planned reports whether a session is to be sent the prompt later: until then it is not idle.
func (l *Continuing) Planned(session uuid.UUID) bool {
	return slices.ContainsFunc(l.cards.List(), func(c card.Card[plan]) bool {
		return c.Payload.Session == session && c.Payload.planned()
	})
}

// Has reports whether a prompt of the inbox is one that a session is to be sent later.
func (l *Continuing) Has(prompt string) bool {
	return slices.ContainsFunc(l.cards.List(), func(c card.Card[plan]) bool { return c.Payload.Prompt == prompt })
}

// item hears what a transcript has.
func (l *Continuing) item(session uuid.UUID, item talk.Item) {
	f := item.Failed
	if item.Sidechain || item.Meta || f.Phase != talk.PhaseLimited || !f.Until.After(l.chat.Now()) {
		return
	}
	l.reach(plan{Session: session, Until: f.Until})
	pause.Poke(l.wake)
}

func (l *Continuing) reach(p ...plan) {
	l.listing.Lock()
	defer l.listing.Unlock()
	l.reached = append(l.reached, p...)
}

// missed lists the limits that an earlier run has heard of and may not have told.
func (l *Continuing) missed(ctx context.Context) {
	for _, r := range l.chat.Book.Records.List() {
		if !r.Live {
			continue
		}
		if f := l.work(ctx, r.ID).Failed; f.Phase == talk.PhaseLimited && f.Until.After(l.chat.Now()) {
			l.reach(plan{Session: r.ID, Until: f.Until})
		}
	}
}

func (l *Continuing) run(ctx context.Context) error {
	l.missed(ctx)
	for ctx.Err() == nil {
		wait := pause.Forever
		if err := l.offer(ctx); err != nil {
			l.chat.Log.Warn("limit_not_offered", logkey.Error, err)
			wait = nap
		}
		for _, c := range l.cards.List() {
			if c.Payload.Prompt == "" {
				continue
			}
			wait = min(wait, nap)
			if left := c.Payload.due().Sub(l.chat.Now()); left > 0 {
				wait = min(wait, left)
			} else if err := l.carryOut(ctx, c.Key); err != nil {
				l.chat.Log.Warn("limit_not_continued", logkey.SessionID, c.Payload.Session.String(), logkey.Error, err)
				if sysfault.Of(err) != "" {
					wait = min(wait, faultInterval)
				}
			}
		}
		pause.Until(ctx, wait, l.wake)
	}
	return nil
}

// offer shows a card for each limit that was reached. One that cannot be shown is shown later.
func (l *Continuing) offer(ctx context.Context) (all error) {
	l.listing.Lock()
	reached := l.reached
	l.reached = nil
	l.listing.Unlock()
	for _, p := range reached {
		r, known := l.chat.Book.Records.Get(p.Session)
		if _, shown := l.cards.Get(p.name()); known && !shown && r.Live {
			if err := l.cards.Show(ctx, p.name(), l.card(r, r.Conversation, p), p); err != nil {
				l.reach(p)
				all = errors.Join(all, err)
			}
		}
	}
	return all
}

// card is what a plan looks like.
func (l *Continuing) card(r port.Session, to outbox.Conversation, p plan) card.Look {
	w := l.chat.In(to)
	at := i18n.Args{"Name": r.Name, "Time": w.Moment(p.due())}
	look := card.Look{To: to, Session: r.ID, Until: p.due()} // nobody wants it any more then
	said := w.Text(i18n.LimitOffer, i18n.Args{"Name": r.Name, "Time": w.Moment(p.Until)})
	option := card.Option{Text: w.Say(i18n.ButtonContinueAt, at), Value: planOption}
	if p.Prompt != "" {
		said, option, look.Until = w.Text(i18n.LimitPlanned, at), w.Option(i18n.ButtonDrop, dropOption, ""), time.Time{}
	}
	look.Text, look.Options = chat.Lines(said, chat.Quoted(prompt)), [][]card.Option{{option}}
	return look
}

// tap plans the prompt, or takes it back. Until its time the prompt is only in the card.
func (l *Continuing) tap(ctx context.Context, t chat.Tap, was plan) (chat.Answer, error) {
	defer l.cards.Hold()()
	c, open := l.cards.Get(t.Card.Key)
	r, known := l.chat.Book.Records.Get(was.Session)
	p := c.Payload
	switch {
	case open && p.planned() && !p.due().After(l.chat.Now()): // it is being sent
		return chat.Answer{Text: l.chat.In(t.To).Say(i18n.StaleButton)}, nil
	case !open || !known || p.Prompt != was.Prompt || !p.due().After(l.chat.Now()):
		return l.cards.Over(ctx, t)
	}
	defer pause.Poke(l.wake)
	p.Prompt = ""
	if t.Card.Option == planOption {
		p.Prompt = inbox.PromptKey(uuid.New())
	}
	return chat.Answer{}, l.cards.Redraw(ctx, t.Card.Key, l.card(r, c.Look.To, p), p)
}

// carryOut sends the prompt of a plan whose time has come, or says why nothing is sent. It is called again after a
// kill: where the prompt is in a queue, or was in one, it does not come again.
func (l *Continuing) carryOut(ctx context.Context, key string) error {
	defer l.cards.Hold()()
	c, open := l.cards.Get(key)
	p := c.Payload
	if !open || p.Prompt == "" {
		return nil // somebody has just taken it back
	}
	if !p.Refused {
		r, _ := l.chat.Book.Records.Get(p.Session)
		w := l.chat.In(c.Look.To)
		why, err := l.send(ctx, w, r, p)
		if err != nil {
			return err
		}
		if why.Blank() {
			return l.cards.Close(ctx, key, chat.Lines(w.Text(i18n.Continues, i18n.Args{"Name": r.Name}), chat.Quoted(prompt)))
		}
		p.Refused = true
		c.Look.Text, c.Look.Options = why, nil
		if err := l.cards.Show(ctx, key, c.Look, p); err != nil {
			return err
		}
	}
	if err := l.entries.Finish(p.Prompt); err != nil {
		return err
	}
	return l.cards.Close(ctx, key, c.Look.Text)
}

// send puts the prompt into the inbox and into the session's queue, unless it was there before; why says that nothing
// is sent. The inbox keeps it in a state in which nothing else types it.
func (l *Continuing) send(ctx context.Context, w chat.Phrases, r port.Session, p plan) (why render.Text, err error) {
	typed, class, _ := talk.Normalise(prompt)
	if _, err := l.entries.Add(inbox.Entry{Key: p.Prompt, State: inbox.Asked, Session: p.Session, Conversation: r.Conversation,
		Text: typed, Class: class}); err != nil {
		return why, err
	}
	l.chat.At("continue-held")
	e, err := l.entries.Load(p.Prompt)
	switch {
	case err != nil && !chat.IsGone(err):
		return why, err
	case err != nil || e.State != inbox.Asked:
		return why, nil
	}
	if why = objection(w, r, l.work(ctx, r.ID), p); !why.Blank() {
		return why, nil
	}
	err = l.queue.Queue(ctx, r.ID, p.Prompt)
	if refusal.Is(err, refusal.NoAgent, refusal.WrongState) { // it has ended since the look
		return w.Text(i18n.LimitOver, i18n.Args{"Name": r.Name}), nil
	}
	return why, err
}

// objection says why nothing is sent; blank: nothing has happened since the limit.
func objection(w chat.Phrases, r port.Session, work port.Work, p plan) render.Text {
	not := func(why string) render.Text {
		return w.Text(i18n.LimitNotSent, i18n.Args{"Name": r.Name, "Reason": why})
	}
	switch failed := work.Failed; {
	case !r.Live:
		return w.Text(i18n.LimitOver, i18n.Args{"Name": r.Name})
	case r.State != port.StateRunning:
		return not(w.StateText(r))
	case len(r.Prompts) > 0:
		return not(w.Say(i18n.SparedPrompts))
	case r.Now.Phase != talk.PhaseIdle && r.Now.Phase != talk.PhaseLimited:
		return not(w.NowText(r.Now))
	case failed.Phase == talk.PhaseUnknown, failed.Phase == talk.PhaseLimited && !failed.Until.Equal(p.Until):
		return not(w.NowText(failed))
	case failed.Phase != talk.PhaseLimited:
		return w.Text(i18n.LimitMovedOn, i18n.Args{"Name": r.Name})
	}
	return render.Text{}
}
