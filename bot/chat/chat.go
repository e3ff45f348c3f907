package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// Sender is the outbox as the chat speaks through it. Post is durable when it returns; React and
// Typing do not wait.
type Sender interface {
	Post(ctx context.Context, m outbox.Message) error
	React(ctx context.Context, to outbox.Conversation, message int, emoji string)
	Typing(ctx context.Context, to outbox.Conversation)
}

// Questions handles agents' questions; see package questions.
type Questions interface {
	// Chosen brings the open question, if any, of a session that was chosen in a conversation.
	Chosen(ctx context.Context, from outbox.Conversation, session uuid.UUID) error
	// Step shows the oldest open question of all.
	Step(ctx context.Context, from outbox.Conversation) error
	// Waits are the sessions that wait for a person.
	Waits() []port.Session
}

// Chat speaks to people. Its methods may be called from anywhere.
type Chat struct {
	Facts
	Sender Sender
	Book   *conversation.Book // the right to read a message, and its session
	Cards  *card.Board        // messages that change later
	Speech *i18n.Catalog      // all languages
	Lang   string             // of the bot itself: where nothing else is known
	Host   string             // the name of the machine
	Pages  *Pages             // of all features
	Folder folders.Lookups    // facts about folders of the agents' machine
	Log    *slog.Logger
	// Questions is set before anything runs.
	Questions Questions
	// Failpoint is called at each persisted step. It is nil but in programs built to die there.
	Failpoint func(name string)
	Send      func(ctx context.Context, m outbox.Message) (messageID int, err error)                                  // at once, kept nowhere
	Upload    func(ctx context.Context, f outbox.File) (messageID int, err error)                                     // Telegram took or refused it
	Resume    func(ctx context.Context, q Resume) (back bool, err error)                                              // reports the result
	Begin     func(ctx context.Context, to outbox.Conversation, q port.Start) (r port.Session, began bool, err error) // see sessions.Begin
	Lost      func() []port.Session                                                                                   // sessions that went down with the machine or with tmux, and are not back
	ResumeAll func(ctx context.Context, to outbox.Conversation, from int64) error                                     // resumes all that are lost
	Run       func(ctx context.Context, e inbox.Entry, by int64, command string) error                                // runs a ccbot command with the text after the first word of an entry's message
	LeaveView func(ctx context.Context, session uuid.UUID, prompt string) error                                       // leaves the view that a person has scrolled back
	IsNext    func(r port.Session, end talk.Cursor) bool                                                              // see waiting.IsNext
	Lead      func(ctx context.Context, from outbox.Conversation, r port.Session, at outbox.Conversation) error       // see sessions.Lead
	Planned   func(prompt string) bool                                                                                // the limit feature asks about it
	// Stopping asks how to stop an agent with an open question; false: no question is shown.
	Stopping func(ctx context.Context, in Incoming, r port.Session) (asked bool, err error)
	// StopBegins is called before a person's stop of a session; see Stopped. ends gets the error of
	// a stop that did nothing.
	StopBegins func(session uuid.UUID) (ends func(refused error))
	// HasStopped reports whether a person has stopped a session after a time, and lately.
	HasStopped func(session uuid.UUID, after time.Time) bool
	// Stopped shows the effect of a stop in the list of texts that it took back; false: no list.
	Stopped func(ctx context.Context, r port.Session, to outbox.Conversation, s Stop) (shown bool, err error)
	// Opened is called after the message about an agent's question is on its way.
	Opened func(ctx context.Context, to outbox.Conversation, session uuid.UUID) error
	// Kept returns the first lines of the prompts that wait for a session, in order.
	Kept func(r port.Session) []string
	// SendWaiting sends the texts of a chat that wait for a session that returns.
	SendWaiting func(ctx context.Context, chatID int64, r port.Session) error
}

// Stop is the result of a stop.
type Stop struct {
	At     time.Time // of the transcript's line about it; zero: no such line yet
	Turn   bool      // it ended a turn
	Agents int       // subagents that run on
}

// New is a Chat about the sessions of a machine.
func New(m *machine.Machine, s Sender, chats *conversation.Store, cards *card.Board, words *i18n.Catalog, now func() time.Time,
	log *slog.Logger) *Chat {
	c := &Chat{Sender: s, Cards: cards, Speech: words, Log: log,
		Book:  &conversation.Book{Store: chats, Records: m.Records, Move: m.Sessions.Move},
		Facts: Facts{Places: m.Places, Now: now, Attach: m.Sessions.Attach}}
	c.Folder = m.Places
	cards.Link = c.LinkTo
	c.Pages = &Pages{All: make(map[string]Page), cards: NewCards[shownPage](c, pageKind), chat: c,
		wake: make(chan struct{}, 1), changed: make(map[subject]bool)}
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
// or the bot's own.
func (c *Chat) In(to outbox.Conversation) Phrases {
	set := c.Book.Settings(to.ChatID)
	return Phrases{Words: c.Speech.For(set.Language, set.Telegram, c.Lang), Facts: c.Facts}
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

// At passes a persisted step.
func (c *Chat) At(point string) {
	if c.Failpoint != nil {
		c.Failpoint(point)
	}
}

// Say posts one plain sentence without a session.
func (c *Chat) Say(ctx context.Context, to outbox.Conversation, text string) error {
	return c.Post(ctx, card.Look{To: to, Text: render.Plain(text)})
}

// Post posts a message: it is on disk when Post returns. The options of the message are links; with
// options the message is a card. The outbox splits a long text: all of it is posted, or nothing, so
// that a retry repeats no part. It arrives without a sound unless it Sounds. A blank text is not
// posted, and people who were taken off the list get nothing. A reply to a session's message also
// belongs to that session.
func (c *Chat) Post(ctx context.Context, l card.Look) error { return c.postAs(ctx, LinkKind, l) }

// Notify is Post for the notice of an answer.
func (c *Chat) Notify(ctx context.Context, l card.Look) error { return c.postAs(ctx, NoticeKind, l) }

func (c *Chat) postAs(ctx context.Context, kind string, l card.Look) error {
	if l.Session == uuid.Nil && l.ReplyTo != 0 {
		l.Session, _ = c.Book.SessionOf(l.To, l.ReplyTo)
	}
	return NewCards[struct{}](c, kind).Post(ctx, l, struct{}{})
}

// post posts a message without its options.
func (c *Chat) post(ctx context.Context, l card.Look) error {
	if l.Text.Blank() {
		return nil
	}
	if !c.Book.MayShow(l.To) {
		c.Log.Info("not_told", logkey.ChatID, l.To.ChatID, logkey.Why, "nobody there is allowed any more")
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
	if slices.ContainsFunc(c.Book.Records.List(), func(r port.Session) bool { return r.Live }) {
		return c.In(to).Say(i18n.NoCurrent)
	}
	return c.In(to).Say(i18n.NoSession)
}

// SharedText names the other open sessions that work in the folder of a session; empty: none.
func (c *Chat) SharedText(to outbox.Conversation, r port.Session) render.Text {
	var names []string
	for _, other := range c.Book.Records.List() {
		if other.ID != r.ID && other.Live && other.Dir == r.Dir {
			names = append(names, ShownName(other.Name))
		}
	}
	if len(names) == 0 {
		return render.Text{}
	}
	p := c.In(to)
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
	c.Mark(ctx, to, message, ReactionNone)
	return nil
}

// Warn reports a problem of a message under it, also while the disk takes nothing.
func (c *Chat) Warn(ctx context.Context, to outbox.Conversation, message int, text render.Text, links [][]card.Option) error {
	return c.Report(ctx, card.Look{To: to, Text: render.Join(render.Plain(Warning), text), ReplyTo: message, Options: links,
		Sounds: c.Sounds(Fault, port.Session{Conversation: to})})
}

// WarnAll reports a problem in each private chat.
func (c *Chat) WarnAll(ctx context.Context, word i18n.Key, said i18n.Args) (err error) {
	for _, to := range c.Book.PrivateChats() {
		err = errors.Join(err, c.Warn(ctx, to, 0, render.Plain(c.In(to).Say(word, said)), nil))
	}
	return err
}

// Mark puts a reaction under a message. It does nothing if message is 0.
func (c *Chat) Mark(ctx context.Context, to outbox.Conversation, message int, reaction string) {
	if message != 0 && c.Book.MayShow(to) {
		c.Sender.React(ctx, to, message, reaction)
	}
}

// Tell replies to a tapped message with the result of the tap.
func (c *Chat) Tell(ctx context.Context, t Tap, text render.Text) error {
	return c.Post(ctx, card.Look{To: t.To, Text: text, ReplyTo: t.Message})
}
