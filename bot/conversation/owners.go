package conversation

import (
	"ccbot/internal/address"
	"encoding/json"
	"slices"

	"github.com/google/uuid"
)

// maxOwners is how many messages of a conversation are known: whose an older message is, is unknown.
const maxOwners = 1000

// owners are the last messages of a conversation with the session that each belongs to, oldest
// first; with uuid.Nil a message is the bot's own. The zero value knows no message.
type owners struct {
	sessions []uuid.UUID
	messages []owned
}

// owned is a message and the index of its session in owners.sessions.
type owned struct{ message, session int }

// note keeps whose a message is. A message that is known already becomes the newest.
func (r *owners) note(message int, id uuid.UUID) {
	r.messages = slices.DeleteFunc(r.messages, func(e owned) bool { return e.message == message })
	at := slices.Index(r.sessions, id)
	if at < 0 {
		at = len(r.sessions)
		r.sessions = append(r.sessions, id)
	}
	r.messages = append(r.messages, owned{message, at})
	if over := len(r.messages) - maxOwners; over > 0 {
		r.messages = slices.Delete(r.messages, 0, over)
		r.forget()
	}
}

// forget drops sessions that own no message.
func (r *owners) forget() {
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

func (r owners) clone() owners {
	return owners{sessions: slices.Clone(r.sessions), messages: slices.Clone(r.messages)}
}

// of is whose a message is.
func (r *owners) of(message int) (uuid.UUID, bool) {
	for _, e := range slices.Backward(r.messages) {
		if e.message == message {
			return r.sessions[e.session], true
		}
	}
	return uuid.Nil, false
}

// ownersFile is owners on disk: each session once, and pairs of a message and the index of its
// session.
type ownersFile struct {
	Sessions []uuid.UUID `json:"sessions"`
	Messages [][2]int    `json:"messages"`
}

// MarshalJSON writes an ownersFile.
func (r owners) MarshalJSON() ([]byte, error) {
	f := ownersFile{Sessions: r.sessions, Messages: make([][2]int, 0, len(r.messages))}
	for _, e := range r.messages {
		f.Messages = append(f.Messages, [2]int{e.message, e.session})
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads what it can: damage costs replies their session, and never the whole file of
// the conversation.
func (r *owners) UnmarshalJSON(data []byte) error {
	*r = owners{}
	var f ownersFile
	if json.Unmarshal(data, &f) != nil {
		return nil
	}
	r.sessions = f.Sessions
	for _, m := range f.Messages[max(0, len(f.Messages)-maxOwners):] {
		if m[1] >= 0 && m[1] < len(f.Sessions) {
			r.messages = append(r.messages, owned{m[0], m[1]})
		}
	}
	r.forget()
	return nil
}

// IsZero leaves empty owners out of the file.
func (r owners) IsZero() bool { return len(r.messages) == 0 }

// NoteMessage keeps which session a message belongs to: a message of the bot, or a person's prompt.
func (c *Store) NoteMessage(to address.Conversation, message int, id uuid.UUID) error {
	if message <= 0 || id == uuid.Nil {
		return nil
	}
	return c.NoteSent(to, message, id)
}

// NoteSent is NoteMessage also for a message of no session.
func (c *Store) NoteSent(to address.Conversation, message int, id uuid.UUID) error {
	if message <= 0 {
		return nil
	}
	return c.change(to, func(f *file) { f.Owners.note(message, id) })
}

// SessionOf is the session that a message belongs to; false: it belongs to none, or that is unknown.
func (c *Store) SessionOf(to address.Conversation, message int) (uuid.UUID, bool) {
	id, known := c.messageOf(to, message)
	return id, known && id != uuid.Nil
}

// KnowsMessage reports whether it is known which session a message belongs to, or that it belongs
// to none.
func (c *Store) KnowsMessage(to address.Conversation, message int) bool {
	_, known := c.messageOf(to, message)
	return known
}

func (c *Store) messageOf(to address.Conversation, message int) (uuid.UUID, bool) {
	f, err := c.read(to)
	if err != nil {
		return uuid.Nil, false
	}
	return f.Owners.of(message)
}
