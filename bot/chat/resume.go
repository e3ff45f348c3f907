package chat

import (
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
)

// Resume is a session that somebody wants back, and how.
type Resume struct {
	Session views.Session
	Dir     string // another directory than the session's own; empty: the session's own
	Damaged control.Damaged
	To      outbox.Conversation // where the outcome is told, and the session is shown
	From    int64               // the person who may cancel what the resume asks
	Before  render.Text         // lines above the outcome: what was done before the resume
	Undo    bool                // another session that is current stays the current one
	Many    bool                // one of several: one message has said that all of them come back
}

// Above is the outcome with the lines of what was done before above it.
func (q Resume) Above(text render.Text) render.Text {
	return Lines(q.Before, text)
}

// Restore is the resume as the agents' machine carries it out, and as a card keeps it for a button.
func (q Resume) Restore() control.Restore {
	return control.Restore{Session: q.Session.ID, Dir: q.Dir, Damaged: q.Damaged}
}

// Accepted is the resume that a person has tapped; false where the session is not known any more.
// Of a conversation that another session goes on with, that other session is wanted.
func (c *Chat) Accepted(o control.Restore, t Tap) (Resume, bool) {
	r, ok := c.Book.Records.Get(o.Session)
	return Resume{Session: c.Book.Successor(r), Dir: o.Dir, Damaged: o.Damaged, To: t.To, From: t.From}, ok
}
