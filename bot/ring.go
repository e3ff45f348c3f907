package bot

import (
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/session"
)

// kept is how many messages of a conversation are known: whose an older one is that
// a person answers, nobody knows any more.
const kept = 1000

// ring says whose the last messages of a conversation are, oldest first: a
// session's, or, with uuid.Nil, the bot's own. Its zero value knows none.
type ring struct {
	sessions []uuid.UUID
	messages []ringEntry
}

// ringEntry is a message and the index of its session in ring.sessions.
type ringEntry struct{ message, session int }

// note keeps whose a message is. One that is known already becomes the newest.
func (r *ring) note(message int, id uuid.UUID) {
	r.messages = slices.DeleteFunc(r.messages, func(e ringEntry) bool { return e.message == message })
	at := slices.Index(r.sessions, id)
	if at < 0 {
		at = len(r.sessions)
		r.sessions = append(r.sessions, id)
	}
	r.messages = append(r.messages, ringEntry{message, at})
	if over := len(r.messages) - kept; over > 0 {
		r.messages = slices.Delete(r.messages, 0, over)
		r.forget()
	}
}

// forget drops sessions that no message is of.
func (r *ring) forget() {
	used := make([]bool, len(r.sessions))
	for _, e := range r.messages {
		used[e.session] = true
	}
	if !slices.Contains(used, false) {
		return
	}
	moved, left := make([]int, len(used)), r.sessions[:0]
	for i, id := range r.sessions {
		moved[i] = len(left)
		if used[i] {
			left = append(left, id)
		}
	}
	r.sessions = left
	for i, e := range r.messages {
		r.messages[i].session = moved[e.session]
	}
}

func (r ring) clone() ring {
	return ring{sessions: slices.Clone(r.sessions), messages: slices.Clone(r.messages)}
}

// of is whose a message is.
func (r *ring) of(message int) (uuid.UUID, bool) {
	for _, e := range slices.Backward(r.messages) {
		if e.message == message {
			return r.sessions[e.session], true
		}
	}
	return uuid.Nil, false
}

// ringFile is a ring on disk: each session once, and pairs of a message and the
// place of its session.
type ringFile struct {
	Sessions []uuid.UUID `json:"sessions"`
	Messages [][2]int    `json:"messages"`
}

// MarshalJSON writes the ring as ringFile.
func (r ring) MarshalJSON() ([]byte, error) {
	f := ringFile{Sessions: r.sessions, Messages: make([][2]int, 0, len(r.messages))}
	for _, e := range r.messages {
		f.Messages = append(f.Messages, [2]int{e.message, e.session})
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads what it can: a damaged ring costs replies their way, and not
// the file that it is in.
func (r *ring) UnmarshalJSON(data []byte) error {
	*r = ring{}
	var f ringFile
	if json.Unmarshal(data, &f) != nil {
		return nil
	}
	r.sessions = f.Sessions
	for _, m := range f.Messages[max(0, len(f.Messages)-kept):] {
		if m[1] >= 0 && m[1] < len(f.Sessions) {
			r.messages = append(r.messages, ringEntry{m[0], m[1]})
		}
	}
	r.forget()
	return nil
}

// IsZero leaves an empty ring out of the file.
func (r ring) IsZero() bool { return len(r.messages) == 0 }

// NoteMessage keeps whose a message of a conversation is: one of the bot's, or a
// person's prompt. It is durable when it returns.
func (c *Chats) NoteMessage(to session.Conversation, message int, id uuid.UUID) error {
	if message <= 0 || id == uuid.Nil {
		return nil
	}
	return c.noteSent(to, message, id)
}

// noteSent is NoteMessage also for what is of no session.
func (c *Chats) noteSent(to session.Conversation, message int, id uuid.UUID) error {
	if message <= 0 {
		return nil
	}
	return c.change(to, func(f *chat) { f.Ring.note(message, id) })
}

// SessionOf is whose a message of a conversation is; false: no session's, or it is
// not known, or no longer.
func (c *Chats) SessionOf(to session.Conversation, message int) (uuid.UUID, bool) {
	id, known := c.messageOf(to, message)
	return id, known && id != uuid.Nil
}

// KnowsMessage says whether it is known whose a message of a conversation is, or
// that it is no session's.
func (c *Chats) KnowsMessage(to session.Conversation, message int) bool {
	_, known := c.messageOf(to, message)
	return known
}

func (c *Chats) messageOf(to session.Conversation, message int) (uuid.UUID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.readLocked(to)
	if err != nil {
		return uuid.Nil, false
	}
	return f.Ring.of(message)
}
