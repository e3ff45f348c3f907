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
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Cards are the cards of one kind, each with a payload that describes its message.
type Cards[P any] struct {
	card.Kind[P]
	chat *Chat
}

// NewCards returns the cards of a kind.
func NewCards[P any](c *Chat, kind string) Cards[P] {
	return Cards[P]{card.NewKind[P](c.Cards, kind, nil), c}
}

// Asking marks the cards as questions: see card.Kind.Asking.
func (c Cards[P]) Asking() Cards[P] { c.Kind.Asking(); return c }

// Post posts a text with options as a separate card; the options are under the last part of a long
// text. A text without options is posted as by Chat.Post.
func (c Cards[P]) Post(ctx context.Context, l card.Content, payload P) error {
	parts := l.Text.Split(render.Limit)
	if l.Options = card.Filled(l.Options); len(l.Options) == 0 && l.News == "" || len(parts) == 0 || !c.chat.Book.MayShow(l.To) {
		return c.chat.post(ctx, l)
	}
	last := len(parts) - 1
	above := l
	above.Text = render.Join(parts[:last]...) // in one piece: a retry repeats that at most
	if err := c.chat.post(ctx, above); err != nil {
		return err
	}
	l.Text, l.Sounds = parts[last], l.Sounds && above.Text.Blank()
	return c.Kind.Post(ctx, l, payload)
}

// OnTap carries out an option of a card with the card's payload. [Cancel] ends the card.
func (c Cards[P]) OnTap(do func(ctx context.Context, t Tap, was P) (Answer, error)) OnTap {
	return func(ctx context.Context, t Tap) (Answer, error) {
		if t.Card.Option == cancelOption {
			return Answer{}, c.End(ctx, t, c.chat.In(t.To).Say(i18n.Cancelled))
		}
		was, err := c.Payload(t.Card)
		if err != nil {
			return Answer{}, err
		}
		return do(ctx, t, was)
	}
}

// End closes the tapped card, with a last text and who has tapped, unless the text is empty.
func (c Cards[P]) End(ctx context.Context, t Tap, last string) error {
	if last == "" {
		return c.Close(ctx, t.Card.Key, render.Text{})
	}
	return c.Close(ctx, t.Card.Key, Lines(render.Plain(last), c.chat.By(t.To, t.From)))
}

// AnswerExpired answers a tap on a card whose time has passed, and closes the card.
func (c Cards[P]) AnswerExpired(ctx context.Context, t Tap) (Answer, error) {
	return Answer{Text: c.chat.In(t.To).Say(i18n.StaleButton)}, c.End(ctx, t, "")
}

// Option is one option of a card: its word, and the value that a tap brings back.
func (p Phrases) Option(word i18n.Key, value string, style outbox.Style) card.Option {
	return card.Option{Text: p.Words.Say(word), Value: value, Style: style}
}

const cancelOption = "cancel"

// Cancel withdraws a question; any allowed person may.
func (p Phrases) Cancel() card.Option {
	return card.Option{Text: p.Words.Say(i18n.ButtonCancel), Value: cancelOption}
}

// Confirm returns the options of a question to which only one person may say yes.
func (p Phrases) Confirm(word i18n.Key, value string, asked int64) [][]card.Option {
	yes := p.Option(word, value, outbox.Danger)
	yes.For = asked
	return [][]card.Option{{yes, p.Cancel()}}
}

// A link is an option that leads to a session. Package sessions carries it out for all features
// (Follow in list.go). Its value is a word, a colon and the session's id, followed by a colon and
// the launch for RetryLink, AnywayLink and GoOnLink.
const (
	OpenLink   = "open"   // open the session
	HereLink   = "here"   // show it where the link is, from its next turn on
	ResumeLink = "resume" // resume it
	UndoLink   = "undo"   // resume it; the current session stays
	RetryLink  = "retry"  // try again to end what is left of one launch of it
	AnywayLink = "anyway" // ask whether to archive it, although schedules of its own end with it
	GoOnLink   = "go"     // continue after an interruption, in the launch that the message was about
)

// The kinds of cards with links. Notices of answers are many: other messages keep their options.
const (
	LinkKind   = "link"
	NoticeKind = "notice"
)

// NextQuestion is the value of the option below a question that leads to the next open one, and
// QuestionsLink the value of the option that shows the oldest one.
const (
	NextQuestion  = "next question"
	QuestionsLink = "questions"
)

// Link is a link with a word.
func (p Phrases) Link(word i18n.Key, what string, session uuid.UUID, style outbox.Style) [][]card.Option {
	return Rows(1, card.Option{Text: p.Words.Say(word), Value: what + ":" + session.String(), Style: style, Session: session})
}

// ResumeLink resumes a session, or tries to end what is left of the session first. It returns nil
// while the session is open.
func (p Phrases) ResumeLink(r port.Session) [][]card.Option {
	switch {
	case r.State == port.StateCleanupFailed:
		return Rows(1, card.Option{Text: p.Words.Say(i18n.ButtonRetry), Value: OfLaunch(RetryLink, r), Session: r.ID})
	case !r.Resumable:
		return nil
	}
	return p.Link(i18n.ButtonResume, ResumeLink, r.ID, outbox.Primary)
}

// OfLaunch is the value of a link about the present launch of a session: it leads to no later one.
func OfLaunch(what string, r port.Session) string {
	return what + ":" + r.ID.String() + ":" + strconv.FormatInt(r.StartedAt.UnixNano(), 36)
}

// Resume is a request to resume a session.
type Resume struct {
	Session port.Session
	Dir     string // another directory than the session's own; empty: the session's own
	Damaged port.Damaged
	To      outbox.Conversation // the place of the outcome and of the session
	From    int64               // the person who may say yes to what the resume asks
	Before  render.Text         // lines above the outcome: earlier actions
	Undo    bool                // another session that is current stays the current one
	Many    bool                // one of several: one message has said that all of them come back
}

// Restore is the resume as the agents' machine carries it out, and as a card keeps it for a button.
func (r Resume) Restore() port.Restore {
	return port.Restore{Session: r.Session.ID, Dir: r.Dir, Damaged: r.Damaged}
}

// Accepted returns the resume that a person has tapped; false if the session is no longer known.
func (c *Chat) Accepted(o port.Restore, t Tap) (Resume, bool) {
	r, ok := c.Book.Records.Get(o.Session)
	return Resume{Session: r, Dir: o.Dir, Damaged: o.Damaged, To: t.To, From: t.From}, ok
}

// Choice is a page that asks which session a person means: a button each, in parts.
type Choice struct {
	Name     string // of the page
	Question i18n.Key
	Said     i18n.Args
	// Among returns the possible sessions.
	Among func(to outbox.Conversation, a Among) []port.Session
	// Do is called with the session that was chosen. The question stays until it is done.
	Do   func(ctx context.Context, t Tap, r port.Session, a Among) (done bool, err error)
	chat *Chat
}

// Among describes one choice.
type Among struct {
	Word    string    `json:"word,omitempty"` // of the command; see Choice.Among
	Page    int       `json:"page,omitempty"`
	From    int64     `json:"from,omitempty"`    // the only person who may choose; 0: anyone
	Message int       `json:"message,omitempty"` // of the command
	Replies string    `json:"replies,omitempty"` // the command's Incoming.Answered
	Dir     string    `json:"dir,omitempty"`     // that the command names
	Until   time.Time `json:"until,omitzero"`    // when it is too late to choose; zero: never
	Chosen  string    `json:"chosen,omitempty"`  // the name of the session that was chosen
}

// AddChoice adds the page of a choice to a feature, and returns the function that asks.
func (c *Chat) AddChoice(f *Feature, q Choice) (ask func(ctx context.Context, to outbox.Conversation, a Among) error) {
	q.chat = c
	if f.Pages == nil {
		f.Pages = make(map[string]Page)
	}
	f.Pages[q.Name] = Page{Draw: q.draw, Do: q.choose}
	return func(ctx context.Context, to outbox.Conversation, a Among) error {
		in := Incoming{Message: conversation.Message{To: to}, From: a.From}
		return c.Pages.Open(ctx, in, Address(q.Name, a))
	}
}

const pageSize = 8

// Place returns the shown part of a list; empty if all of it is shown.
func (p Phrases) Place(part card.Part) string {
	if part.Last-part.First == part.Count {
		return ""
	}
	return p.Words.Say(i18n.ChoicePage, i18n.Args{"First": part.First + 1, "Last": part.Last, "Count": part.Count})
}

func (c Choice) draw(_ context.Context, v Visit) (Screen, error) {
	a, p := ViewAt[Among](v.Rest), c.chat.In(v.To)
	if a.Chosen != "" {
		return Screen{Text: render.Plain("→ " + a.Chosen)}, nil
	}
	list := c.Among(v.To, a)
	part := card.PartOf(len(list), pageSize, a.Page)
	s := Screen{Text: Lines(render.Plain(p.Say(c.Question, c.Said)), render.Plain(p.Place(part))), Until: a.Until}
	for _, r := range list[part.First:part.Last] {
		seen, _ := c.chat.Book.SeenIn(v.To, r)
		s.Options = append(s.Options, []card.Option{{Text: p.label(seen), Value: r.ID.String(), For: a.From, Session: r.ID}})
	}
	s.Options = append(s.Options, part.Turns(func(page int) card.Option {
		a.Page = page
		return card.Option{Value: ToPage(Address(c.Name, a)), For: a.From}
	}))
	return s, nil
}

func (c Choice) choose(_ context.Context, v Visit, what string) (answer Answer, next string, err error) {
	a := ViewAt[Among](v.Rest)
	id, _ := uuid.Parse(what)
	r, ok := c.chat.Book.Records.Get(id)
	if !ok {
		return Answer{Text: c.chat.In(v.To).Say(i18n.SessionGone)}, "", nil
	}
	answer.Then = func(ctx context.Context) error {
		done, err := c.Do(ctx, Tap{From: v.By, To: v.To}, r, a)
		if err == nil && !done {
			return ErrStay
		}
		return err
	}
	a.Chosen = glyph.Name(r.Name)
	return answer, Address(c.Name, a), nil
}

// label distinguishes a session: its name, its folder, and how long ago it ended.
func (p Phrases) label(r port.Session) string {
	parts := []string{glyph.Name(r.Name), Tail(p.Short(r.Dir), 24)}
	if !r.State.Live() && !r.EndedAt.IsZero() {
		parts = append(parts, p.Age(p.Now().Sub(r.EndedAt)))
	}
	return strings.Join(parts, p.Words.Say(i18n.JoinParts))
}

// nowFor is how long a choice for a command that means the turn that runs may be answered.
const nowFor = time.Minute

// OnSession carries out a command with its session.
type OnSession = func(ctx context.Context, in Incoming, r port.Session) error

// ByName adds to a feature a command about one session: the one that the argument names, or that
// the message answers, or that is the current one. Buttons ask which if there are several. For a
// session that does not fit it reports that the session has ended.
func (c *Chat) ByName(f *Feature, command Command, fits func(port.Session) bool, do OnSession) {
	find := func(in conversation.Message, by int64, name string) []port.Session {
		return c.Book.FindFor(in, by, name, fits)
	}
	carryOut := do
	do = func(ctx context.Context, in Incoming, r port.Session) error {
		if !command.Acts && c.Book.Veils(in.To, r.Conversation) {
			return c.Post(ctx, card.Content{To: in.To, Session: r.ID, Text: c.In(in.To).HiddenText(r)})
		}
		return carryOut(ctx, in, r)
	}
	ask := c.AddChoice(f, Choice{Name: "which-" + command.Name, Question: i18n.WhichSession, Said: i18n.Args{"Command": "/" + command.Name},
		Among: func(to outbox.Conversation, a Among) []port.Session {
			return find(conversation.Message{To: to}, a.From, a.Word)
		},
		Do: func(ctx context.Context, t Tap, r port.Session, a Among) (bool, error) {
			in := Incoming{Message: conversation.Message{To: t.To}, From: t.From, MessageID: a.Message, Answered: a.Replies}
			if !fits(r) {
				return true, c.ReplyNone(ctx, in, r.Name, []port.Session{r})
			}
			return true, do(ctx, in, r)
		}})
	command.Run = func(ctx context.Context, in Incoming, name string) error {
		found := find(in.Message, in.From, name)
		switch {
		case len(found) > 1:
			a := Among{Word: name, From: in.From, Message: in.MessageID, Replies: in.Answered}
			if command.Now { // it means the turn that runs
				a.Until = time.Now().Add(nowFor)
			}
			return ask(ctx, in.To, a)
		case len(found) == 1 && found[0].State == port.StateUnknown:
			return c.Explain(ctx, in.To, c.In(in.To).Failure(found[0], refusal.ErrUnreachable))
		case len(found) == 1 && fits(found[0]):
			return do(ctx, in, found[0])
		}
		return c.ReplyNone(ctx, in, name, found)
	}
	f.Commands = append(f.Commands, command)
}

// AnySession reports true: the command of a ByName may be about any session.
func AnySession(port.Session) bool { return true }

// PageByName adds a command that opens the feature's page of that name about a session, see About.
func (c *Chat) PageByName(f *Feature, page string, fits func(port.Session) bool) {
	c.ByName(f, Command{Name: page}, fits, func(ctx context.Context, in Incoming, r port.Session) error {
		return c.Pages.Open(ctx, in, About(page, r.ID))
	})
}

// ReplyNone reports that the session that was found has ended, with the way back, or that none was
// found.
func (c *Chat) ReplyNone(ctx context.Context, in Incoming, name string, found []port.Session) error {
	p := c.In(in.To)
	_, unread := c.Book.Records.List()
	switch {
	case unread != nil && len(found) == 0: // it may be one of the others
		return c.Explain(ctx, in.To, p.Failure(port.Session{}, unread))
	case len(found) > 0:
		text := p.EndedText(found[0])
		if found[0].State == port.StateCleanupFailed {
			text = p.NotCleanText(found[0])
		}
		return c.Post(ctx, card.Content{To: in.To, Session: found[0].ID, Text: text, Options: p.ResumeLink(found[0])})
	case name == "":
		return c.Say(ctx, in.To, c.NoSessionText(in.To))
	}
	return c.Post(ctx, card.Content{To: in.To, Text: p.Text(i18n.NoSuchSession, i18n.Args{"Name": name})})
}
