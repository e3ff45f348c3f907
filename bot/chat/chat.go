package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/folders"
)

// Sender is the outbox as the chat speaks through it. Post is durable when it returns; React and
// Typing do not wait.
type Sender interface {
	Post(ctx context.Context, m outbox.Message) error
	React(ctx context.Context, to outbox.Conversation, message int, emoji string)
	Typing(ctx context.Context, to outbox.Conversation)
	IsSuspended(chat int64) bool // the chat takes nothing until a person writes there
	Refuses(chat int64) bool     // it is suspended, or has taken nothing since an earlier run found that
	// IsClosed reports whether a place takes nothing now, because its topic and General are closed.
	IsClosed(to outbox.Conversation) bool
	// TakesReactions is false for a day after a chat has refused a reaction.
	TakesReactions(chat int64) bool
}

// Direct sends at once what is kept nowhere. It returns when Telegram took or refused it.
type Direct interface {
	Send(ctx context.Context, m outbox.Message) (messageID int, err error)
	SendFile(ctx context.Context, f outbox.File) (messageID int, err error)
}

// Chat speaks to people. Its methods may be called from anywhere.
type Chat struct {
	Facts
	Sender interface {
		Sender
		Direct
	}
	Book   *conversation.Book // the right to read a message, and its session
	Cards  *card.Board        // messages that change later
	Speech *i18n.Catalog      // all languages
	Lang   string             // of the bot itself: where nothing else is known
	Host   string             // the name of the machine
	Pages  *Pages             // of all features
	Folder folders.Lookups    // facts about folders of the agents' machine
	Bodies machine.Bodies     // of files of the agents' machine
	Log    *slog.Logger
	// Failpoint is called at each persisted step. It is nil but in programs built to die there.
	Failpoint func(name string)
}

// Stop is the result of a stop.
type Stop struct {
	At     time.Time // of the transcript's line about it; zero: no such line yet
	Turn   bool      // it ended a turn
	GoesOn string    // what goes on in the background, in words
}

// Deps holds the dependencies of a Chat.
type Deps struct {
	Machine *machine.Machine // whose sessions it is about
	Sender  interface {
		Sender
		Direct
	}
	Chats     *conversation.Store
	Cards     *card.Board
	Speech    *i18n.Catalog
	Lang      string
	Host      string // the name of the machine, for groups with several bots
	Machines  machine.All
	Dir       string // ccbot's own folder
	Now       func() time.Time
	Log       *slog.Logger
	Failpoint func(name string) // of a Chat
}

// New is a Chat about the sessions of a machine.
func New(d Deps) *Chat {
	m := d.Machine
	c := &Chat{Sender: d.Sender, Cards: d.Cards, Speech: d.Speech, Lang: d.Lang, Host: d.Host, Log: d.Log, Failpoint: d.Failpoint,
		Book:   &conversation.Book{Store: d.Chats, Records: m.Records, Move: m.Sessions.Move},
		Facts:  Facts{Places: m.Places, Now: d.Now, Dir: d.Dir, Machines: d.Machines},
		Folder: m.Places, Bodies: machine.Bodies{Bodies: m.Bodies}}
	c.Cards.Link = c.LinkTo
	c.Pages = &Pages{All: make(map[string]Page), cards: NewCards[pagePayload](c, PageKind), chat: c, wake: make(chan struct{}, 1), changed: make(map[subject]bool)}
	return c
}

// Machine returns the machine's name in a group with several bots; empty: there is only one.
func (c *Chat) Machine(at outbox.Conversation) string {
	if c.Book.Bots(outbox.Conversation{ChatID: at.ChatID}).Others == 0 {
		return ""
	}
	return Head(glyph.Name(c.Host), maxMachine)
}

// maxMachine is how long the name of a machine may be, in letters: it is in a line of /list.
const maxMachine = 20

// In returns the phrases of a chat: in its chosen language, the language of the person's Telegram,
// or the bot's own. Their times are in the chat's time zone.
func (c *Chat) In(to outbox.Conversation) Phrases {
	set, facts := c.Book.Settings(to.ChatID), c.Facts
	facts.Now = func() time.Time { return c.Now().In(c.Book.Location(to.ChatID)) }
	return Phrases{Words: c.Speech.For(set.Language, set.Telegram, c.Lang), Facts: facts}
}

// Seen returns where people see what a session's agent asks, the best place first. While its place may be
// shown nothing, these are the private chats, see ByRank.
func (c *Chat) Seen(r port.Session) []outbox.Conversation {
	return c.ByRank(r, c.Book.Seen(r.Conversation))
}

// ByRank orders places for what a session's agent asks: first the private chat of who has started the
// session; those that refuse the bot are the last.
func (c *Chat) ByRank(r port.Session, places []outbox.Conversation) []outbox.Conversation {
	rank := func(to outbox.Conversation) int {
		return 2*btoi(c.Sender.Refuses(to.ChatID)) + btoi(to.ChatID != r.Owner)
	}
	slices.SortStableFunc(places, func(one, other outbox.Conversation) int { return cmp.Compare(rank(one), rank(other)) })
	return places
}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Who returns the name of a person who has done something that others read in a place. It is empty
// in the person's private chat, where one person alone is allowed, and while the name is unknown.
func (c *Chat) Who(to outbox.Conversation, by int64) string {
	if by == 0 || to.ChatID == by || !c.Book.Several() {
		return ""
	}
	return PersonName(c.Book.NameOf(by))
}

// By is Who as a line below what was done.
func (c *Chat) By(to outbox.Conversation, by int64) render.Text {
	who := c.Who(to, by)
	if who == "" {
		return render.Text{}
	}
	return c.In(to).Text(i18n.ByPerson, i18n.Args{"Person": who})
}

// NowCurrentText says which session a tap has made the current one; where each person has an own one, also
// who has tapped.
func (c *Chat) NowCurrentText(to outbox.Conversation, by int64, name string) render.Text {
	said := c.In(to).Text(i18n.NowCurrent, i18n.Args{"Name": name})
	if !c.Book.IsShared(to) {
		return said
	}
	return Lines(said, c.By(to, by))
}

// TellShown says where a session is shown, for the others who read there, what a person has done to
// it in another place.
func (c *Chat) TellShown(ctx context.Context, from outbox.Conversation, r port.Session, by int64, word i18n.Key, said i18n.Args) error {
	at := r.Conversation
	who := c.By(at, by)
	if at == from || who.Blank() {
		return nil
	}
	return c.Post(ctx, card.Content{To: at, Session: r.ID, Text: Lines(c.In(at).Text(word, said), who)})
}

// LinkTo returns the address of a message in a supergroup, or of a topic if message is 0; otherwise
// it is empty.
func (c *Chat) LinkTo(at outbox.Conversation, message int) string {
	const supergroups = -1_000_000_000_000 // their numbers are below it
	id, message := c.Book.Aliases.Out(at.ChatID, message)
	switch {
	case id >= supergroups || at.ThreadID == 0 && message == 0:
		return ""
	case message == 0:
		return fmt.Sprintf("https://t.me/c/%d/%d", supergroups-id, at.ThreadID)
	case at.ThreadID == 0:
		return fmt.Sprintf("https://t.me/c/%d/%d", supergroups-id, message)
	}
	return fmt.Sprintf("https://t.me/c/%d/%d/%d", supergroups-id, at.ThreadID, message)
}

// Lead posts a link in one place to the topic of a session, unless that is the same place.
func (c *Chat) Lead(ctx context.Context, from outbox.Conversation, r port.Session, at outbox.Conversation) error {
	if from == at {
		return nil
	}
	text := c.In(from).Text(i18n.TopicItsOwn, i18n.Args{"Name": r.Name})
	if link := c.LinkTo(at, 0); link != "" {
		text = render.Link(text, link)
	}
	return c.Post(ctx, card.Content{To: from, Text: text, Session: r.ID})
}

// At passes a persisted step.
func (c *Chat) At(point string) {
	if c.Failpoint != nil {
		c.Failpoint(point)
	}
}

// Say posts one plain sentence without a session.
func (c *Chat) Say(ctx context.Context, to outbox.Conversation, text string) error {
	return c.Post(ctx, card.Content{To: to, Text: render.Plain(text)})
}

// Post posts a message: it is on disk when Post returns. The options of the message are links; with
// options the message is a card. The outbox splits a long text: all of it is posted, or nothing, so
// that a retry repeats no part. It arrives without a sound unless it Sounds. A blank text is not
// posted, and people who were taken off the list get nothing. A reply to a session's message also
// belongs to that session.
func (c *Chat) Post(ctx context.Context, l card.Content) error { return c.postAs(ctx, LinkKind, l) }

// NewsOf names the kept news that a session comes with, for Content.News; empty: none.
func NewsOf(s port.Session) string {
	if s.News == 0 {
		return ""
	}
	return fmt.Sprintf("%s#%d", s.ID, s.News)
}

// Notify is Post for the notice of an answer.
func (c *Chat) Notify(ctx context.Context, l card.Content) error { return c.postAs(ctx, NoticeKind, l) }

func (c *Chat) postAs(ctx context.Context, kind string, l card.Content) error {
	if l.Session == uuid.Nil && l.ReplyTo != 0 {
		l.Session, _ = c.Book.SessionOf(l.To, l.ReplyTo)
	}
	return NewCards[struct{}](c, kind).Post(ctx, l, struct{}{})
}

// post posts a message without its options.
func (c *Chat) post(ctx context.Context, l card.Content) error {
	if l.Text.Blank() {
		return nil
	}
	if !c.Book.MayShow(l.To) {
		c.Log.Info("not_told", logkey.ChatID, l.To.ChatID, logkey.Why, "no person there is allowed")
		return nil
	}
	err := c.Sender.Post(ctx, outbox.Message{To: l.To, Text: l.Text, Session: l.Session, ReplyTo: l.ReplyTo,
		Sounds: l.Sounds, Rank: l.Rank})
	if err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return nil
}

// NoSessionText reports that a place has no current session, with the next steps.
func (c *Chat) NoSessionText(to outbox.Conversation) string {
	if slices.ContainsFunc(c.Book.Known(), func(r port.Session) bool { return r.State.Live() }) {
		return c.In(to).Say(i18n.NoCurrent)
	}
	return c.In(to).Say(i18n.NoSession)
}

// SharedText names the other open sessions in the folder of a session, and their agents.
func (c *Chat) SharedText(to outbox.Conversation, r port.Session) render.Text {
	p := c.In(to)
	var names []string
	for _, other := range c.Book.Known() {
		if other.ID != r.ID && other.State.Live() && other.Dir == r.Dir {
			names = append(names, strings.TrimSuffix(ShownName(other.Name)+" · "+other.Product, " · "))
		}
	}
	if len(names) == 0 {
		return render.Text{}
	}
	return p.Text(i18n.SharedFolder, i18n.Args{"Count": len(names), "Names": p.Some(names, p.Words.Say(i18n.JoinNames))})
}

// Reactions that show the progress of a message. All are in Telegram's list.
const (
	ReactionStored   = "👀" // the message is on disk and waits to be typed
	ReactionTyped    = "✍" // Enter was pressed after the text
	ReactionReceived = "👌" // there is proof that the agent has the text
	ReactionNone     = ""  // the message has no effect, or it is unknown: a reply reports it
)

// Warning begins a reply about a problem. Telegram does not permit it as a reaction.
const Warning = "⚠ "

// Fail reports under a message that it has no effect, and takes its reaction away.
func (c *Chat) Fail(ctx context.Context, to outbox.Conversation, message int, text render.Text, links [][]card.Option) error {
	if err := c.Warn(ctx, to, message, text, links); err != nil {
		return err
	}
	c.React(ctx, to, message, ReactionNone)
	return nil
}

// Warn reports a problem of a message under it, also while the disk takes nothing.
func (c *Chat) Warn(ctx context.Context, to outbox.Conversation, message int, text render.Text, links [][]card.Option) error {
	return c.Report(ctx, card.Content{To: to, Text: render.Join(render.Plain(Warning), text), ReplyTo: message, Options: links,
		Sounds: c.Sounds(Fault, port.Session{Conversation: to})})
}

// WarnAll reports a problem in each private chat.
func (c *Chat) WarnAll(ctx context.Context, word i18n.Key, said i18n.Args) (err error) {
	for _, to := range c.Book.PrivateChats() {
		err = errors.Join(err, c.Warn(ctx, to, 0, render.Plain(c.In(to).Say(word, said)), nil))
	}
	return err
}

// React puts a reaction under a message. It does nothing if message is 0.
func (c *Chat) React(ctx context.Context, to outbox.Conversation, message int, reaction string) {
	if message != 0 && c.Book.MayShow(to) {
		c.Sender.React(ctx, to, message, reaction)
	}
}

// ReplyToTap replies to a tapped message with the result of the tap.
func (c *Chat) ReplyToTap(ctx context.Context, t Tap, text render.Text) error {
	return c.Post(ctx, card.Content{To: t.To, Text: text, ReplyTo: t.Message})
}
