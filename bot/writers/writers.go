package writers

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Agents are the processes that write a conversation beside the session's own agent.
type Agents interface {
	Writers(ctx context.Context, id uuid.UUID) ([]desk.Writer, error)
	EndWriters(ctx context.Context, id uuid.UUID, who []desk.ID) ([]control.Ending, error)
	Adopt(ctx context.Context, q control.Adopt) (views.Session, error)
}

// Starter starts and ends sessions.
type Starter interface {
	Start(ctx context.Context, q control.Start) (views.Session, error)
	Archive(ctx context.Context, id uuid.UUID, final views.State, why string) error
}

// Resumer resumes a session, and tells why a session does not come back.
type Resumer interface {
	Resume(ctx context.Context, q chat.Resume) (back bool, err error)
}

// Reader shows what the agent of a session writes.
type Reader interface {
	// Follow has what is new of a session shown.
	Follow(r views.Session)
}

// Writers tell who else writes a conversation.
type Writers struct {
	chat    *chat.Chat
	book    *conversation.Book
	words   i18n.Words
	agents  Agents
	starter Starter
	resumer Resumer
	reader  Reader
	cards   chat.Cards[shown]
}

const writersKind = "writers" // of the cards

// New returns the Writers of a chat.
func New(c *chat.Chat, a Agents, s Starter, resumer Resumer, reader Reader) *Writers {
	return &Writers{c, c.Book, c.Words, a, s, resumer, reader, chat.NewCards[shown](c, writersKind)}
}

// Feature is what the roof knows of Writers.
func (w *Writers) Feature() chat.Feature {
	return chat.Feature{
		Name:  "writers",
		Cards: map[string]chat.OnTap{writersKind: w.cards.OnTap(w.tap)},
		News: map[news.Kind]func(ctx context.Context, n news.Note) error{
			news.SecondWriter: func(ctx context.Context, n news.Note) error {
				return w.tellConflict(ctx, otherWriter, n)
			},
			news.Ghost:       w.tellAfterEnd,
			news.Transferred: w.tellTransferred,
		},
	}
}

// tellAfterEnd tells that the conversation of a session that is over goes on.
func (w *Writers) tellAfterEnd(ctx context.Context, n news.Note) error {
	if len(n.Writers) > 0 {
		return w.tellConflict(ctx, writerAfterEnd, n)
	}
	text := w.words.Say(i18n.GhostUnseen, w.chat.StateArgs(n.Session))
	return w.chat.For(n.Session.ID).Say(ctx, n.Session.Conversation, text)
}

func (w *Writers) tellConflict(ctx context.Context, k kind, n news.Note) error {
	c := conflict{kind: k, resume: chat.Resume{Session: n.Session}, writers: n.Writers}
	return w.post(ctx, c, nil, n.Session.Conversation, 0)
}

// post posts the message about writers under lines of what was done before. The asker may cancel
// what was asked for.
func (w *Writers) post(ctx context.Context, c conflict, before []string, to address.Conversation, asker int64) error {
	text, options := w.look(c, false, asker)
	text = chat.Resume{Before: before}.Above(text)
	look := card.Look{To: to, Session: c.session().ID, Text: text, Options: options}
	return w.cards.Post(ctx, look, c.shown())
}

// tellTransferred lets a session take the place of the session whose conversation it goes on with,
// and tells so where nobody has asked for it.
func (w *Writers) tellTransferred(ctx context.Context, n news.Note) error {
	if n.From.ID != uuid.Nil {
		if err := w.book.ReplaceCurrent(ctx, n.From.ID, n.Session.ID); err != nil {
			return err
		}
		w.reader.Follow(n.From) // which has nothing to read any more
	}
	w.reader.Follow(n.Session)
	if n.Asked {
		return nil
	}
	text := adoptedText(w.words, i18n.Moved, n.Session, n.Session.Window)
	return w.chat.For(n.Session.ID).Say(ctx, n.Session.Conversation, text)
}
