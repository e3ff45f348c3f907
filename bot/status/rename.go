package status

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/port"
)

// renames give sessions other names.
type renames struct {
	chat  *chat.Chat
	names port.Namer
	asks  chat.Cards[question]
}

// question is the payload of a question for a name.
type question struct {
	Session uuid.UUID `json:"session"`
	From    int64     `json:"from"`          // its recipient
	Key     string    `json:"key,omitempty"` // of the text; empty: none has come
}

const renameKind = "rename" // of the cards

// open is how long a question waits for a text.
const open = 5 * time.Minute

// RenameName is the name of the feature that renames sessions.
const RenameName = "rename"

func (n *renames) feature() chat.Feature {
	only := func(context.Context, chat.Tap, question) (chat.Answer, error) { return chat.Answer{}, nil }
	// A text in a conversation is meant for the current session of its writer.
	switched := func(ctx context.Context, to outbox.Conversation, session uuid.UUID) error {
		return n.end(ctx, func(c card.Card[question]) bool {
			hasSwitched := n.chat.Book.CurrentID(to, c.Payload.From) == session
			return c.Content.To == to && hasSwitched && c.Payload.Session != session
		})
	}
	return chat.Feature{Name: RenameName, Commands: []chat.Command{{Name: "rename", Run: n.command}},
		Cards: map[string]chat.OnTap{renameKind: n.asks.OnTap(only)},
		Text:  n.text, OnCurrent: switched}
}

// command renames the session that a message is about, or asks for the name: /rename [name].
func (n *renames) command(ctx context.Context, in chat.Incoming, typed string) error {
	found := n.chat.Book.FindFor(in.Message, in.From, "", nil)
	switch name := chat.NameOf(typed); {
	case len(found) == 0:
		return n.chat.ReplyNone(ctx, in, "", nil)
	case name == "":
		return n.ask(ctx, in.To, found[0].ID, in.From)
	case isPath(name):
		text := n.chat.In(in.To).Text(i18n.RenamePath, i18n.Args{"Name": found[0].Name})
		return n.chat.Post(ctx, card.Content{To: in.To, Session: found[0].ID, Text: text})
	}
	return n.chat.Post(ctx, card.Content{To: in.To, Session: found[0].ID, Text: n.rename(ctx, in, found[0], typed)})
}

// ask asks a person for the new name of a session.
func (n *renames) ask(ctx context.Context, to outbox.Conversation, session uuid.UUID, asked int64) error {
	if err := n.end(ctx, func(c card.Card[question]) bool { return c.Content.To == to && c.Payload.From == asked }); err != nil {
		return err
	}
	r, _ := n.chat.Book.Records.Get(session)
	look := card.Content{To: to, Session: session, Text: n.chat.In(to).Text(i18n.RenameAsk, i18n.Args{"Name": r.Name}),
		Options: chat.Rows(1, n.chat.In(to).Cancel()), Until: time.Now().Add(open)}
	return n.asks.Post(ctx, look, question{Session: session, From: asked})
}

// text takes the text that a question waits for; a text that cannot be a name ends the question:
// the person writes of something else. The question notes the text before it acts: after a crash
// the text comes again.
func (n *renames) text(ctx context.Context, in *chat.Incoming, text string) (taken bool, err error) {
	for _, c := range n.asks.List() {
		q := c.Payload
		again := q.Key != "" && q.Key == in.Key
		switch {
		case c.Content.To != in.To || !again && (q.Key != "" || q.From != in.From):
			continue
		case !again && !n.isName(*in, q, text):
			own := text == "/cancel" && !in.Quoted // which is meant for the question: the agent has no such command
			return own, n.end(ctx, func(one card.Card[question]) bool { return one.Key == c.Key })
		}
		q.Key, c.Content.Options = in.Key, nil
		if err := n.asks.Show(ctx, c.Key, c.Content, q); err != nil {
			return false, err
		}
		r, _ := n.chat.Book.Records.Get(q.Session)
		c.Content.Text = n.rename(ctx, *in, r, text)
		return true, n.asks.Show(ctx, c.Key, c.Content, q)
	}
	return false, nil
}

// isName reports whether a text may be the answer to a question: one line of the person's own that
// commands nothing and answers no other session.
func (n *renames) isName(in chat.Incoming, q question, text string) bool {
	if r, answers, _ := n.chat.Book.Answered(in.Message); answers && r.ID != q.Session {
		return false
	}
	name := chat.NameOf(text)
	return !in.Quoted && !strings.Contains(text, "\n") && !strings.HasPrefix(text, "!") &&
		name != "" && !isPath(name) && utf8.RuneCountInString(text) <= chat.MaxName
}

// isPath reports whether a name would be taken for a path: /new and /resume would not find the
// session by it.
func isPath(name string) bool { return strings.ContainsAny(name[:1], "/~.") }

// rename renames a session and returns the result as text.
func (n *renames) rename(ctx context.Context, in chat.Incoming, r port.Session, typed string) render.Text {
	p := n.chat.In(in.To)
	if err := n.names.Rename(ctx, r.ID, chat.NameOf(typed)); err != nil {
		return p.Failure(r, err).Text
	}
	r, _ = n.chat.Book.Records.Get(r.ID) // a number may have been added
	said := i18n.Args{"Name": r.Name}
	if err := n.chat.TellShown(ctx, in.To, r, in.From, i18n.Renamed, said); err != nil {
		n.chat.Log.Warn("rename_not_told", logkey.SessionID, r.ID.String(), logkey.Error, err)
	}
	return chat.Lines(p.Text(i18n.Renamed, said), n.chat.By(in.To, in.From))
}

// end takes back the questions that no text has answered.
func (n *renames) end(ctx context.Context, which func(c card.Card[question]) bool) error {
	for _, c := range n.asks.List() {
		if c.Payload.Key != "" || !which(c) {
			continue
		}
		if err := n.asks.Close(ctx, c.Key, render.Plain(n.chat.In(c.Content.To).Say(i18n.Cancelled))); err != nil {
			return err
		}
	}
	return nil
}
