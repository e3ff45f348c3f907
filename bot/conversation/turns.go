package conversation

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
)

// Turn is one turn of a session that is shown in full although another session is the current one:
// its prompt came as an answer to one of the session's messages.
type Turn struct {
	Session uuid.UUID `json:"session"`
	// Since is when a prompt was typed that the agent has; zero: the agent has no prompt yet.
	Since time.Time `json:"since,omitzero"`
	// Prompt is the key of a prompt that the agent may not have yet. The turn begins when that
	// prompt is typed: until then it may wait for long, or be dropped.
	Prompt string `json:"prompt,omitempty"`
}

// NotePrompt keeps that a person's message is a prompt of a session. With a key, the turn of that
// prompt is shown in full.
func (c *Store) NotePrompt(to address.Conversation, message int, key string, id uuid.UUID) error {
	return c.change(to, func(f *file) {
		if message > 0 {
			f.Messages.note(message, id)
		}
		t := Turn{Session: id, Prompt: key}
		if now, ok := f.turnOf(id); ok && key != "" { // a turn that goes on is shown to its end
			t.Since = now.Since
		}
		f.setTurn(t)
	})
}

// setTurn replaces what is known of a session's turn. A turn without a beginning and without a
// prompt is none.
func (f *file) setTurn(t Turn) {
	f.Turns = slices.DeleteFunc(f.Turns, func(old Turn) bool { return old.Session == t.Session })
	if !t.Since.IsZero() || t.Prompt != "" {
		f.Turns = append(f.Turns, t)
	}
}

// TurnOf is the turn of a session that is shown in full; false: there is none.
func (c *Store) TurnOf(to address.Conversation, id uuid.UUID) (Turn, bool) {
	f, _ := c.read(to) // what cannot be read is unknown
	return f.turnOf(id)
}

func (f file) turnOf(id uuid.UUID) (Turn, bool) {
	i := slices.IndexFunc(f.Turns, func(t Turn) bool { return t.Session == id })
	if i < 0 {
		return Turn{}, false
	}
	return f.Turns[i], true
}

// SetTurn changes a turn that is shown in full.
func (c *Store) SetTurn(to address.Conversation, t Turn) error {
	return c.change(to, func(f *file) { f.setTurn(t) })
}
