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

// Turn describes the turns of a session that are shown in full in the background: their prompts
// replied to the session's messages.
type Turn struct {
	Session uuid.UUID `json:"session"`
	// Since is the time at which the last of these prompts was typed; zero if its turn has ended, or
	// none was typed.
	Since time.Time `json:"since,omitzero"`
	// Prompts are the keys of prompts that are not typed yet, oldest first. The turn of each begins
	// when it is typed: until then it may wait for long, or be dropped.
	Prompts []string `json:"prompts,omitempty"`
}

// maxReplies bounds Turn.Prompts. The oldest excess ones were dropped, or wait after all others.
const maxReplies = 100

// NotePrompt stores that a person's message is a prompt of a session, whose it is, and when it was
// sent. With a key, the turn of that prompt is shown in full; otherwise the session is the writer's own.
func (c *Store) NotePrompt(to address.Conversation, message int, key string, id uuid.UUID, sent time.Time, by int64) error {
	return c.change(to, func(f *file) {
		f.notePrompt(id, sent)
		f.noteSpeaker(id, by)
		if key == "" {
			f.noteOwn(to, by, id)
		}
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

// BeginTurn stores that a prompt of a session was typed, if the turn of that prompt is shown in
// full.
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

// EndTurn stores that a turn of a session has ended. An end before the last prompt was typed
// belongs to an earlier turn.
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

// notePrompt stores when a session last got a prompt. Quiet hours are shorter than a day, and need
// no older ones.
func (f *file) notePrompt(id uuid.UUID, sent time.Time) {
	maps.DeleteFunc(f.LastPrompted, func(_ uuid.UUID, at time.Time) bool { return sent.Sub(at) > 24*time.Hour })
	if sent.After(f.LastPrompted[id]) {
		f.LastPrompted[id] = sent
	}
}

// setTurn replaces a session's Turn. It removes one without a beginning and prompts.
func (f *file) setTurn(t Turn) {
	f.Turns[t.Session] = t
	if t.Since.IsZero() && len(t.Prompts) == 0 {
		delete(f.Turns, t.Session)
	}
}

// Quiet reports whether a session makes no sound in a place now: these are the chat's quiet hours,
// and the session got no prompt there since they began.
func (c *Store) Quiet(to address.Conversation, session uuid.UUID, now time.Time) bool {
	set, asked := c.Settings(to.ChatID), c.read(to).LastPrompted[session]
	return set.Quiet.Quiet(now.In(c.Location(to.ChatID)), asked) || set.QuietFor.Quiet(now, asked)
}

// TurnOf returns the Turn of a session; false if nothing is shown in full.
func (c *Store) TurnOf(to address.Conversation, id uuid.UUID) (Turn, bool) {
	f := c.read(to)
	t, ok := f.Turns[id]
	return t, ok
}

// ReadMark describes how much of a session's output a conversation has.
type ReadMark struct {
	Session uuid.UUID `json:"session"`
	// Since is the first place that the conversation has only as a notice; nil if everything was
	// shown in full.
	Since *talk.Cursor `json:"since,omitempty"`
	// Shown alternates the begin and end of what was shown in full after Since.
	Shown []talk.Cursor `json:"shown,omitempty"`
}

// Has reports whether an item at a place after Since was shown in full.
func (m ReadMark) Has(at talk.Cursor) bool {
	for part := range slices.Chunk(m.Shown, 2) {
		if !at.Precedes(part[0]) && (len(part) == 1 || at.Precedes(part[1])) {
			return true
		}
	}
	return false
}

// maxMarks bounds file.Unread. A session without a mark gets its last answer shown.
const maxMarks = 200

// maxShown bounds ReadMark.Shown. Later items are shown again.
const maxShown = 40

// NoteShown stores that a conversation has a session's last output in full, from a place on. An
// earlier place with only a notice stays noted.
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

// NoteOpened stores that everything was shown in full.
func (c *Store) NoteOpened(to address.Conversation, id uuid.UUID) error {
	return c.change(to, func(f *file) { f.setMark(ReadMark{Session: id}) })
}

// NoteNoticed stores that a conversation has only a notice of a session's output from a place on.
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

// ReadMarkOf returns the mark of a session; false if there is none.
func (c *Store) ReadMarkOf(to address.Conversation, id uuid.UUID) (ReadMark, bool) {
	f := c.read(to)
	return f.markOf(id)
}

func (f *file) markOf(id uuid.UUID) (ReadMark, bool) {
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

// maxMessages bounds the known messages of a conversation: the session of an older message is
// unknown.
const maxMessages = 1000

// messages holds the newest messages of a conversation, by session; those of uuid.Nil belong to the
// bot.
type messages map[uuid.UUID][]int

// note stores the session of a message, and forgets the oldest message if there are too many.
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

// NoteMessage stores the session of a message: a message of the bot, or a person's prompt. uuid.Nil
// stands for no session.
func (c *Store) NoteMessage(to address.Conversation, message int, id uuid.UUID) error {
	if message <= 0 {
		return nil
	}
	return c.change(to, func(f *file) { f.Messages.note(message, id) })
}

// Newest returns the newest known message of a conversation: of the bot, or a person's prompt.
func (c *Store) Newest(to address.Conversation) (message int) {
	f := c.read(to)
	for _, all := range f.Messages {
		message = max(message, all[len(all)-1]) // they are sorted, and none is empty
	}
	return message
}

// SessionOf returns the session of a message; false if it has none, or that is unknown.
func (c *Store) SessionOf(to address.Conversation, message int) (uuid.UUID, bool) {
	id, known := c.ownerOf(to, message)
	return id, known && id != uuid.Nil
}

// LastOf returns the newest message in a conversation that shows a part of a session's transcript, and
// that was sent in this run; 0 if there is none. Prompts and answers to commands show no part of it.
func (c *Store) LastOf(to address.Conversation, id uuid.UUID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last[said{to, id}]
}

// ownerOf returns the session of a message, or uuid.Nil for no session; false if that is unknown.
func (c *Store) ownerOf(to address.Conversation, message int) (uuid.UUID, bool) {
	f := c.read(to)
	for id, all := range f.Messages {
		if slices.Contains(all, message) {
			return id, true
		}
	}
	return uuid.Nil, false
}
