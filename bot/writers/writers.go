package writers

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Agents are the processes that write a conversation beside the session's own agent.
type Agents interface {
	Writers(ctx context.Context, id uuid.UUID) ([]lifecycle.Writer, error)
	EndWriters(ctx context.Context, id uuid.UUID, who []process.Identity) ([]lifecycle.Ending, error)
	Adopt(ctx context.Context, q lifecycle.AdoptRequest) (session.Record, error)
}

// Starter starts and ends sessions.
type Starter interface {
	Start(ctx context.Context, q lifecycle.StartRequest) (session.Record, error)
	Archive(ctx context.Context, id uuid.UUID, final session.State, why string) error
}

// Resumer resumes a session, and tells why a session does not come back.
type Resumer interface {
	Resume(ctx context.Context, q chat.Resume) (back bool, err error)
}

// Reader shows what the agent of a session writes.
type Reader interface {
	// Follow has what is new of a session shown.
	Follow(r session.Record)
}

// Deps are what Writers work with.
type Deps struct {
	Chat    *chat.Chat
	Agents  Agents
	Starter Starter
	Resumer Resumer
	Reader  Reader
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
}

// New returns the Writers of a chat.
func New(d Deps) *Writers {
	return &Writers{chat: d.Chat, book: d.Chat.Book, words: d.Chat.Words, agents: d.Agents, starter: d.Starter,
		resumer: d.Resumer, reader: d.Reader}
}

// Feature is what the roof knows of Writers. In the lines about buttons RESUME is a session with
// where and how to resume it, WRITERS a hash of the processes that the message shows, BY the person
// who was asked. The verbs begin with the letter of their kind; behind WRITERS may stand that
// nobody had asked.
func (w *Writers) Feature() chat.Feature {
	end := func(k kind) chat.OnTap { return w.chat.ByAsker(2, w.onWriters(k, w.endWriters)) }
	return chat.Feature{
		Name: "writers",
		Taps: map[string]chat.OnTap{
			"rsh": w.onWriters(resumeRefused, w.showDetails), // RESUME:WRITERS: show all that is known
			"ras": w.onWriters(resumeRefused, w.askEnd),      // RESUME:WRITERS: ask whether to end them
			"rdo": end(resumeRefused),                        // RESUME:WRITERS:BY: end them and resume
			"rfk": w.onWriters(resumeRefused, w.fork),        // RESUME:WRITERS: go on with a copy

			"ssh": w.onWriters(otherWriter, w.showDetails), // SESSION:WRITERS: show all that is known
			"sas": w.onWriters(otherWriter, w.askEnd),      // SESSION:WRITERS: ask whether to end them
			"sdo": end(otherWriter),                        // SESSION:WRITERS:BY: end them
			"sfk": w.onWriters(otherWriter, w.fork),        // SESSION:WRITERS: archive it, go on with a copy
			"sno": w.tapLeaveBoth,                          // SESSION: leave both

			"gsh": w.onWriters(writerAfterEnd, w.showDetails), // SESSION:WRITERS: show all that is known
			"gas": w.onWriters(writerAfterEnd, w.askEnd),      // SESSION:WRITERS: ask whether to end them
			"gdo": end(writerAfterEnd),                        // SESSION:WRITERS:BY: end them
			"gad": w.onWriters(writerAfterEnd, w.adopt),       // SESSION:WRITERS: go on where it runs
		},
		News: map[lifecycle.NoteKind]func(ctx context.Context, n lifecycle.Note) error{
			lifecycle.NoteSecondWriter: w.tellOtherWriter,
			lifecycle.NoteGhost:        w.tellAfterEnd,
			lifecycle.NoteTransferred:  w.tellTransferred,
		},
	}
}

// tellOtherWriter tells that somebody else writes a session that is open.
func (w *Writers) tellOtherWriter(ctx context.Context, n lifecycle.Note) error {
	return w.tellConflict(ctx, otherWriter, n)
}

// tellAfterEnd tells that the conversation of a session that is over goes on.
func (w *Writers) tellAfterEnd(ctx context.Context, n lifecycle.Note) error {
	if len(n.Writers) > 0 {
		return w.tellConflict(ctx, writerAfterEnd, n)
	}
	text := w.words.Say(i18n.GhostUnseen, w.chat.StateArgs(n.Session))
	return w.chat.For(n.Session.ID).Say(ctx, n.Session.Conversation, text)
}

func (w *Writers) tellConflict(ctx context.Context, k kind, n lifecycle.Note) error {
	c := conflict{kind: k, resume: chat.Resume{Session: n.Session}, writers: n.Writers}
	text, buttons := w.message(c, 0)
	return w.chat.For(n.Session.ID).Post(ctx, n.Session.Conversation, text, buttons)
}

// tellTransferred lets a session take the place of the session whose conversation it goes on with,
// and tells so where nobody has asked for it.
func (w *Writers) tellTransferred(ctx context.Context, n lifecycle.Note) error {
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
	window := ""
	if n.Session.Binding != nil {
		window = n.Session.Binding.Window
	}
	text := adoptedText(w.words, i18n.Moved, n.Session, window)
	return w.chat.For(n.Session.ID).Say(ctx, n.Session.Conversation, text)
}
