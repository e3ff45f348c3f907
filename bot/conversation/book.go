package conversation

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/port/views"
	"ccbot/internal/address"
)

// Book finds the session that a person means in what is known of conversations.
type Book struct {
	*Store
	Access
	Records views.Views
	// Move has a session shown in another conversation.
	Move   func(ctx context.Context, session uuid.UUID, to address.Conversation) error
	Events Events
}

// CurrentSession is the session that a text in a conversation goes to; false: there is none.
func (b *Book) CurrentSession(to address.Conversation) (views.Session, bool, error) {
	id, err := b.Current(to)
	if err != nil {
		return views.Session{}, false, err
	}
	r, ok := b.Records.Get(id)
	return b.Successor(r), ok, nil
}

// CurrentID is the id of the current session; uuid.Nil where there is none, or where that cannot be
// read.
func (b *Book) CurrentID(to address.Conversation) uuid.UUID {
	now, _, _ := b.CurrentSession(to) // the zero session where there is none
	return now.ID
}

// IsCurrent reports whether a session is the current one of a conversation.
func (b *Book) IsCurrent(to address.Conversation, r views.Session) bool {
	now := b.CurrentID(to)
	return now != uuid.Nil && now == b.Successor(r).ID
}

// IsInFront reports whether a session is the one that people read in its conversation: the current
// session, or that of a topic.
func (b *Book) IsInFront(r views.Session) bool {
	return r.Conversation.ThreadID != 0 || b.IsCurrent(r.Conversation, r)
}

// Successor is the session that goes on with the conversation of r: r itself where no session took
// it over, or where that session is not known any more.
func (b *Book) Successor(r views.Session) views.Session {
	return views.Successor(b.Records.List(), r)
}

// Find looks a session up by name or by the beginning of its id; without an argument it is the
// current one. Of several with the same name the newest that fits counts. A session whose
// conversation another session goes on with leads to that session.
func (b *Book) Find(to address.Conversation, arg string, fits func(views.Session) bool) (views.Session, bool, error) {
	if arg == "" {
		r, ok, err := b.CurrentSession(to)
		return r, ok && fits(r), err
	}
	all := b.Records.List()
	for _, r := range slices.Backward(all) {
		if !strings.EqualFold(r.Name, arg) && !IsIDOf(r, arg) {
			continue
		}
		if r = views.Successor(all, r); fits(r) {
			return r, true, nil
		}
	}
	return views.Session{}, false, nil
}

// IsIDOf reports whether a text is enough of a session's id to mean that session.
func IsIDOf(r views.Session, text string) bool {
	return len(text) >= 8 && strings.HasPrefix(r.ID.String(), text)
}

// Message is a person's message as far as it says which session the person means.
type Message struct {
	To      address.Conversation
	ReplyTo int  // the message that it answers; 0: none
	OfBot   bool // that message is one of ours
}

// Target is the session that a message goes to: the session whose message it answers, else the
// current one. There is none where that session is forgotten, or where it is unknown which session
// is meant: the text was not meant for another.
func (b *Book) Target(q Message) (views.Session, bool, error) {
	if r, answered, known := b.Answered(q); answered {
		return r, known, nil
	}
	now, ok, err := b.CurrentSession(q.To)
	if err != nil || !ok || b.Unsure(q, now) {
		return views.Session{}, false, err
	}
	return now, true, nil
}

// Unsure reports whether a message answers one of the bot's messages of which it is unknown which
// session it belongs to: that message is older than the thousand that are kept, or a crash lost its
// number. It may belong to any session that is open, so the current session is meant for sure only
// where it is open and no other session is. Messages of no session are kept, too, and an answer to
// one of them means the current session as any text does.
func (b *Book) Unsure(q Message, now views.Session) bool {
	if _, known := b.ownerOf(q.To, q.ReplyTo); known || q.ReplyTo == 0 || !q.OfBot {
		return false
	}
	others := func(r views.Session) bool { return r.ID != now.ID && r.Live }
	return !now.Live || slices.ContainsFunc(b.Records.List(), others)
}

// Answered is the session whose message a person answers; known reports whether there still is a
// record of it. Commands without a name mean that session, too.
func (b *Book) Answered(q Message) (r views.Session, answered, known bool) {
	id, ok := b.SessionOf(q.To, q.ReplyTo)
	if !ok {
		return views.Session{}, false, false
	}
	r, known = b.Records.Get(id)
	return b.Successor(r), true, known
}

// FindFor is Find for a command that may answer a session's message.
func (b *Book) FindFor(q Message, arg string, fits func(views.Session) bool) (views.Session, bool, error) {
	if arg == "" {
		if r, answered, known := b.Answered(q); answered {
			return r, known && fits(r), nil
		}
	}
	return b.Find(q.To, arg, fits)
}
