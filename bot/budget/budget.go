package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

const (
	name        = "budget" // of the feature and of the kind of its cards
	raiseOption = "raise"
	stopOption  = "stop"

	// step is the amount that a tap adds to a cap, in dollars.
	step = 5
	// interval is the longest time between two comparisons while there is a cap.
	interval = time.Minute
	// gap is the shortest time between two comparisons: each one reads all transcripts.
	gap = 2 * time.Second
	// timeout bounds the reading of the costs: until they are known, prompts wait.
	timeout = 5 * time.Second
)

// Agents stops the work of sessions.
type Agents interface {
	talk.TurnEnder
	// Halt takes the waiting prompts out of the queue, and asks about each.
	Halt(ctx context.Context, id uuid.UUID) error
	// SetBudget is a method of port.Keeper.
	SetBudget(ctx context.Context, id uuid.UUID, b port.Budget) error
}

// Budget compares what sessions cost with their caps.
type Budget struct {
	chat     *chat.Chat
	agents   Agents
	spending talk.Spending
	cards    chat.Cards[notice]
	wake     chan struct{}
	ready    chan struct{} // a session may take its next prompt, which waits for a comparison
}

// notice is the payload of a card. A card stays open as long as its account, and proves that the
// chat has the notice.
type notice struct {
	Session uuid.UUID `json:"session,omitzero"` // of the account of a session
	Account string    `json:"account"`
	Chat    int64     `json:"chat,omitempty"`  // whose day it is
	Had     float64   `json:"had,omitempty"`   // to the cap by people, when the card was made
	Added   float64   `json:"added,omitempty"` // to the cap by people, after a tap on this card
}

// New returns the Budget of a chat.
func New(c *chat.Chat, a Agents, s talk.Spending) *Budget {
	return &Budget{chat: c, agents: a, spending: s, cards: chat.NewCards[notice](c, name), wake: make(chan struct{}, 1), ready: make(chan struct{}, 1)}
}

// Feature describes the feature to the dispatcher.
func (b *Budget) Feature() chat.Feature {
	return chat.Feature{Name: name, Cards: map[string]chat.OnTap{name: b.cards.OnTap(b.tap)}, Run: b.run,
		OnItem: func(uuid.UUID, talk.Item) { pause.Poke(b.wake) },
		OnNews: func(_ context.Context, _ port.Session, n news.News) error {
			switch n.(type) {
			case news.Ready, news.Doing, news.Held, news.Start:
				b.Wake()
			}
			return nil
		}}
}

// Wake compares soon.
func (b *Budget) Wake() {
	pause.Poke(b.ready)
	pause.Poke(b.wake)
}

// capped reports whether a session has a cap.
func (b *Budget) capped(r port.Session) bool {
	return b.chat.Book.Limits(r).Budget(b.chat.Book.DayBudget) != port.BudgetNone
}

func (b *Budget) accounts(c costs, r port.Session) []account {
	days := func(id uuid.UUID) []int64 {
		r, _ := b.chat.Book.Records.Get(id)
		return b.chat.Book.Days(r)
	}
	dayCap := func(chat int64) float64 { return b.chat.Book.Settings(chat).DayBudget }
	return c.accounts(r, b.chat.Book.Limits(r).SessionBudget, b.chat.Book.DayBudget, b.chat.Now(), days, dayCap, b.added)
}

// added returns what people have added to the cap of an account.
func (b *Budget) added(id string) (sum float64) {
	for _, c := range b.cards.List() {
		if c.Payload.Account == id {
			sum = max(sum, c.Payload.Added)
		}
	}
	return sum
}

func (b *Budget) run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := pause.Forever
		var capped []port.Session
		known, err := b.chat.Book.Records.List()
		if err != nil { // there may be others
			wait = interval
		}
		pass := machine.NewPass(ctx)
		for _, r := range known {
			switch {
			case !r.State.Live():
			case !b.capped(r):
				b.tell(pass, r, port.BudgetNone)
			case r.Budget.State == port.BudgetNone: // its machine may not know of a cap
				b.tell(pass, r, port.BudgetUnknown)
				fallthrough
			default:
				capped = append(capped, r)
			}
		}
		if len(capped) > 0 {
			wait = interval
			complete, err := b.compare(ctx, pass, capped)
			if err != nil && ctx.Err() == nil {
				b.chat.Log.Warn("budget_failed", logkey.Error, err)
			}
			if !complete {
				wait = timeout // the rest may be read by then
			}
			pause.Until(ctx, gap, b.ready)
		}
		pass.End()
		pause.Until(ctx, wait, b.wake)
	}
	return nil
}

// tell tells a machine whether the budgets of a session have something left. A machine that has
// another turn of the session reports that by news, and is told again.
func (b *Budget) tell(pass *machine.Pass, r port.Session, state port.BudgetState) {
	if r.Budget.State == state || state == port.BudgetLeft && r.Now.Works() {
		return
	}
	err := b.agents.SetBudget(pass.On(r.Machine), r.ID, port.Budget{State: state, Turn: r.Budget.Turn})
	if err != nil && !refusal.Is(err, refusal.Changed, refusal.NotFound, refusal.OldMachine, refusal.Unreachable) {
		b.chat.Log.Warn("budget_not_told", logkey.SessionID, r.ID.String(), logkey.Error, err)
	}
}

// compare tells the machines of sessions which have something left, shows their notices, and
// interrupts those that have reached a cap. complete reports whether all costs are known.
func (b *Budget) compare(ctx context.Context, pass *machine.Pass, capped []port.Session) (complete bool, all error) {
	rep, err := b.spending.Spent(ctx, timeout)
	if err != nil {
		return false, err
	}
	c := costsOf(rep)
	for _, r := range capped {
		reached := false
		for _, a := range b.accounts(c, r) {
			if a.level() > 0 {
				all = errors.Join(all, b.show(ctx, r, a))
			}
			reached = reached || a.level() == 100
		}
		switch {
		case reached:
			b.tell(pass, r, port.BudgetSpent)
		case rep.Incomplete:
			b.tell(pass, r, port.BudgetUnknown)
		default:
			b.tell(pass, r, port.BudgetLeft)
		}
		if reached && r.Now.Phase == talk.PhaseWorking {
			err := b.agents.EndTurn(pass.On(r.Machine), r.ID)
			if err != nil && !refusal.Is(err, refusal.Asks, refusal.Idle, refusal.NoAgent, refusal.WrongState) { // a dialog is not answered by Esc
				all = errors.Join(all, err)
			}
		}
	}
	return !rep.Incomplete, all
}

// used has the words about the use of an account.
func used(w chat.Phrases, r port.Session, a account) i18n.Args {
	what := i18n.BudgetKey.Of(string(a.Scope))
	if a.Scope == ofChat && a.Chat != r.Conversation.ChatID {
		what = i18n.BudgetElsewhere
	}
	return i18n.Args{"What": w.Say(what, i18n.Args{"Name": r.Name}), "Cost": w.Dollars(a.Cost, 2), "Cap": w.Dollars(a.Cap, 2)}
}

// Lines returns what the live sessions of a chat have used of each budget, one a line, those of the
// day first.
func (b *Budget) Lines(to outbox.Conversation, rep talk.Report) (lines []string) {
	w, c := b.chat.In(to), costsOf(rep)
	var sessions []string
	for _, r := range b.chat.Book.Known() {
		if !r.State.Live() || r.Conversation.ChatID != to.ChatID {
			continue
		}
		for _, a := range b.accounts(c, r) {
			said := i18n.BudgetNear
			if a.Unpriced {
				said = i18n.BudgetUnknown
			}
			line := w.Say(said, used(w, r, a))
			if a.Scope == ofSession {
				sessions = append(sessions, line)
			} else if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return append(lines, sessions[:min(len(sessions), mostLines)]...)
}

// mostLines limits the lines of sessions.
const mostLines = 5

// show shows the notice of an account in a chat, once for each level of each cap.
func (b *Budget) show(ctx context.Context, r port.Session, a account) error {
	defer b.cards.Hold()()
	had := b.added(a.ID)
	key := fmt.Sprintf("%s-%d-%d-%d-%d", a.ID, r.Conversation.ChatID, a.level(), int(had), int(a.Cap*100))
	if _, shown := b.cards.Get(key); shown {
		return nil
	}
	w := b.chat.In(r.Conversation)
	said := used(w, r, a)
	look := card.Content{To: r.Conversation, Session: r.ID, Sounds: b.chat.Sounds(chat.LimitNear, r), Text: w.Text(i18n.BudgetNear, said)}
	n := notice{Session: r.ID, Account: a.ID, Chat: a.Chat, Had: had}
	if a.Scope != ofSession {
		look.Session, n.Session = uuid.Nil, uuid.Nil
		y, m, d := b.chat.Now().Local().Date()
		look.Until = time.Date(y, m, d+1, 0, 0, 0, 0, time.Local)
	}
	if a.level() == 100 {
		raise := card.Option{Text: w.Say(i18n.ButtonRaise, i18n.Args{"Cost": w.Dollars(step, 0)}), Value: raiseOption, Style: outbox.Primary}
		look.Sounds, look.Text = b.chat.Sounds(chat.LimitUrgent, r), w.Text(i18n.BudgetReached, said)
		look.Options = [][]card.Option{{raise, w.Option(i18n.ButtonStop, stopOption, outbox.Danger)}}
		if a.Unpriced {
			look.Text, look.Options = w.Text(i18n.BudgetUnpriced, said), nil
		}
	}
	if look.Options == nil {
		look.Rank = outbox.Talk
	}
	return b.cards.Show(ctx, key, look, n)
}

// tap raises a cap, or takes the waiting prompts back.
func (b *Budget) tap(ctx context.Context, t chat.Tap, was notice) (chat.Answer, error) {
	if t.Card.Option == stopOption {
		return chat.Do(func(ctx context.Context) error { return b.halt(ctx, t.To.ChatID, was) })
	}
	defer b.cards.Hold()()
	c, open := b.cards.Get(t.Card.Key)
	if !open || b.added(was.Account) != was.Had { // it was raised by another card
		return b.cards.AnswerExpired(ctx, t)
	}
	defer b.Wake()
	n, w := c.Payload, b.chat.In(c.Content.To)
	n.Added = was.Had + step
	look := c.Content
	look.Text, look.Options = chat.Lines(look.Text, w.Text(i18n.BudgetRaised, i18n.Args{"Cost": w.Dollars(step, 0)}), b.chat.By(c.Content.To, t.From)), nil
	return chat.Answer{}, b.cards.Show(ctx, t.Card.Key, look, n) // without buttons, and open: it has what was added
}

// halt takes back the waiting prompts of the sessions that an account is about. The account of the machine is
// halted in one chat.
func (b *Budget) halt(ctx context.Context, chatID int64, n notice) (all error) {
	for _, r := range b.chat.Book.Known() {
		about := r.Conversation.ChatID == chatID
		switch {
		case n.Session != uuid.Nil:
			about = r.ID == n.Session
		case n.Chat != 0:
			about = slices.Contains(b.chat.Book.Days(r), n.Chat)
		}
		if r.State.Live() && about {
			all = errors.Join(all, b.agents.Halt(ctx, r.ID))
		}
	}
	return all
}
