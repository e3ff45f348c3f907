package limit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/machine"
	"ccbot/bot/offer"
	"ccbot/bot/outbox"
	"ccbot/bot/planned"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/sysfault"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

const (
	continuingKind = "limit"
	planOption     = "plan"
	dropOption     = "drop"

	// nap is the longest sleep while a prompt is planned: timers stop while the machine sleeps, the
	// clock does not.
	nap = time.Minute
	// faultInterval is the pause after a fault of the machine.
	faultInterval = 5 * time.Second
)

// Entries is the inbox.
type Entries interface {
	// Add stores a prompt in the inbox, durably.
	Add(e inbox.Entry) (fresh bool, err error)
	Load(key string) (inbox.Entry, error)
	Finish(key string) error
}

// Continuing offers to continue sessions after their limit.
type Continuing struct {
	chat    *chat.Chat
	entries Entries
	queue   offer.Queue
	work    func(ctx context.Context, id uuid.UUID) (port.Work, error)
	cards   chat.Cards[plan]
	barred  planned.Cards[string] // by the key of a plan's card
	wake    chan struct{}
	planned func() // is called after a prompt was planned, or is no longer
	texts   func(ctx context.Context) (again time.Duration)
	text    string // of the prompt; empty: a sentence in the language of the chat

	reached []plan // limits that no card shows yet; guarded by listing
	listing sync.Mutex
}

// plan is the payload of a card.
type plan struct {
	Session uuid.UUID `json:"session"`
	Until   time.Time `json:"until"`             // the end of the limit
	Prompt  string    `json:"prompt,omitempty"`  // key of the prompt in the inbox; empty if no prompt is planned
	Text    string    `json:"text,omitempty"`    // of the prompt, as the card shows it
	By      int64     `json:"by,omitempty"`      // the person who planned it; 0: the chat's setting
	Barred  bool      `json:"barred,omitempty"`  // its person or place is no longer allowed: it waits
	Refused bool      `json:"refused,omitempty"` // nothing is sent: the card shows why, and the prompt must leave the inbox
}

func (p plan) due() time.Time { return p.Until.Add(talk.ContinuesWithin) }

func (l *Continuing) isDue(p plan) bool { return !p.due().After(l.chat.Now()) }

func (p plan) planned() bool { return p.Prompt != "" && !p.Refused }

// text returns the text of the prompt: it is shown on the card, and typed.
func (p plan) text() string {
	return cmp.Or(p.Text, "The usage limit is over. Continue where you stopped.")
}

func (p plan) name() string { return fmt.Sprintf("%s-%d", p.Session, p.Until.Unix()) }

// New returns the Continuing of a chat. work returns a session's known work without running git.
// text is the prompt that continues a session; if it is empty, the chat's language has one.
// armed is called after a prompt was planned, or is no longer. texts sends what people have written
// during a limit, after the planned prompt, and returns when it has to be called again.
func New(c *chat.Chat, e Entries, q offer.Queue, work func(ctx context.Context, id uuid.UUID) (port.Work, error), text string, armed func(),
	texts func(ctx context.Context) (again time.Duration)) *Continuing {
	l := &Continuing{planned: armed, texts: texts, chat: c, entries: e, queue: q, work: work, text: text, cards: chat.NewCards[plan](c, continuingKind).Asking(), wake: make(chan struct{}, 1)}
	l.barred = planned.Cards[string]{Cards: chat.NewCards[string](c, barredKind), Chat: c, Act: l.actOnBarred, Taken: i18n.LimitTaken, Removed: i18n.Dropped}
	return l
}

// Feature describes the feature to the dispatcher.
func (l *Continuing) Feature() chat.Feature {
	return chat.Feature{Name: "limit", Cards: map[string]chat.OnTap{continuingKind: l.cards.OnTap(l.tap), barredKind: l.barred.OnTap(l.barred.Tap)}, OnItem: l.item, OnNews: l.news, Run: l.run}
}

// Changed has the plans looked at, and the texts that limits hold: a limit may be over, and a person no longer allowed.
func (l *Continuing) Changed() {
	l.planned()
	pause.Poke(l.wake)
}

// news has the texts looked at whose session has ended.
func (l *Continuing) news(_ context.Context, _ port.Session, n news.News) error {
	if news.IsEnd(n) {
		pause.Poke(l.wake)
	}
	return nil
}

// Planned reports whether a prompt is planned for a session, which therefore is not idle.
func (l *Continuing) Planned(session uuid.UUID) bool {
	return slices.ContainsFunc(l.cards.List(), func(c card.Card[plan]) bool {
		return c.Payload.Session == session && c.Payload.planned()
	})
}

// Has reports whether a prompt in the inbox is a planned one.
func (l *Continuing) Has(prompt string) bool {
	return slices.ContainsFunc(l.cards.List(), func(c card.Card[plan]) bool { return c.Payload.Prompt == prompt })
}

// item handles an item of a transcript.
func (l *Continuing) item(session uuid.UUID, item talk.Item) {
	f := item.Failed
	if (item.Kind == talk.Text || item.Kind == talk.TurnEnd) && !item.Sidechain { // an answered turn ends a limit
		pause.Poke(l.wake)
	}
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

// missed adds the limits that an earlier run may not have shown. all reports whether each machine
// has answered.
func (l *Continuing) missed(ctx context.Context) (all bool) {
	known, err := l.chat.Book.Records.List()
	all = err == nil
	pass := machine.NewPass(ctx)
	defer pass.End()
	for _, r := range known {
		if !r.State.Live() {
			continue
		}
		work, err := l.work(pass.On(r.Machine), r.ID)
		all = all && !refusal.Is(err, refusal.Unreachable)
		if f := work.Failed; err == nil && f.Phase == talk.PhaseLimited && f.Until.After(l.chat.Now()) {
			l.reach(plan{Session: r.ID, Until: f.Until})
		}
	}
	return all
}

func (l *Continuing) run(ctx context.Context) error {
	known := false
	for ctx.Err() == nil {
		wait := pause.Forever
		if known = known || l.missed(ctx); !known {
			wait = nap
		}
		if err := l.offer(ctx); err != nil {
			l.chat.Log.Warn("limit_not_offered", logkey.Error, err)
			wait = nap
		}
		if err := l.tellPlanners(ctx); err != nil {
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
		pause.Until(ctx, min(wait, l.texts(ctx)), l.wake)
	}
	return nil
}

// offer shows a card for each new limit. It keeps a limit whose card fails for the next call.
func (l *Continuing) offer(ctx context.Context) (all error) {
	l.listing.Lock()
	reached := l.reached
	l.reached = nil
	l.listing.Unlock()
	for _, p := range reached {
		r, known := l.chat.Book.Records.Get(p.Session)
		if _, shown := l.cards.Get(p.name()); known && !shown && r.State.Live() && r.Loop == nil { // a loop waits by itself
			p.Text = cmp.Or(l.text, l.chat.In(r.Conversation).Say(i18n.PromptAfterLimit))
			if l.atLimit(r) == conversation.Continue {
				p.Prompt = talk.PromptKey(uuid.New())
			}
			err := l.cards.Show(ctx, p.name(), l.card(r, r.Conversation, p), p)
			if err != nil {
				l.reach(p)
			}
			all = errors.Join(all, err)
			l.planned()
		}
	}
	return all
}

// atLimit returns the setting that a session was started with.
func (l *Continuing) atLimit(r port.Session) string {
	return l.chat.Book.Limits(r).AtLimit
}

// card returns the card.Content of a plan. A card without a plan and without an offer also expires.
func (l *Continuing) card(r port.Session, to outbox.Conversation, p plan) card.Content {
	w := l.chat.In(to)
	at := i18n.Args{"Name": r.Name, "At": w.At(p.due())}
	content := card.Content{To: to, Session: r.ID, Until: p.due()} // the offer expires
	said := w.Text(i18n.LimitOffer, i18n.Args{"Name": r.Name, "Until": w.Until(p.Until)})
	option := card.Option{Text: w.Say(i18n.ButtonContinueAt, at), Value: planOption}
	switch {
	case p.Prompt != "":
		said, option, content.Until = w.Text(i18n.LimitPlanned, at), w.Option(i18n.ButtonDrop, dropOption, ""), time.Time{}
	case l.atLimit(r) == conversation.Stop:
		content.Text = w.Text(i18n.LimitStop, i18n.Args{"Name": r.Name, "Until": w.Until(p.Until)})
		return content
	}
	content.Text, content.Options = chat.Lines(said, chat.Quoted(p.text())), [][]card.Option{{option}}
	return content
}

// tap plans the prompt, or cancels it. Until it is due the prompt is only in the card.
func (l *Continuing) tap(ctx context.Context, t chat.Tap, was plan) (chat.Answer, error) {
	defer l.cards.Hold()()
	c, open := l.cards.Get(t.Card.Key)
	r, known := l.chat.Book.Records.Get(was.Session)
	p := c.Payload
	switch {
	case open && p.planned() && l.isDue(p) && !p.Barred: // it is being sent
		return chat.Answer{Text: l.chat.In(t.To).Say(i18n.StaleButton)}, nil
	case !open || !known || p.Prompt != was.Prompt || l.isDue(p):
		return l.cards.AnswerExpired(ctx, t)
	}
	defer l.planned()
	defer pause.Poke(l.wake)
	p.Prompt, p.By, p.Barred = "", t.From, false
	if t.Card.Option == planOption {
		p.Prompt = talk.PromptKey(uuid.New())
	}
	return chat.Answer{}, l.cards.Redraw(ctx, t.Card.Key, l.card(r, c.Content.To, p), p)
}

// carryOut sends the prompt of a due plan, or shows why nothing is sent. It is called again after a
// kill: a prompt that a queue has, or had, is not queued again.
func (l *Continuing) carryOut(ctx context.Context, key string) error {
	defer l.planned()
	defer l.cards.Hold()()
	c, open := l.cards.Get(key)
	p := c.Payload
	if !open || p.Prompt == "" || p.Barred {
		return nil // a person has just canceled it, or is asked about it
	}
	if !p.Refused {
		r, _ := l.chat.Book.Records.Get(p.Session)
		w := l.chat.In(c.Content.To)
		why, err := l.send(ctx, w, r, p)
		if err != nil {
			return err
		}
		if why.Blank() {
			return l.cards.Close(ctx, key, chat.Lines(w.Text(i18n.Continues, i18n.Args{"Name": r.Name}), chat.Quoted(p.text())))
		}
		p.Refused = true
		c.Content.Text, c.Content.Options = why, nil
		if err := l.cards.Show(ctx, key, c.Content, p); err != nil {
			return err
		}
	}
	if err := l.entries.Finish(p.Prompt); err != nil {
		return err
	}
	return l.cards.Close(ctx, key, c.Content.Text)
}

// send puts the prompt into the inbox and the session's queue, unless it was there before. why is
// the reason if nothing is sent. The entry's state keeps other code from typing it.
func (l *Continuing) send(ctx context.Context, w chat.Phrases, r port.Session, p plan) (why render.Text, err error) {
	typed, class, _ := talk.Normalise(p.text())
	if _, err := l.entries.Add(inbox.Entry{Key: p.Prompt, State: inbox.Asked, Session: p.Session, Conversation: r.Conversation, By: p.By,
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
	if !l.chat.Book.MayAct(p.By, r.Conversation) {
		return w.Text(i18n.LimitNotSent, i18n.Args{"Name": r.Name, "Reason": w.Say(i18n.PersonLeft)}), nil
	}
	work, err := l.work(ctx, r.ID)
	if r.State == port.StateUnknown {
		err = refusal.ErrUnreachable
	}
	if err != nil {
		return why, err
	}
	if why = objection(w, r, work, p); !why.Blank() {
		return why, nil
	}
	err = l.queue.Queue(ctx, r.ID, p.Prompt)
	if refusal.Is(err, refusal.NoAgent, refusal.WrongState) { // the session has ended since the check
		return w.Text(i18n.LimitOver, i18n.Args{"Name": r.Name}), nil
	}
	return why, err
}

// objection returns why nothing is sent. It is blank if nothing has happened since the limit.
func objection(w chat.Phrases, r port.Session, work port.Work, p plan) render.Text {
	not := func(why string) render.Text {
		return w.Text(i18n.LimitNotSent, i18n.Args{"Name": r.Name, "Reason": why})
	}
	switch failed := work.Failed; {
	case !r.State.Live():
		return w.Text(i18n.LimitOver, i18n.Args{"Name": r.Name})
	case r.State != port.StateRunning:
		return not(w.StateText(r))
	case r.Loop != nil:
		return not(w.Say(i18n.LimitLoop))
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
