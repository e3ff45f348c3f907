package conversation

import (
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/port/talk"
	"ccbot/internal/address"
)

// ReadMark is how much of what a session has said is in a conversation.
type ReadMark struct {
	Session uuid.UUID `json:"session"`
	// Since is the first place of which the conversation has only a notice; nil: everything was
	// shown in full.
	Since *talk.Cursor `json:"since,omitempty"`
}

// maxMarks bounds file.Unread. Of a session without a mark the last answer is shown.
const maxMarks = 200

// NoteShown keeps that a conversation has in full what a session said last. An earlier place of
// which it has only a notice stays noted.
func (c *Store) NoteShown(to address.Conversation, id uuid.UUID) error {
	if _, known := c.ReadMarkOf(to, id); known {
		return nil
	}
	return c.NoteOpened(to, id)
}

// NoteNoticed keeps that a conversation has only a notice of what a session said from a place on.
func (c *Store) NoteNoticed(to address.Conversation, id uuid.UUID, since talk.Cursor) error {
	if h, known := c.ReadMarkOf(to, id); known && h.Since != nil && h.Since.Path == since.Path {
		return nil
	}
	return c.noteMark(to, ReadMark{Session: id, Since: &since})
}

// NoteOpened keeps that everything was shown in full.
func (c *Store) NoteOpened(to address.Conversation, id uuid.UUID) error {
	return c.noteMark(to, ReadMark{Session: id})
}

// ReadMarkOf is the mark of a session; false: there is none.
func (c *Store) ReadMarkOf(to address.Conversation, id uuid.UUID) (ReadMark, bool) {
	f, err := c.read(to)
	i := slices.IndexFunc(f.Unread, func(h ReadMark) bool { return h.Session == id })
	if err != nil || i < 0 {
		return ReadMark{}, false
	}
	return f.Unread[i], true
}

func (c *Store) noteMark(to address.Conversation, one ReadMark) error {
	return c.change(to, func(f *file) {
		f.Unread = slices.DeleteFunc(f.Unread, func(h ReadMark) bool { return h.Session == one.Session })
		f.Unread = append(f.Unread, one)
		f.Unread = f.Unread[max(0, len(f.Unread)-maxMarks):]
	})
}
