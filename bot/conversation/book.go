package conversation

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/port/views"
	"ccbot/internal/address"
	"ccbot/internal/naming"
)

// Book finds the session that a person means in what is known of conversations.
type Book struct {
	*Store
	Access
	Records views.Views
	views.Successors
	// Move has a session shown in another conversation.
	Move   func(ctx context.Context, session uuid.UUID, to address.Conversation) error
	Events Events
	// Place gives where a session is shown that a person starts or resumes in a place: there, or in a topic
	// of the session's own. asked names what asks for it: asked again for that, the place is the same. A
	// session that is about to start has no id yet.
	Place func(ctx context.Context, to address.Conversation, r views.Session, asked string) (address.Conversation, error)
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

// Find gives the sessions that a person calls so, see package naming, the newest first; without an
// argument it is the current one. Sessions with one name are one: the newest, of those that fit where
// any does. So of several the person has to choose, and one may fit or not. A session whose conversation
// another session goes on with leads to that session.
func (b *Book) Find(to address.Conversation, arg string, fits func(views.Session) bool) (found []views.Session, err error) {
	if arg == "" {
		r, ok, err := b.CurrentSession(to)
		if !ok || err != nil {
			return nil, err
		}
		return []views.Session{r}, nil
	}
	named := func(r views.Session) naming.Named {
		return naming.Named{ID: r.ID, Name: r.Name, Former: r.FormerNames, Other: []uuid.UUID{r.ClaudeSessionID}}
	}
	means := naming.Find(b.Records.List(), arg, named, func(r views.Session) bool { return fits(b.Successor(r)) })
	for _, r := range slices.Backward(means) {
		r = b.Successor(r)
		if !slices.ContainsFunc(found, func(one views.Session) bool { return strings.EqualFold(one.Name, r.Name) }) {
			found = append(found, r)
		}
	}
	return found, nil
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
func (b *Book) FindFor(q Message, arg string, fits func(views.Session) bool) ([]views.Session, error) {
	if arg == "" {
		switch r, answered, known := b.Answered(q); {
		case known:
			return []views.Session{r}, nil
		case answered:
			return nil, nil
		}
	}
	return b.Find(q.To, arg, fits)
}
