package conversation

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/internal/naming"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Book finds the session that a person means.
type Book struct {
	*Store
	Access
	Records port.Views
	// Move shows a session in another conversation. Only move calls it.
	Move func(ctx context.Context, session uuid.UUID, to address.Conversation, since port.MoveSince) error
	// The rest is set by bot.New, because the features that it asks need the Book themselves.

	// OnCurrent is called when a session becomes the current one of a conversation, and OnShown
	// when a session has moved to another conversation. Both may be called twice, and must not call
	// a session, which sends news while it works.
	OnCurrent func(ctx context.Context, to address.Conversation, id uuid.UUID) error
	OnShown   func(r port.Session) error
	// OnLeft is called when people have taken a session to another chat from a place where others read it.
	// by is the person; 0: unknown.
	OnLeft func(ctx context.Context, r port.Session, to address.Conversation, by int64) error
	// Refuses reports whether a chat refuses the messages of this bot.
	Refuses func(chat int64) bool
	// Place returns where a session is shown that a person starts or resumes in to: there, or in a
	// topic for the session. For the same asked it returns the same place. A session that has not
	// started has no id yet.
	Place func(ctx context.Context, to address.Conversation, r port.Session, asked string) (address.Conversation, error)
}

// Known returns the sessions that the chat knows, oldest first. A machine that has not answered yet
// may have more, so a missing session proves nothing.
func (b *Book) Known() []port.Session {
	all, _ := b.Records.List()
	return all
}

// The pauses before the sessions of a machine that has not answered are read again. After a start
// of the chat the others answer soon, and what their agents say must not wait.
const (
	firstReadAgain   = 500 * time.Millisecond
	longestReadAgain = 30 * time.Second
)

// ReadAll calls do with the known sessions, and again until each machine has answered or ctx ends.
func (b *Book) ReadAll(ctx context.Context, do func(known []port.Session)) {
	for tries := 0; ; tries++ {
		all, err := b.Records.List()
		if do(all); err == nil || pause.For(ctx, pause.Doubled(firstReadAgain, longestReadAgain, tries)) != nil {
			return
		}
	}
}

// LatestEnd sorts sessions by their end, the latest first.
func LatestEnd(list []port.Session) []port.Session {
	slices.SortStableFunc(list, func(x, y port.Session) int { return y.EndedAt.Compare(x.EndedAt) })
	return list
}

// CurrentSession returns the session that gets the texts of a person in a conversation; false if there
// is none. by is the person; 0: nobody is known. Where several people share a chat, it is what this
// person has chosen, or else the chat's only open session, and never another person's.
func (b *Book) CurrentSession(to address.Conversation, by int64) (port.Session, bool) {
	if by == 0 || !b.IsShared(to) {
		return b.Records.Get(b.Current(to))
	}
	if own, chosen := b.read(to).Own[by]; chosen {
		return b.Records.Get(own)
	}
	all, err := b.Records.List()
	others := func(r port.Session) bool { return r.Conversation != to || !r.State.Live() }
	here := slices.DeleteFunc(slices.Clone(all), others)
	if err != nil || len(here) != 1 { // a machine that has not answered may have another one
		return port.Session{}, false
	}
	return here[0], true
}

// CurrentID returns the id of a person's current session, or uuid.Nil.
func (b *Book) CurrentID(to address.Conversation, by int64) uuid.UUID {
	now, _ := b.CurrentSession(to, by) // zero if there is none
	return now.ID
}

// IsCurrent reports whether a session is the current one of a person in a conversation.
func (b *Book) IsCurrent(to address.Conversation, by int64, r port.Session) bool {
	return r.ID != uuid.Nil && b.CurrentID(to, by) == r.ID
}

// IsShared reports whether each person of a conversation has an own current session: it is the plain
// chat of a group in which several people have written or chosen a session.
func (b *Book) IsShared(to address.Conversation) bool {
	if to.ChatID > 0 || to.ThreadID != 0 {
		return false
	}
	wrote := b.PeopleOf(to.ChatID)
	people := len(wrote)
	for by := range b.read(to).Own {
		if _, counted := wrote[by]; !counted && b.IsAllowed(by) {
			people++
		}
	}
	return people > 1
}

// IsAnyones reports whether a session is the current one of a conversation for anybody there.
func (b *Book) IsAnyones(to address.Conversation, r port.Session) bool {
	if b.IsCurrent(to, 0, r) {
		return true
	}
	return r.ID != uuid.Nil && b.IsShared(to) && slices.Contains(slices.Collect(maps.Values(b.read(to).Own)), r.ID)
}

// IsInFront reports whether people read the session in its conversation: it is the current one for
// anybody, or has a topic.
func (b *Book) IsInFront(r port.Session) bool {
	return r.Conversation.ThreadID != 0 || b.IsAnyones(r.Conversation, r)
}

// Find returns the sessions with a name, newest first, see package naming; without an argument, the
// current one of the person. The person must choose one of several. An ended session is omitted if an
// open one has its name.
func (b *Book) Find(to address.Conversation, by int64, arg string, fits func(port.Session) bool) (found []port.Session) {
	if arg == "" {
		if r, ok := b.CurrentSession(to, by); ok {
			found = append(found, r)
		}
		return found
	}
	named := func(r port.Session) naming.Named {
		former := r.FormerNames
		if r.Machine != "" { // its name there is enough
			_, there, _ := strings.Cut(r.Name, ":")
			former = append(slices.Clip(former), there)
		}
		return naming.Named{ID: r.ID, Name: r.Name, Former: former, Other: []uuid.UUID{r.AgentSessionID}}
	}
	means := naming.Find(b.Known(), arg, named, fits)
	slices.Reverse(means)
	all := slices.Clone(means)
	return slices.DeleteFunc(means, func(r port.Session) bool {
		return slices.ContainsFunc(all, func(one port.Session) bool {
			return !r.State.Open() && one.State.Open() && strings.EqualFold(one.Name, r.Name) ||
				!r.Owns && one.Owns && one.AgentSessionID == r.AgentSessionID
		})
	})
}

// Message identifies the session that a person's message is for.
type Message struct {
	To      address.Conversation
	ReplyTo int  // the message it replies to; 0 for none
	OfBot   bool // that message is this bot's
	// Unclear means that the message it replies to may be a question, and it is unknown which one.
	Unclear bool
}

// Inside returns the place of a message, and its number there.
func (b *Book) Inside(m *models.Message) (to address.Conversation, message int) {
	to = inbox.ConversationOf(m)
	to.ChatID, message = b.Aliases.In(m.Chat.ID, m.ID)
	return to, message
}

// Read returns the place of a message, the message it replies to, and its number. All messages of a
// topic reply to the message that opened it, which therefore does not count as the bot's.
func (b *Book) Read(m *models.Message, username string) (q Message, message int) {
	q.To, message = b.Inside(m)
	if to := m.ReplyToMessage; to != nil {
		_, q.ReplyTo = b.Aliases.In(cmp.Or(to.Chat.ID, m.Chat.ID), to.ID)
		q.OfBot = to.From != nil && to.From.IsBot && to.ForumTopicCreated == nil && strings.EqualFold(to.From.Username, username)
	}
	return q, message
}

// Sent stores that a message belongs to a session, or to none. A forgotten session is replaced by
// uuid.Max.
func (b *Book) Sent(to address.Conversation, message int, session uuid.UUID) error {
	return b.SentPart(to, message, session, talk.Cursor{})
}

// SentPart is Sent for a message that shows a part of the session's transcript; at is the position
// after that part.
func (b *Book) SentPart(to address.Conversation, message int, session uuid.UUID, at talk.Cursor) error {
	if _, known := b.Records.Get(session); !known && session != uuid.Nil {
		session, at = uuid.Max, talk.Cursor{}
	}
	return b.NoteSent(to, message, session, at)
}

// DropCursor forgets the position of an ended session. The record of a live one has the position
// only with its next save, and a session that is not known may be of a silent machine.
func (b *Book) DropCursor(id uuid.UUID) error {
	if r, known := b.Records.Get(id); !known || r.State.Live() {
		return nil
	}
	return b.Cursors().Drop(id)
}

// Target returns the session that a person's message goes to: the session of the message it replies
// to, otherwise the current one. It returns false if that session is forgotten or unknown, because the
// text was not meant for another one.
func (b *Book) Target(q Message, by int64) (port.Session, bool) {
	if r, answered, known := b.Answered(q); answered {
		return r, known
	}
	now, ok := b.CurrentSession(q.To, by)
	if !ok || b.Unsure(q, now) {
		return port.Session{}, false
	}
	return now, true
}

// Knows reports whether a message of the bot is stored, of a session or of none.
func (b *Book) Knows(to address.Conversation, message int) bool {
	_, known := b.ownerOf(to, message)
	return known
}

// Unsure reports whether a message replies to one of the bot's messages whose session is unknown:
// it is older than the stored thousand, or a crash lost its number. Any open session may own it, so
// the current one is certain only if no other session is open. Messages of no session are also
// stored; a reply to one is for the current session.
func (b *Book) Unsure(q Message, now port.Session) bool {
	if q.ReplyTo == 0 || !q.OfBot || b.Knows(q.To, q.ReplyTo) {
		return false
	}
	others := func(r port.Session) bool { return r.ID != now.ID && r.State.Live() }
	all, err := b.Records.List()
	return err != nil || !now.State.Live() || slices.ContainsFunc(all, others)
}

// Answered returns the session of the message that a person replies to; known reports whether its
// record exists, and whether the message is clear. Commands without a name also mean that session.
func (b *Book) Answered(q Message) (r port.Session, answered, known bool) {
	if q.Unclear {
		return port.Session{}, true, false
	}
	id, ok := b.SessionOf(q.To, q.ReplyTo)
	if !ok {
		return port.Session{}, false, false
	}
	r, known = b.Records.Get(id)
	return r, true, known
}

// FindFor is Find for a command that may reply to a session's message. In a reply to an unclear
// message a command means the current session.
func (b *Book) FindFor(q Message, by int64, arg string, fits func(port.Session) bool) []port.Session {
	q.Unclear = false
	if arg == "" {
		switch r, answered, known := b.Answered(q); {
		case known:
			return []port.Session{r}
		case answered:
			return nil
		}
	}
	return b.Find(q.To, by, arg, fits)
}

// MakeCurrent makes a session the current one of a conversation, for the person who has chosen it; 0:
// nobody is known.
func (b *Book) MakeCurrent(ctx context.Context, to address.Conversation, by int64, id uuid.UUID) error {
	if err := b.SetCurrentOf(to, by, id); err != nil {
		return err
	}
	return b.OnCurrent(ctx, to, id)
}

// AtBorder is the error of a move that nobody has agreed to: the session has said something in another
// chat, and the members of a group could read that then. A person is asked first.
type AtBorder struct {
	Session port.Session
	To      address.Conversation
}

func (e *AtBorder) Error() string { return "a group could read what was said in another chat" }

// MayEnter returns an AtBorder if a person is asked before a session is shown in a place. One person
// alone asked for it himself.
func (b *Book) MayEnter(to address.Conversation, r port.Session) error {
	r = b.present(r)
	if !b.Several() || !r.HasWords() || b.isSame(r.Conversation, to) || r.Next.ChatID == to.ChatID || !address.Enters(r.Conversation, to) {
		return nil
	}
	return &AtBorder{r, to}
}

// isSame reports whether two places are of one chat, by any number that it has had.
func (b *Book) isSame(a, c address.Conversation) bool {
	return slices.Contains(b.Aliases.Numbers(a.ChatID), c.ChatID)
}

// MoveTo moves a session to a conversation, or to the session's topic there, unless a person is asked
// first: see MayEnter.
func (b *Book) MoveTo(ctx context.Context, to address.Conversation, r port.Session) error {
	if err := b.MayEnter(to, r); err != nil {
		return err
	}
	return b.move(ctx, to, r, max(to.ChatID, 0)) // a private chat is that of the person who takes it
}

// EnterAgreed is MoveTo after a person was asked and has agreed.
func (b *Book) EnterAgreed(ctx context.Context, to address.Conversation, r port.Session, by int64) error {
	return b.move(ctx, to, r, by)
}

// present returns a session as it is now, if it is still known.
func (b *Book) present(r port.Session) port.Session {
	if now, known := b.Records.Get(r.ID); known {
		return now
	}
	return r
}

// move alone moves sessions. What other people read stays with them until the next turn, and they
// hear of it. Nobody reads a chat that refuses messages: a request of the running turn comes along.
func (b *Book) move(ctx context.Context, to address.Conversation, r port.Session, by int64) error {
	r = b.present(r)
	to = b.Home(to, r)
	isRead := b.MayShow(r.Conversation) && !b.Refuses(r.Conversation.ChatID)
	if to == r.Next && isRead || to == r.Conversation && r.Next.ChatID == 0 {
		return nil
	}
	since, left := port.AtOnce, false
	if b.Several() && isRead && !b.isSame(r.Conversation, to) && r.HasWords() {
		since, left = port.NextTurn, r.Next.ChatID != to.ChatID
	}
	if to == r.Conversation {
		since = port.NextTurn // it only stays
	}
	if err := b.Move(ctx, r.ID, to, since); err != nil {
		return err
	}
	err := b.OnShown(r)
	if left {
		err = errors.Join(err, b.OnLeft(ctx, r, to, by))
	}
	return err
}

// Follow moves a session to where its next prompt was written, if its machine, of an earlier version, does not do so when it types that
// prompt. If it does not answer, the prompt waits all the same.
func (b *Book) Follow(ctx context.Context, to address.Conversation, r port.Session) error {
	if r.TakesPlaces {
		return nil
	}
	err := b.MoveTo(ctx, to, r)
	if refusal.MachineOf(err) != "" || refusal.Is(err, refusal.Unreachable) {
		return nil
	}
	return err
}

// Use makes a session the current one of a person in a conversation, and moves it there: a session is
// shown in one place, where it was last used, or in its topic there.
func (b *Book) Use(ctx context.Context, to address.Conversation, by int64, r port.Session) error {
	to = b.Home(to, r)
	if err := b.MoveTo(ctx, to, r); err != nil {
		return err
	}
	return b.MakeCurrent(ctx, to, by, r.ID)
}

// BringHome moves a session of a place that may not be shown anything to a person's private chat.
func (b *Book) BringHome(ctx context.Context, r port.Session, person int64) error {
	if b.MayShow(r.Conversation) {
		return nil
	}
	return b.MoveTo(ctx, address.Conversation{ChatID: person}, r)
}

// SettleCurrent makes the last of the resumed sessions the current one of a person, unless an open
// session is. If the conversation's damaged file was set aside at this start, a person chooses: the
// previous current session is unknown.
func (b *Book) SettleCurrent(ctx context.Context, to address.Conversation, by int64, back []port.Session) error {
	if now, _ := b.CurrentSession(to, by); now.State.Live() || slices.Contains(b.Damaged(), to) {
		return nil
	}
	for _, r := range slices.Backward(back) {
		if r, ok := b.Records.Get(r.ID); ok && r.State.Live() {
			return b.MakeCurrent(ctx, to, by, r.ID)
		}
	}
	return nil
}

// Access holds the lists of allowed people and groups.
type Access struct {
	lists atomic.Pointer[Lists]
	left  atomic.Bool
}

// Lists are the allowed people and groups.
type Lists struct {
	People map[int64]bool
	Groups map[int64]bool // groups in which those people may speak; private chats need no entry
}

// Admit replaces the lists, also at run time: messages of others are then ignored.
func (a *Access) Admit(l Lists) {
	if was := a.lists.Swap(&l); was != nil && slices.ContainsFunc(slices.Collect(maps.Keys(was.People)), func(person int64) bool { return !l.People[person] }) {
		a.left.Store(true)
	}
}

// HasLeft reports whether a person was taken off the list at run time.
func (a *Access) HasLeft() bool { return a.left.Load() }

// Allowed returns the lists, which must not be changed.
func (a *Access) Allowed() Lists { return *a.lists.Load() }

// IsAllowed reports whether a person is on the list.
func (a *Access) IsAllowed(person int64) bool { return a.lists.Load().People[person] }

// Several reports whether more than one person may speak.
func (a *Access) Several() bool { return len(a.lists.Load().People) > 1 }

// ListsGroup reports whether a group is on the list with this number.
func (a *Access) ListsGroup(chat int64) bool { return a.lists.Load().Groups[chat] }

// IsAuthorized reports whether a person may speak in a chat: an allowed person, in a private chat
// or in an allowed group. Others get no response at all: no answer, no reaction, not even the end
// of a tap's spinner.
func (b *Book) IsAuthorized(person int64, chat models.Chat) bool {
	return b.IsAllowed(person) && (chat.Type == models.ChatTypePrivate || b.InGroup(chat.ID))
}

// MayShow reports whether a conversation belongs to allowed people. People removed from the list
// get nothing more.
func (b *Book) MayShow(to address.Conversation) bool {
	return b.IsAllowed(to.ChatID) || b.InGroup(to.ChatID)
}

// MayAct reports whether something that a person has planned may still be done: the person and the
// place that shows the session are allowed. A plan that names nobody (0) depends on its place alone,
// which in a private chat is its person. A session without a place is used at the desk only.
func (b *Book) MayAct(by int64, at address.Conversation) bool {
	return (by == 0 || b.IsAllowed(by)) && (at.ChatID == 0 || b.MayShow(at))
}

// Seen returns where allowed people see what is reported about a session in a place: there, or, if
// the place may not be shown anything, in each private chat.
func (b *Book) Seen(at address.Conversation) []address.Conversation {
	if b.MayShow(at) {
		return []address.Conversation{at}
	}
	return b.PrivateChats()
}

// InGroup reports whether a chat is an allowed group, by any number that the group has had.
func (b *Book) InGroup(chat int64) bool {
	return slices.ContainsFunc(b.Aliases.Numbers(chat), b.ListsGroup)
}

// PrivateChats returns the known private chats of allowed people, in a fixed order.
func (b *Book) PrivateChats() (all []address.Conversation) {
	shown := each.As(b.Known(), func(r port.Session) address.Conversation { return r.Conversation })
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

// Topic describes a topic that the bot has opened for a session.
type Topic struct {
	For   string `json:"for"`             // its subject: the key of a message, or the id of a session
	Name  string `json:"name"`            // of the session, when topic and session last had the same name
	Ended bool   `json:"ended,omitempty"` // its icon shows that its session has ended
}

// NoteTopic stores a topic of the bot.
func (c *Store) NoteTopic(at address.Conversation, t Topic) error {
	return c.change(at, func(f *file) { f.Topic = &t })
}

// Topic returns a stored topic; false if the bot has not opened it.
func (c *Store) Topic(at address.Conversation) (Topic, bool) {
	if t := c.read(at).Topic; t != nil {
		return *t, true
	}
	return Topic{}, false
}

// NoteTopicsRefused stores whether a chat was notified that the bot may not open topics there.
func (c *Store) NoteTopicsRefused(chat int64, reported bool) error {
	at := address.Conversation{ChatID: chat}
	if c.TopicsRefused(chat) == reported {
		return nil
	}
	return c.change(at, func(f *file) { f.NoTopics = reported })
}

// NoteAnonymous stores that the private chats were told about anonymous messages in a group.
func (c *Store) NoteAnonymous(group int64) error {
	return c.change(address.Conversation{ChatID: group}, func(f *file) { f.Anonymous = true })
}

// AnonymousSaid reports whether the private chats were told about anonymous messages in a group.
func (c *Store) AnonymousSaid(group int64) bool {
	return c.read(address.Conversation{ChatID: group}).Anonymous
}

// TopicsRefused reports whether a chat was notified that the bot may not open topics there.
func (c *Store) TopicsRefused(chat int64) bool {
	return c.read(address.Conversation{ChatID: chat}).NoTopics
}

// OpenedFor returns the topic of a chat with Topic.For equal to asked.
func (c *Store) OpenedFor(chat int64, asked string) (at address.Conversation, known bool) {
	for _, at := range c.All() {
		if t, ours := c.Topic(at); ours && at.ChatID == chat && t.For == asked {
			return at, true
		}
	}
	return at, false
}

// TopicOf returns the topic of a chat in which a session is the current one.
func (b *Book) TopicOf(chat int64, r port.Session) (at address.Conversation, known bool) {
	for _, at := range b.All() {
		if at.ChatID == chat && at.ThreadID != 0 && b.IsCurrent(at, 0, r) {
			return at, true
		}
	}
	return at, false
}

// Home returns where a session is shown that a person uses in a place: in the session's topic, if
// it has one in that chat. A topic of another session stays that session's.
func (b *Book) Home(to address.Conversation, r port.Session) address.Conversation {
	if r.Conversation == to {
		return to
	}
	if own, known := b.TopicOf(to.ChatID, r); known {
		return own
	}
	if _, ours := b.Topic(to); ours && b.CurrentID(to, 0) != uuid.Nil && !b.IsCurrent(to, 0, r) {
		to.ThreadID = 0
	}
	return to
}

// AskedAt returns the time from which the words of a message count: when it was sent, or now if
// that is unknown or ahead of this machine's clock.
func AskedAt(sent, now time.Time) time.Time {
	if sent.Unix() <= 0 || sent.After(now) {
		return now
	}
	return sent
}

// SeenIn returns what a chat sees of a session.
func (b *Book) SeenIn(to address.Conversation, r port.Session) (seen port.Session, hidden bool) {
	if b.Veils(to, r.Conversation) {
		return r.Veiled(), true
	}
	return r, false
}

// IsHidden reports whether a list that nobody asked about one session has no texts of it in a chat. A
// group gets only the texts of its own sessions. See Veils for pages of a session that a person named.
func IsHidden(r port.Session, to address.Conversation) bool {
	return to.ChatID < 0 && r.Conversation.ChatID != to.ChatID
}

// Veils reports whether a place gets no words of another chat: a group of a bot of several people. One
// person alone, who names a session there, reads it there.
func (b *Book) Veils(to, other address.Conversation) bool {
	return b.Several() && to.ChatID < 0 && other.ChatID != to.ChatID
}
