package conversation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/port/talk"
)

// Turn is what is shown in full of a session, whichever session is the current one: the turns whose
// prompts came as answers to the session's messages.
type Turn struct {
	Session uuid.UUID `json:"session"`
	// Since is when the last of these prompts was typed; zero: its turn has ended, or none was typed.
	Since time.Time `json:"since,omitzero"`
	// Prompts are the keys of prompts that are not typed yet, the oldest first. The turn of each begins
	// when it is typed: until then it may wait for long, or be dropped.
	Prompts []string `json:"prompts,omitempty"`
}

// maxReplies bounds Turn.Prompts. The oldest of more were dropped, or wait behind all others.
const maxReplies = 100

// NotePrompt keeps that a person's message is a prompt of a session, and when it was sent. With a key, the
// turn of that prompt is shown in full, too.
func (c *Store) NotePrompt(to address.Conversation, message int, key string, id uuid.UUID, sent time.Time) error {
	return c.change(to, func(f *file) {
		f.ask(id, sent)
		if message > 0 {
			f.Messages.note(message, id)
		}
		if t := f.Turns[id]; key != "" && !slices.Contains(t.Prompts, key) {
			t.Session, t.Prompts = id, append(slices.Clone(t.Prompts), key)
			t.Prompts = t.Prompts[max(0, len(t.Prompts)-maxReplies):]
			f.setTurn(t)
		}
	})
}

// BeginTurn keeps that a prompt of a session was typed, if the turn of that prompt is shown in full.
func (c *Store) BeginTurn(to address.Conversation, id uuid.UUID, key string, typed time.Time) error {
	if t, _ := c.TurnOf(to, id); !slices.Contains(t.Prompts, key) {
		return nil
	}
	return c.change(to, func(f *file) {
		if t, known := f.Turns[id]; known {
			t.Since = typed
			t.Prompts = slices.DeleteFunc(slices.Clone(t.Prompts), func(one string) bool { return one == key })
			f.setTurn(t)
		}
	})
}

// EndTurn keeps that a turn of a session has ended. An end from before the last prompt was typed is
// the end of an earlier turn.
func (c *Store) EndTurn(to address.Conversation, id uuid.UUID, ended time.Time) error {
	isOver := func(t Turn) bool { return !t.Since.IsZero() && ended.After(t.Since) }
	if t, _ := c.TurnOf(to, id); !isOver(t) {
		return nil
	}
	return c.change(to, func(f *file) {
		if t := f.Turns[id]; isOver(t) {
			t.Since = time.Time{}
			f.setTurn(t)
		}
	})
}

// ask keeps when a session was last sent a prompt. Quiet hours are shorter than a day, and ask for no earlier one.
func (f *file) ask(id uuid.UUID, sent time.Time) {
	maps.DeleteFunc(f.Asked, func(_ uuid.UUID, at time.Time) bool { return sent.Sub(at) > 24*time.Hour })
	if sent.After(f.Asked[id]) {
		f.Asked[id] = sent
	}
}

// setTurn replaces what is known of a session's turns. A turn without a beginning and without
// prompts is none.
func (f *file) setTurn(t Turn) {
	f.Turns[t.Session] = t
	if t.Since.IsZero() && len(t.Prompts) == 0 {
		delete(f.Turns, t.Session)
	}
}

// Quiet reports whether what a session says in a place makes no sound now: these are the chat's quiet hours, and
// nobody has sent the session a prompt there since they began.
func (c *Store) Quiet(to address.Conversation, session uuid.UUID, now time.Time) bool {
	set, asked := c.Settings(to.ChatID), c.read(to).Asked[session]
	return set.Quiet.Quiet(now.Local(), asked) || set.QuietFor.Quiet(now, asked)
}

// TurnOf returns what is shown in full of a session; false: nothing.
func (c *Store) TurnOf(to address.Conversation, id uuid.UUID) (Turn, bool) {
	f := c.read(to)
	t, ok := f.Turns[id]
	return t, ok
}

// ReadMark is how much of what a session has said is in a conversation.
type ReadMark struct {
	Session uuid.UUID `json:"session"`
	// Since is the first place of which the conversation has only a notice; nil: everything was
	// shown in full.
	Since *talk.Cursor `json:"since,omitempty"`
	// Shown are the places behind Since where what was shown in full begins and ends, by turns.
	Shown []talk.Cursor `json:"shown,omitempty"`
}

// Has reports whether what stands at a place behind Since was shown in full.
func (m ReadMark) Has(at talk.Cursor) bool {
	for part := range slices.Chunk(m.Shown, 2) {
		if !at.Precedes(part[0]) && (len(part) == 1 || at.Precedes(part[1])) {
			return true
		}
	}
	return false
}

// maxMarks bounds file.Unread. Of a session without a mark the last answer is shown.
const maxMarks = 200

// maxShown bounds ReadMark.Shown. What is shown in full after that is shown again.
const maxShown = 40

// NoteShown keeps that a conversation has in full what a session said last, from a place on. An
// earlier place of which it has only a notice stays noted.
func (c *Store) NoteShown(to address.Conversation, id uuid.UUID, at talk.Cursor) error {
	m, known := c.ReadMarkOf(to, id)
	switch {
	case !known:
		return c.NoteOpened(to, id)
	case m.Since == nil || m.Since.Path != at.Path || len(m.Shown)%2 == 1 || len(m.Shown) == maxShown:
		return nil
	}
	m.Shown = append(slices.Clip(m.Shown), at)
	return c.change(to, func(f *file) { f.setMark(m) })
}

// NoteOpened keeps that everything was shown in full.
func (c *Store) NoteOpened(to address.Conversation, id uuid.UUID) error {
	return c.change(to, func(f *file) { f.setMark(ReadMark{Session: id}) })
}

// NoteNoticed keeps that a conversation has only a notice of what a session said from a place on.
func (c *Store) NoteNoticed(to address.Conversation, id uuid.UUID, since talk.Cursor) error {
	m, known := c.ReadMarkOf(to, id)
	switch {
	case !known || m.Since == nil || m.Since.Path != since.Path:
		m = ReadMark{Session: id, Since: &since}
	case len(m.Shown)%2 == 0:
		return nil
	default:
		m.Shown = append(slices.Clip(m.Shown), since)
	}
	return c.change(to, func(f *file) { f.setMark(m) })
}

// ReadMarkOf is the mark of a session; false: there is none.
func (c *Store) ReadMarkOf(to address.Conversation, id uuid.UUID) (ReadMark, bool) {
	f := c.read(to)
	return f.mark(id)
}

func (f *file) mark(id uuid.UUID) (ReadMark, bool) {
	i := slices.IndexFunc(f.Unread, func(h ReadMark) bool { return h.Session == id })
	if i < 0 {
		return ReadMark{}, false
	}
	return f.Unread[i], true
}

func (f *file) setMark(one ReadMark) {
	f.Unread = slices.DeleteFunc(f.Unread, func(h ReadMark) bool { return h.Session == one.Session })
	f.Unread = append(f.Unread, one)
	f.Unread = f.Unread[max(0, len(f.Unread)-maxMarks):]
}

// maxMessages is how many messages of a conversation are known: whose an older one is, is unknown.
const maxMessages = 1000

// messages are the newest messages of a conversation, by the session that they belong to; those of
// uuid.Nil are the bot's own.
type messages map[uuid.UUID][]int

// note keeps whose a message is, and forgets the oldest message of too many.
func (m messages) note(message int, id uuid.UUID) {
	for owner, all := range m {
		m[owner] = slices.DeleteFunc(all, func(one int) bool { return one == message })
	}
	m[id] = append(m[id], message)
	slices.Sort(m[id])
	maps.DeleteFunc(m, func(_ uuid.UUID, all []int) bool { return len(all) == 0 })
	count := 0
	for _, all := range m {
		count += len(all)
	}
	if count > maxMessages {
		first := func(a, b uuid.UUID) int { return cmp.Compare(m[a][0], m[b][0]) }
		oldest := slices.MinFunc(slices.Collect(maps.Keys(m)), first)
		m[oldest] = m[oldest][1:]
	}
}

// NoteMessage keeps which session a message belongs to: a message of the bot, or a person's prompt.
// With uuid.Nil it belongs to none.
func (c *Store) NoteMessage(to address.Conversation, message int, id uuid.UUID) error {
	if message <= 0 {
		return nil
	}
	return c.change(to, func(f *file) { f.Messages.note(message, id) })
}

// Newest is the newest message of a conversation that is known: of the bot, or a person's prompt.
func (c *Store) Newest(to address.Conversation) (message int) {
	f := c.read(to)
	for _, all := range f.Messages {
		message = max(message, all[len(all)-1]) // they are sorted, and none is empty
	}
	return message
}

// SessionOf is the session that a message belongs to; false: it belongs to none, or that is unknown.
func (c *Store) SessionOf(to address.Conversation, message int) (uuid.UUID, bool) {
	id, known := c.ownerOf(to, message)
	return id, known && id != uuid.Nil
}

// ownerOf is the session that a message belongs to, or uuid.Nil for none; false: that is unknown.
func (c *Store) ownerOf(to address.Conversation, message int) (uuid.UUID, bool) {
	f := c.read(to)
	for id, all := range f.Messages {
		if slices.Contains(all, message) {
			return id, true
		}
	}
	return uuid.Nil, false
}
