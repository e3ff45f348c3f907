package chat

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// Sender is the outbox as the chat speaks through it. Post is durable when it returns; React and
// Typing do not wait.
type Sender interface {
	Post(ctx context.Context, m outbox.Message) error
	React(ctx context.Context, to outbox.Conversation, message int, emoji string)
	Typing(ctx context.Context, to outbox.Conversation)
}

// Editor changes the buttons of a message that the chat has. It does not wait for the Bot API.
type Editor interface {
	EditButtons(ctx context.Context, to outbox.Conversation, message int, buttons [][]outbox.Button) error
}

// Chat speaks to people. Its methods may be called from anywhere.
type Chat struct {
	Phrases
	Sender Sender
	Editor Editor
	Book   *conversation.Book // who may read what, and whose a message is
	Cards  *card.Board        // messages that change later
	Log    *slog.Logger
	// Failpoint is called at each persisted step with its name. It is nil but in programs built to
	// die there.
	Failpoint func(name string)
}

// At passes a persisted step.
func (c *Chat) At(point string) {
	if c.Failpoint != nil {
		c.Failpoint(point)
	}
}

// Say posts one plain sentence.
func (c *Chat) Say(ctx context.Context, to outbox.Conversation, text string) error {
	return c.For(uuid.Nil).Say(ctx, to, text)
}

// PostMessage posts one message: it is on disk when PostMessage returns. The outbox splits what is
// too long: all of it is posted, or nothing, so that a retry repeats no part. Of a blank text nothing
// is posted, and people who were taken off the list get nothing.
func (c *Chat) PostMessage(ctx context.Context, m outbox.Message) error {
	if m.Text.Blank() {
		return nil
	}
	if !c.Book.MayShow(m.To) {
		c.Log.Info("not_told", "chat_id", m.To.ChatID, "why", "nobody there is allowed any more")
		return nil
	}
	if m.Session == uuid.Nil && m.ReplyTo != 0 {
		m.Session, _ = c.Book.SessionOf(m.To, m.ReplyTo)
	}
	if err := c.Sender.Post(ctx, m); err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return nil
}

// SharedText says which other open sessions work in the folder of a session; empty: none.
func (c *Chat) SharedText(r views.Session) string {
	var names []string
	for _, other := range c.Book.Records.List() {
		if other.ID != r.ID && other.Live && other.Dir == r.Dir {
			names = append(names, ShownName(other.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return c.Words.Say(i18n.SharedFolder, i18n.Args{"Count": len(names), "Names": c.Some(names, ", ")})
}

// For speaks of one session: a person who answers such a message means that session.
func (c *Chat) For(session uuid.UUID) Speaker { return Speaker{chat: c, session: session} }

// Speaker speaks of one session, or of none.
type Speaker struct {
	chat    *Chat
	session uuid.UUID
}

// Say posts one plain sentence.
func (s Speaker) Say(ctx context.Context, to outbox.Conversation, text string) error {
	return s.Post(ctx, to, render.Plain(text), nil)
}

// Post posts a text; the buttons stand under its last part.
func (s Speaker) Post(ctx context.Context, to outbox.Conversation, text render.Text, buttons [][]outbox.Button) error {
	return s.chat.PostMessage(ctx, outbox.Message{To: to, Text: text, Buttons: buttons, Session: s.session})
}

// Reactions that say how far a message is. All are in Telegram's list.
const (
	ReactionStored   = "👀" // the message is on disk and waits to be typed
	ReactionTyped    = "✍" // Enter was pressed after the text
	ReactionReceived = "👌" // there is proof that the agent has the text
	ReactionNone     = ""  // nothing comes of the message, or it is unknown: a reply says so
)

// Warning begins a reply that says that something is wrong. It is no reaction that Telegram permits.
const Warning = "⚠ "

// Fail says under a message that nothing comes of the message, and takes its reaction away.
func (c *Chat) Fail(ctx context.Context, to outbox.Conversation, message int, text render.Text, buttons [][]outbox.Button) error {
	if err := c.Warn(ctx, to, message, text, buttons); err != nil {
		return err
	}
	c.Mark(ctx, to, message, ReactionNone)
	return nil
}

// Warn says under a message that something is wrong with the message.
func (c *Chat) Warn(ctx context.Context, to outbox.Conversation, message int, text render.Text, buttons [][]outbox.Button) error {
	text = render.Join(render.Plain(Warning), text)
	return c.PostMessage(ctx, outbox.Message{To: to, Text: text, ReplyTo: message, Buttons: buttons})
}

// Mark puts a reaction under a message. Message 0 is none.
func (c *Chat) Mark(ctx context.Context, to outbox.Conversation, message int, reaction string) {
	if message != 0 && c.Book.MayShow(to) {
		c.Sender.React(ctx, to, message, reaction)
	}
}

// OnTap decides what a button does.
type OnTap = func(ctx context.Context, t Tap) (Answer, error)

// Stale answers a tap on a button whose time has passed, and takes the buttons off the message.
func (c *Chat) Stale(t Tap) (Answer, error) {
	spend := func(ctx context.Context) error { return c.Spend(ctx, t) }
	return Answer{Text: c.Words.Say(i18n.StaleButton), Then: spend}, nil
}

// Tell says under a tapped message what came of the tap.
func (c *Chat) Tell(ctx context.Context, t Tap, text string) error {
	m := outbox.Message{To: t.To, Text: render.Plain(text), ReplyTo: t.Message, Silent: true}
	return c.PostMessage(ctx, m)
}

// Spend takes the buttons off the tapped message, unless that is gone, or too old to be edited.
func (c *Chat) Spend(ctx context.Context, t Tap) error {
	if err := c.Editor.EditButtons(ctx, t.To, t.Message, nil); !IsRefused(err) {
		return err
	}
	return nil
}
