package idle

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Ender ends sessions, or lets a machine do it.
type Ender interface {
	port.Archiver
	// SetIdleAfter is a method of port.Keeper.
	SetIdleAfter(ctx context.Context, id uuid.UUID, after *time.Duration) error
}

// Idle ends the idle sessions together.
type Idle struct {
	chat    *chat.Chat
	ender   Ender
	inspect func(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error)
	plans   func(session uuid.UUID) bool

	cards  chat.Cards[together]
	before []card.Card[together] // confirmed in an earlier run, and unfinished
}

// together is the payload of a card: the sessions of one question, and their results.
type together struct {
	Sessions []one    `json:"sessions"`
	Spared   []spared `json:"spared,omitempty"` // sessions that stay
	More     int      `json:"more,omitempty"`   // idle sessions beyond the limit
	Ending   bool     `json:"ending,omitempty"` // a person has confirmed it
}

// Without implements card.Forgetter.
func (t together) Without(session uuid.UUID) together {
	t.Sessions = slices.Clone(t.Sessions)
	for i := range t.Sessions {
		if t.Sessions[i].ID == session {
			t.Sessions[i].ID = uuid.Nil
		}
	}
	return t
}

// spared is a session that stays, and why.
type spared struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// one holds a session and its result.
type one struct {
	ID     uuid.UUID `json:"id"`
	Active time.Time `json:"active"` // the last activity; later activity is unknown to the person
	Ended  bool      `json:"ended,omitempty"`
	Left   string    `json:"left,omitempty"` // why it was not ended
}

func (o one) waits() bool { return !o.Ended && o.Left == "" }

// waiting returns the index of a session without a result.
func (t together) waiting(id uuid.UUID) int {
	return slices.IndexFunc(t.Sessions, func(o one) bool { return o.ID == id && o.waits() })
}

const (
	kind       = "idle" // of the cards
	endIt      = "end"
	folderRoom = 32 // letters of a folder
	most       = 30 // sessions of one question, and lines of one list: all of it is one message
)

// New returns the Idle of a chat. plans reports whether a prompt is planned for a session.
func New(c *chat.Chat, e Ender, looks func(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error),
	plans func(session uuid.UUID) bool) *Idle {
	i := &Idle{chat: c, ender: e, inspect: looks, plans: plans, cards: chat.NewCards[together](c, kind)}
	i.before = slices.DeleteFunc(i.cards.List(), func(c card.Card[together]) bool { return !c.Payload.Ending })
	return i
}

// Feature describes the feature to the dispatcher.
func (i *Idle) Feature() chat.Feature {
	return chat.Feature{Name: "idle", Cards: map[string]chat.OnTap{kind: i.cards.OnTap(i.confirmed)}, OnNews: i.onNews, Run: i.run}
}

// Spared returns why a session is not ended with the idle ones, or "" if it may be.
func (i *Idle) Spared(p chat.Phrases, r port.Session, l port.Status) string {
	switch at := p.AtWindow(l); {
	case r.State != port.StateRunning:
		return p.StateText(r)
	case !l.Idle:
		return p.NowText(l.Now)
	case r.Shared:
		return p.Say(i18n.SparedWindow)
	case attention.In(i.chat, r, l.Now).Question:
		return p.Say(i18n.ListWaits)
	case i.plans(r.ID):
		return p.Say(i18n.SparedPlanned)
	case len(r.Prompts) > 0:
		return p.Say(i18n.SparedPrompts)
	case len(at) > 0:
		return strings.Join(at, p.Say(i18n.JoinParts))
	case l.Draft:
		return p.Say(i18n.SparedDraft)
	case !l.Quiet:
		return p.Say(i18n.PhaseUnknown)
	}
	return ""
}

// sparedIn is Spared without the words of a session that a place does not see.
func (i *Idle) sparedIn(to outbox.Conversation, p chat.Phrases, r port.Session, l port.Status) string {
	if i.chat.Book.Veils(to, r.Conversation) {
		l.Now = talk.Activity{Phase: l.Now.Phase}
	}
	return i.Spared(p, r, l)
}

// Offer asks the person who tapped whether to end the idle sessions; only this person can confirm.
func (i *Idle) Offer(ctx context.Context, t chat.Tap) error {
	var q together
	p := i.chat.In(t.To)
	live := slices.DeleteFunc(i.chat.Book.Known(), func(r port.Session) bool { return !r.State.Live() })
	looks, err := i.inspect(ctx, each.As(live, func(r port.Session) uuid.UUID { return r.ID })...)
	if err != nil {
		return i.chat.Explain(ctx, t.To, p.Failure(port.Session{}, err))
	}
	for _, r := range live {
		l := looks[r.ID]
		switch why := i.sparedIn(t.To, p, r, l); {
		case why != "":
			q.Spared = append(q.Spared, spared{r.Name, why})
		case len(q.Sessions) < most:
			q.Sessions = append(q.Sessions, one{ID: r.ID, Active: l.Active})
		default:
			q.More++
		}
	}
	if len(q.Sessions) == 0 {
		return i.chat.ReplyToTap(ctx, t, chat.Paragraphs(p.Text(i18n.IdleNone), sparedText(p, q.Spared)))
	}
	content := card.Content{To: t.To, Text: i.text(t.To, p, q), Options: p.Confirm(i18n.ButtonEndAll, endIt, t.From)}
	return i.cards.Post(ctx, content, q)
}

// text returns the question; after the confirmation, the results.
func (i *Idle) text(to outbox.Conversation, p chat.Phrases, q together) render.Text {
	var asked, ended, waits []render.Text
	var left []spared
	for _, o := range q.Sessions {
		r, ok := i.chat.Book.Records.Get(o.ID)
		if !ok {
			continue // it was forgotten in the meantime
		}
		r, _ = i.chat.Book.SeenIn(to, r)
		name := render.Bold(chat.ShownName(r.Name))
		who := name
		if path.Base(r.Dir) != r.Name {
			who = p.Text(i18n.Noted, i18n.Args{"What": name, "Note": chat.Tail(p.Short(r.Dir), folderRoom)})
		}
		asked = append(asked, who)
		switch {
		case o.Ended:
			ended = append(ended, name)
		case o.Left != "":
			left = append(left, spared{r.Name, o.Left})
		default:
			waits = append(waits, name)
		}
	}
	more := render.Text{}
	if q.More > 0 {
		more = p.Text(i18n.IdleMore, i18n.Args{"Count": q.More})
	}
	names := func(all []render.Text) render.Text { return p.Listed(most, all, p.Say(i18n.JoinNames)) }
	var said []render.Text
	switch {
	case !q.Ending:
		ask := chat.Lines(p.Text(i18n.IdleConfirm, i18n.Args{"Count": len(asked)}), p.Bullets(most, asked))
		return chat.Paragraphs(ask, more, sparedText(p, q.Spared))
	case len(ended) > 0:
		said = append(said, p.Text(i18n.IdleEnded, i18n.Args{"Count": len(ended), "Names": names(ended)}))
	case len(waits) == 0:
		said = append(said, p.Text(i18n.IdleNone))
	}
	if len(waits) > 0 {
		said = append(said, p.Text(i18n.Archiving, i18n.Args{"Name": names(waits)}))
	}
	return chat.Paragraphs(chat.Lines(said...), more, sparedText(p, left))
}

// sparedText lists the sessions that stay, and why.
func sparedText(p chat.Phrases, all []spared) render.Text {
	if len(all) == 0 {
		return render.Text{}
	}
	lines := each.As(all, func(o spared) render.Text {
		return p.Text(i18n.Named, i18n.Args{"What": render.Bold(chat.ShownName(o.Name)), "Said": o.Why})
	})
	return chat.Lines(p.Text(i18n.IdleSpared), p.Bullets(most, lines))
}

// confirmed ends the sessions of a question, one after the other.
func (i *Idle) confirmed(_ context.Context, t chat.Tap, _ together) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error {
		all, err := i.begin(ctx, t.Card.Key)
		if err != nil {
			return err
		}
		for _, o := range all {
			if err := i.end(ctx, t, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// begin notes that the sessions are being ended. It returns none if that was already noted.
func (i *Idle) begin(ctx context.Context, key string) ([]one, error) {
	defer i.cards.Hold()()
	c, ok := i.cards.Get(key)
	if !ok || c.Payload.Ending {
		return nil, nil
	}
	c.Payload.Ending = true
	return c.Payload.Sessions, i.drawLocked(ctx, c)
}

// end ends one session if it is unchanged.
func (i *Idle) end(ctx context.Context, t chat.Tap, o one) error {
	r, _ := i.chat.Book.Records.Get(o.ID)
	if i.plans(o.ID) { // since the question
		return i.settle(ctx, t.Card.Key, o.ID, i.chat.In(t.To).Say(i18n.SparedPlanned))
	}
	q := port.Silence{Since: o.Active, Cause: port.RequestedBy(t.From, "with the idle ones, asked for"),
		Together: r.Conversation == t.To} // otherwise its conversation needs a notice
	err := i.ender.ArchiveQuiet(ctx, o.ID, q)
	if err == nil {
		return i.settle(ctx, t.Card.Key, o.ID, "")
	}
	changed := refusal.Is(err, refusal.Changed)
	if !changed {
		i.chat.Log.Warn("idle_not_ended", logkey.SessionID, o.ID.String(), logkey.Error, err)
	}
	r, _ = i.chat.Book.Records.Get(o.ID)
	p := i.chat.In(t.To)
	looks, unknown := i.inspect(ctx, o.ID)
	left := i.sparedIn(t.To, p, r, looks[o.ID])
	switch {
	case !changed && r.State == port.StateStopping:
		return nil // news of its end will come
	case unknown != nil || refusal.Is(err, refusal.Unreachable): // it may be ending
		left = p.Unreachable(r.Machine)
	case !changed:
		left = p.Say(i18n.SparedFailed)
	case left == "":
		left = p.Say(i18n.SparedChanged)
	}
	return i.settle(ctx, t.Card.Key, o.ID, left)
}

// settle stores the result of a session, once. An empty left means that it has ended.
func (i *Idle) settle(ctx context.Context, key string, id uuid.UUID, left string) error {
	defer i.cards.Hold()()
	c, ok := i.cards.Get(key)
	n := c.Payload.waiting(id)
	if !ok || n < 0 {
		return nil
	}
	c.Payload.Sessions[n].Ended, c.Payload.Sessions[n].Left = left == "", left
	return i.drawLocked(ctx, c)
}

// drawLocked shows the progress. After the last result the card closes.
func (i *Idle) drawLocked(ctx context.Context, c card.Card[together]) error {
	c.Content.Text, c.Content.Options = i.text(c.Content.To, i.chat.In(c.Content.To), c.Payload), nil
	if slices.ContainsFunc(c.Payload.Sessions, one.waits) {
		return i.cards.Show(ctx, c.Key, c.Content, c.Payload)
	}
	return i.cards.Close(ctx, c.Key, c.Content.Text)
}

// onNews stores an end before its receipt counts as sent: after a crash it would not be reported
// again.
func (i *Idle) onNews(ctx context.Context, r port.Session, n news.News) error {
	if _, ended := n.(news.Stopped); !ended {
		return nil
	}
	for _, c := range i.cards.List() {
		if c.Payload.Ending && c.Payload.waiting(r.ID) >= 0 {
			left := ""
			if !r.State.HasEnded() { // the receipt has the unproven part
				left = i.chat.In(c.Content.To).StateText(r)
			}
			return i.settle(ctx, c.Key, r.ID, left)
		}
	}
	return nil
}

// run finishes the messages of earlier runs. The news of its end settles a session that is still
// ending.
func (i *Idle) run(ctx context.Context) error {
	for _, c := range i.before {
		for _, o := range c.Payload.Sessions {
			r, _ := i.chat.Book.Records.Get(o.ID)
			left := ""
			switch {
			case r.State == port.StateStopping || r.State == port.StateUnknown:
				continue
			case !r.State.HasEnded():
				left = i.chat.In(c.Content.To).Say(i18n.SparedChanged)
			}
			if err := i.settle(ctx, c.Key, o.ID, left); err != nil {
				i.chat.Log.Error("idle_not_told", logkey.SessionID, o.ID.String(), logkey.Error, err)
			}
		}
	}
	return nil
}
