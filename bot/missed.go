package bot

import (
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// had says how much a conversation has of what a session has said.
type had struct {
	Session uuid.UUID `json:"session"`
	// Since is where that begins of which there are only notices; nil: all of it was
	// shown in full.
	Since *transcript.Cursor `json:"since,omitempty"`
}

// keptHad bounds chat.Had. Of a session that is not in it the last answer is shown.
const keptHad = 200

// NoteShown keeps that a conversation has in full what a session said last. What it
// has only notices of stays noted.
func (c *Chats) NoteShown(to session.Conversation, id uuid.UUID) error {
	if _, known := c.hadOf(to, id); known {
		return nil
	}
	return c.noteHad(to, had{Session: id})
}

// NoteNoticed keeps that a conversation has only a notice of what a session has
// said from a place on.
func (c *Chats) NoteNoticed(to session.Conversation, id uuid.UUID, since transcript.Cursor) error {
	if h, known := c.hadOf(to, id); known && h.Since != nil && h.Since.Path == since.Path {
		return nil
	}
	return c.noteHad(to, had{Session: id, Since: &since})
}

// NoteOpened keeps that everything was shown in full.
func (c *Chats) NoteOpened(to session.Conversation, id uuid.UUID) error {
	return c.noteHad(to, had{Session: id})
}

// hadOf is what is known of a session; false: nothing.
func (c *Chats) hadOf(to session.Conversation, id uuid.UUID) (had, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.readLocked(to)
	i := slices.IndexFunc(f.Had, func(h had) bool { return h.Session == id })
	if err != nil || i < 0 {
		return had{}, false
	}
	return f.Had[i], true
}

func (c *Chats) noteHad(to session.Conversation, one had) error {
	return c.change(to, func(f *chat) {
		f.Had = slices.DeleteFunc(f.Had, func(h had) bool { return h.Session == one.Session })
		f.Had = append(f.Had, one)
		f.Had = f.Had[max(0, len(f.Had)-keptHad):]
	})
}
