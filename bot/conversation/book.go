package conversation

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/internal/naming"
	"ccbot/port"
)

// Book finds the session that a person means in what is known of conversations.
type Book struct {
	*Store
	Access
	Records port.Views
	// Move has a session shown in another conversation.
	Move func(ctx context.Context, session uuid.UUID, to address.Conversation) error
	// OnCurrent is told which session is the current one of a conversation now, and OnShown of a session that is shown
	// in another conversation now. Both may be told twice, and call no session: sessions tell their news while they work.
	OnCurrent func(ctx context.Context, to address.Conversation, id uuid.UUID) error
	OnShown   func(r port.Session) error
	// Place gives where a session is shown that a person starts or resumes in a place: there, or in a topic
	// of the session's own. asked names what asks for it: asked again for that, the place is the same. A
	// session that is about to start has no id yet.
	Place func(ctx context.Context, to address.Conversation, r port.Session, asked string) (address.Conversation, error)
}

// CurrentSession is the session that a text in a conversation goes to; false: there is none.
func (b *Book) CurrentSession(to address.Conversation) (port.Session, bool) {
	return b.Records.Get(b.Current(to))
}

// CurrentID is the id of the current session; uuid.Nil where there is none.
func (b *Book) CurrentID(to address.Conversation) uuid.UUID {
	now, _ := b.CurrentSession(to) // the zero session where there is none
	return now.ID
}

// IsCurrent reports whether a session is the current one of a conversation.
func (b *Book) IsCurrent(to address.Conversation, r port.Session) bool {
	return r.ID != uuid.Nil && b.CurrentID(to) == r.ID
}

// IsInFront reports whether a session is the one that people read in its conversation: the current
// session, or that of a topic.
func (b *Book) IsInFront(r port.Session) bool {
	return r.Conversation.ThreadID != 0 || b.IsCurrent(r.Conversation, r)
}

// Find gives the sessions that a person calls so, see package naming, the newest first; without an
// argument it is the current one. Of several the person has to choose, and one may fit or not; but what is
// over gives way to an open session of its name.
func (b *Book) Find(to address.Conversation, arg string, fits func(port.Session) bool) (found []port.Session) {
	if arg == "" {
		if r, ok := b.CurrentSession(to); ok {
			found = append(found, r)
		}
		return found
	}
	named := func(r port.Session) naming.Named {
		return naming.Named{ID: r.ID, Name: r.Name, Former: r.FormerNames, Other: []uuid.UUID{r.ClaudeSessionID}}
	}
	means := naming.Find(b.Records.List(), arg, named, fits)
	slices.Reverse(means)
	all := slices.Clone(means)
	return slices.DeleteFunc(means, func(r port.Session) bool {
		return slices.ContainsFunc(all, func(one port.Session) bool {
			return !r.Open && one.Open && strings.EqualFold(one.Name, r.Name) ||
				!r.Owns && one.Owns && one.ClaudeSessionID == r.ClaudeSessionID
		})
	})
}

// Message is a person's message as far as it says which session the person means.
type Message struct {
	To      address.Conversation
	ReplyTo int  // the message that it answers; 0: none
	OfBot   bool // that message is one of ours
}

// Inside gives the place of a message, and the number that the message has there.
func (b *Book) Inside(m *models.Message) (to address.Conversation, message int) {
	to = inbox.ConversationOf(m)
	to.ChatID, message = b.Aliases.In(m.Chat.ID, m.ID)
	return to, message
}

// Read gives where a message is and what it answers, and its number there. What opens a topic is
// "answered" by all messages of the topic.
func (b *Book) Read(m *models.Message, username string) (q Message, message int) {
	q.To, message = b.Inside(m)
	if to := m.ReplyToMessage; to != nil {
		_, q.ReplyTo = b.Aliases.In(cmp.Or(to.Chat.ID, m.Chat.ID), to.ID)
		q.OfBot = to.From != nil && to.From.IsBot && to.ForumTopicCreated == nil && strings.EqualFold(to.From.Username, username)
	}
	return q, message
}

// Sent notes which message a place has, of a session or of none. One that has waited since before its
// session was forgotten names the session no more.
func (b *Book) Sent(to address.Conversation, message int, session uuid.UUID) error {
	if _, known := b.Records.Get(session); !known && session != uuid.Nil {
		session = uuid.Max
	}
	return b.NoteMessage(to, message, session)
}

// Target is the session that a message goes to: the session whose message it answers, else the
// current one. There is none where that session is forgotten, or where it is unknown which session
// is meant: the text was not meant for another.
func (b *Book) Target(q Message) (port.Session, bool) {
	if r, answered, known := b.Answered(q); answered {
		return r, known
	}
	now, ok := b.CurrentSession(q.To)
	if !ok || b.Unsure(q, now) {
		return port.Session{}, false
	}
	return now, true
}

// Unsure reports whether a message answers one of the bot's messages of which it is unknown which
// session it belongs to: that message is older than the thousand that are kept, or a crash lost its
// number. It may belong to any session that is open, so the current session is meant for sure only
// where it is open and no other session is. Messages of no session are kept, too, and an answer to
// one of them means the current session as any text does.
func (b *Book) Unsure(q Message, now port.Session) bool {
	if _, known := b.ownerOf(q.To, q.ReplyTo); known || q.ReplyTo == 0 || !q.OfBot {
		return false
	}
	others := func(r port.Session) bool { return r.ID != now.ID && r.Live }
	return !now.Live || slices.ContainsFunc(b.Records.List(), others)
}

// Answered is the session whose message a person answers; known reports whether there still is a
// record of it. Commands without a name mean that session, too.
func (b *Book) Answered(q Message) (r port.Session, answered, known bool) {
	id, ok := b.SessionOf(q.To, q.ReplyTo)
	if !ok {
		return port.Session{}, false, false
	}
	r, known = b.Records.Get(id)
	return r, true, known
}

// FindFor is Find for a command that may answer a session's message.
func (b *Book) FindFor(q Message, arg string, fits func(port.Session) bool) []port.Session {
	if arg == "" {
		switch r, answered, known := b.Answered(q); {
		case known:
			return []port.Session{r}
		case answered:
			return nil
		}
	}
	return b.Find(q.To, arg, fits)
}

// MakeCurrent makes a session the current one of a conversation.
func (b *Book) MakeCurrent(ctx context.Context, to address.Conversation, id uuid.UUID) error {
	if err := b.SetCurrent(to, id); err != nil {
		return err
	}
	return b.OnCurrent(ctx, to, id)
}

// MoveTo shows a session in a conversation from now on, or in the session's own topic there.
func (b *Book) MoveTo(ctx context.Context, to address.Conversation, r port.Session) error {
	if to = b.Home(to, r); r.Conversation == to {
		return nil
	}
	if err := b.Move(ctx, r.ID, to); err != nil {
		return err
	}
	return b.OnShown(r)
}

// Use makes a session the current one of a conversation, and shows it there from now on: a session
// is shown in one place, where it was last used, or in its own topic there.
func (b *Book) Use(ctx context.Context, to address.Conversation, r port.Session) error {
	to = b.Home(to, r)
	if err := b.MoveTo(ctx, to, r); err != nil {
		return err
	}
	return b.MakeCurrent(ctx, to, r.ID)
}

// SettleCurrent makes one of the sessions that came back the current one, the last one first, where
// no open session is the current one. In a conversation whose damaged file was set aside at this start
// a person chooses: which session was the current one is unknown.
func (b *Book) SettleCurrent(ctx context.Context, to address.Conversation, back []port.Session) error {
	if now, _ := b.CurrentSession(to); now.Live || slices.Contains(b.Damaged(), to) {
		return nil
	}
	for _, r := range slices.Backward(back) {
		if r, ok := b.Records.Get(r.ID); ok && r.Live {
			return b.MakeCurrent(ctx, to, r.ID)
		}
	}
	return nil
}

// Access says who may speak.
type Access struct{ lists atomic.Pointer[Lists] }

// Lists are those who may speak.
type Lists struct {
	People map[int64]bool
	Groups map[int64]bool // groups in which those people may speak; private chats need none
}

// Admit makes these the lists, also while the program runs: whoever is not on them is heard no more.
func (a *Access) Admit(l Lists) { a.lists.Store(&l) }

// IsAllowed reports whether a person is on the list.
func (a *Access) IsAllowed(person int64) bool { return a.lists.Load().People[person] }

// Several reports whether more than one person may speak.
func (a *Access) Several() bool { return len(a.lists.Load().People) > 1 }

// ListsGroup reports whether a group is on the list by this very number.
func (a *Access) ListsGroup(chat int64) bool { return a.lists.Load().Groups[chat] }

// Hears reports whether a person may speak in a chat: an allowed person, in a private chat or in an
// allowed group. Anybody else gets nothing at all: no answer, no reaction, not even the end of a
// tap's waiting.
func (b *Book) Hears(person int64, chat models.Chat) bool {
	return b.IsAllowed(person) && (chat.Type == models.ChatTypePrivate || b.InGroup(chat.ID))
}

// MayShow reports whether a conversation still belongs to people who are allowed. People who were
// taken off the list get nothing more.
func (b *Book) MayShow(to address.Conversation) bool {
	return b.IsAllowed(to.ChatID) || b.InGroup(to.ChatID)
}

// InGroup reports whether a chat is an allowed group, by any number that the group has had.
func (b *Book) InGroup(chat int64) bool {
	return slices.ContainsFunc(b.Aliases.Numbers(chat), b.ListsGroup)
}

// PrivateChats are the private chats that are known of allowed people, in a fixed order.
func (b *Book) PrivateChats() (all []address.Conversation) {
	shown := each.As(b.Records.List(), func(r port.Session) address.Conversation { return r.Conversation })
	for _, to := range append(b.All(), shown...) {
		one := address.Conversation{ChatID: to.ChatID}
		if b.IsAllowed(to.ChatID) && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, compare)
	return all
}

// compare orders conversations by chat and topic.
func compare(a, b address.Conversation) int {
	return cmp.Or(cmp.Compare(a.ChatID, b.ChatID), cmp.Compare(a.ThreadID, b.ThreadID))
}

// Topic is what is kept of a topic that the bot has opened for a session.
type Topic struct {
	For  string `json:"for"`            // what asked for it: the key of a message, or the id of a session
	Name string `json:"name"`           // of the session, when topic and session were last called the same
	Over bool   `json:"over,omitempty"` // its icon says that its session is over
}

// NoteTopic keeps what is known of a topic of the bot's.
func (c *Store) NoteTopic(at address.Conversation, t Topic) error {
	return c.change(at, func(f *file) { f.Topic = &t })
}

// Topic is what is kept of a topic; false: the bot has not opened it.
func (c *Store) Topic(at address.Conversation) (Topic, bool) {
	if t := c.read(at).Topic; t != nil {
		return *t, true
	}
	return Topic{}, false
}

// NoteTopicsRefused keeps whether a chat was told that the bot may open no topics there.
func (c *Store) NoteTopicsRefused(chat int64, told bool) error {
	at := address.Conversation{ChatID: chat}
	if c.TopicsRefused(chat) == told {
		return nil
	}
	return c.change(at, func(f *file) { f.NoTopics = told })
}

// TopicsRefused reports whether a chat was told that the bot may open no topics there.
func (c *Store) TopicsRefused(chat int64) bool {
	return c.read(address.Conversation{ChatID: chat}).NoTopics
}

// OpenedFor is the topic of a chat that was opened for what asked for it.
func (c *Store) OpenedFor(chat int64, asked string) (at address.Conversation, known bool) {
	for _, at := range c.All() {
		if t, ours := c.Topic(at); ours && at.ChatID == chat && t.For == asked {
			return at, true
		}
	}
	return at, false
}

// TopicOf is the topic of a chat that belongs to a session: the one that shows it, or one where it is the
// current session.
func (b *Book) TopicOf(chat int64, r port.Session) (at address.Conversation, known bool) {
	for _, at := range b.All() {
		if at.ChatID == chat && at.ThreadID != 0 && b.IsCurrent(at, r) {
			return at, true
		}
	}
	return at, false
}

// Home is where a session is shown that a person uses in a place: in the session's own topic, if it has
// one in that chat. A topic that was opened for another session stays that session's alone.
func (b *Book) Home(to address.Conversation, r port.Session) address.Conversation {
	if r.Conversation == to {
		return to
	}
	if own, known := b.TopicOf(to.ChatID, r); known {
		return own
	}
	if _, ours := b.Topic(to); ours && b.CurrentID(to) != uuid.Nil && !b.IsCurrent(to, r) {
		to.ThreadID = 0
	}
	return to
}
