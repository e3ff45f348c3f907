package chat

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// Choice asks which of several sessions a person means: a button each, a page of them at a time.
type Choice struct {
	cards    Cards[Among]
	question i18n.Key
	said     i18n.Args
	do       func(ctx context.Context, t Tap, r views.Session, a Among) (done bool, err error)
}

// Among is what one choice is about.
type Among struct {
	Sessions []uuid.UUID `json:"sessions"`
	Page     int         `json:"page,omitempty"`
	From     int64       `json:"from,omitempty"`    // the only person who may choose; 0: anybody
	Message  int         `json:"message,omitempty"` // of the command
	Dir      string      `json:"dir,omitempty"`     // that the command names
	Until    time.Time   `json:"until,omitzero"`    // when it is too late to choose; zero: never
}

// NewChoice gives the choices of a kind, with the sentence that asks. do is called with the session that was chosen; the question
// stays until it is done.
func (c *Chat) NewChoice(kind string, question i18n.Key, said i18n.Args,
	do func(ctx context.Context, t Tap, r views.Session, a Among) (done bool, err error)) Choice {
	return Choice{cards: NewCards[Among](c, kind), question: question, said: said, do: do}
}

// OnTap turns a page, or does what the choice is about with the session that was chosen.
func (q Choice) OnTap() OnTap { return q.cards.OnTap(q.tap) }

// Post asks which of the sessions is meant.
func (q Choice) Post(ctx context.Context, to outbox.Conversation, list []views.Session, a Among) error {
	for _, r := range list {
		a.Sessions = append(a.Sessions, r.ID)
	}
	return q.cards.Post(ctx, q.look(to, a), a)
}

const (
	pageSize   = 8
	pageOption = "page:"
)

// Turns are the arrows that turn the pages of a list: back where there is a page before this one, and on
// where there is more. to is the option that leads to a page, without its words.
func Turns(page int, more bool, to func(page int) card.Option) (arrows []card.Option) {
	if page > 0 {
		arrows = append(arrows, to(page-1))
		arrows[0].Text = "←"
	}
	if more {
		arrows = append(arrows, to(page+1))
		arrows[len(arrows)-1].Text = "→"
	}
	return arrows
}

// look is one page. Sessions that are forgotten meanwhile have no button.
func (q Choice) look(to outbox.Conversation, a Among) card.Look {
	p, first := q.cards.chat.In(to), a.Page*pageSize
	text := p.Say(q.question, q.said)
	last := min(first+pageSize, len(a.Sessions))
	look := card.Look{To: to, Until: a.Until}
	for _, id := range a.Sessions[first:last] {
		if r, ok := q.cards.chat.Book.Records.Get(id); ok {
			label := card.Option{Text: p.label(r), Value: id.String(), For: a.From}
			look.Options = append(look.Options, []card.Option{label})
		}
	}
	turns := Turns(a.Page, last < len(a.Sessions), func(page int) card.Option {
		return card.Option{Value: pageOption + strconv.Itoa(page), For: a.From}
	})
	if len(turns) > 0 {
		look.Options = append(look.Options, turns)
		text += "\n" + p.Words.Say(i18n.ChoicePage, i18n.Args{"First": first + 1, "Last": last, "Count": len(a.Sessions)})
	}
	look.Text = render.Plain(text)
	return look
}

// label tells a session from others: its name, its folder, and how long ago it ended.
func (p Phrases) label(r views.Session) string {
	parts := []string{glyph.Name(r.Name), Tail(p.Short(r.Dir), 24)}
	if !r.Live && !r.EndedAt.IsZero() {
		parts = append(parts, p.Age(p.Now().Sub(r.EndedAt)))
	}
	return strings.Join(parts, p.Words.Say(i18n.JoinParts))
}

func (q Choice) tap(_ context.Context, t Tap, a Among) (Answer, error) {
	turn := func(ctx context.Context) error { return q.cards.Redraw(ctx, t.Card.Key, q.look(t.To, a), a) }
	if page, ok := strings.CutPrefix(t.Card.Option, pageOption); ok {
		a.Page, _ = strconv.Atoi(page)
		return Do(turn)
	}
	id, _ := uuid.Parse(t.Card.Option)
	r, ok := q.cards.chat.Book.Records.Get(id)
	if !ok {
		return Answer{Text: q.cards.chat.In(t.To).Say(i18n.SessionGone), Then: turn}, nil
	}
	return Do(func(ctx context.Context) error {
		if done, err := q.do(ctx, t, q.cards.chat.Book.Successor(r), a); err != nil || !done {
			return err
		}
		return q.cards.End(ctx, t, "→ "+glyph.Name(r.Name))
	})
}

// nowFor is how long a choice for a command that means the turn that runs may be answered.
const nowFor = time.Minute

// OnSession does what a command says with the session that is meant.
type OnSession = func(ctx context.Context, in Incoming, r views.Session) error

// ByName adds to a feature a command about one session: the one that the argument names, or that the
// message answers, or that is the current one. Where several may be meant, buttons ask which. Of a
// session that does not fit it is told that it is over.
func (c *Chat) ByName(f *Feature, command Command, fits func(views.Session) bool, do OnSession) {
	kind := "which-" + command.Name
	which := c.NewChoice(kind, i18n.WhichSession, i18n.Args{"Command": "/" + command.Name},
		func(ctx context.Context, t Tap, r views.Session, a Among) (bool, error) {
			in := Incoming{Message: conversation.Message{To: t.To}, From: t.From, MessageID: a.Message}
			if !fits(r) {
				return true, c.TellNone(ctx, in, r.Name, []views.Session{r})
			}
			return true, do(ctx, in, r)
		})
	command.Run = func(ctx context.Context, in Incoming, name string) error {
		found := c.Book.FindFor(in.Message, name, fits)
		switch {
		case len(found) > 1:
			a := Among{From: in.From, Message: in.MessageID}
			if command.Now { // it means the turn that runs
				a.Until = time.Now().Add(nowFor)
			}
			return which.Post(ctx, in.To, found, a)
		case len(found) == 1 && fits(found[0]):
			return do(ctx, in, found[0])
		}
		return c.TellNone(ctx, in, name, found)
	}
	f.Commands, f.Cards[kind] = append(f.Commands, command), which.OnTap()
}

// TellNone says that the session that was found is over, with the way back, or that none was found.
func (c *Chat) TellNone(ctx context.Context, in Incoming, name string, found []views.Session) error {
	p := c.In(in.To)
	switch {
	case len(found) > 0:
		text := p.EndedText(found[0])
		if found[0].State == views.CleanupFailed {
			text = p.NotCleanText(found[0])
		}
		return c.Post(ctx, card.Look{To: in.To, Session: found[0].ID, Text: text, Options: p.ResumeLink(found[0])})
	case name == "":
		return c.Say(ctx, in.To, c.NoSessionText(in.To))
	}
	return c.Post(ctx, card.Look{To: in.To, Text: p.Text(i18n.NoSuchSession, i18n.Args{"Name": name})})
}
