package conversation

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/port/talk"
)

// NoteSent stores that a message belongs to a session, with the position up to which the chat then
// has the session's transcript. Without a path the message shows no part of one.
func (c *Store) NoteSent(to address.Conversation, message int, id uuid.UUID, at talk.Cursor) error {
	if message <= 0 {
		return nil
	}
	if at.Path != "" {
		c.mu.Lock()
		c.last[said{to, id}] = message
		c.mu.Unlock()
	}
	return c.change(to, func(f *file) {
		f.Messages.note(message, id)
		if at.Path != "" {
			f.Cursors[id] = at
		}
	})
}

// Cursors stores the positions up to which the chat has the transcripts of running sessions.
type Cursors struct{ in *Store }

// Cursors returns the positions of the store's conversations.
func (c *Store) Cursors() Cursors { return Cursors{c} }

// Note stores the position of a session. If the position came with the last message, it is on disk,
// and nothing is written.
func (c Cursors) Note(to address.Conversation, id uuid.UUID, at talk.Cursor) error {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	kept, isKept := to, false
	for place, f := range c.in.kept {
		if f.Cursors[id] == at {
			kept, isKept = place, true
		}
	}
	if !isKept {
		if err := c.in.changeLocked(to, func(f *file) { f.Cursors[id] = at }); err != nil {
			return err
		}
	}
	return c.dropLocked(id, func(place address.Conversation) bool { return place != kept })
}

// After returns the stored position of a session if it is later than the first one of its record,
// and otherwise none.
func (c Cursors) After(id uuid.UUID, record []talk.Cursor) (at talk.Cursor) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	for _, f := range c.in.kept {
		if len(record) > 0 && f.Cursors[id].Passes(record[0]) {
			at = f.Cursors[id]
		}
	}
	return at
}

// Of returns the positions of a session's record. A stored one that is later replaces the first.
func (c Cursors) Of(id uuid.UUID, record []talk.Cursor) []talk.Cursor {
	if at := c.After(id, record); at.Path != "" {
		return append([]talk.Cursor{at}, record[1:]...)
	}
	return record
}

// Drop forgets a position that the session's record has.
func (c Cursors) Drop(id uuid.UUID) error {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return c.dropLocked(id, func(address.Conversation) bool { return true })
}

func (c Cursors) dropLocked(id uuid.UUID, from func(address.Conversation) bool) error {
	for _, place := range slices.Collect(maps.Keys(c.in.kept)) {
		if _, has := c.in.kept[place].Cursors[id]; has && from(place) {
			if err := c.in.changeLocked(place, func(f *file) { delete(f.Cursors, id) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// All returns the stored positions by session. A crash during a move to another conversation
// leaves two: the later one counts.
func (c Cursors) All() map[uuid.UUID][]talk.Cursor {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	all := make(map[uuid.UUID][]talk.Cursor)
	for _, f := range c.in.kept {
		f.addCursors(all)
	}
	return all
}

func (f *file) addCursors(all map[uuid.UUID][]talk.Cursor) {
	for id, at := range f.Cursors {
		all[id] = append(all[id], at)
	}
}

// rehomeCursors adds the positions of another conversation's file. The later one of a transcript
// counts.
func (f *file) rehomeCursors(old file) {
	for id, at := range old.Cursors {
		if now, known := f.Cursors[id]; !known || now.Path == at.Path && now.Precedes(at) {
			f.Cursors[id] = at
		}
	}
}
