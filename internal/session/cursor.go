package session

import "ccbot/port/talk"

// Cursor is the position in the transcript that is being followed; ok is false before the
// transcript's path is known.
func (r *Record) Cursor() (c talk.Cursor, ok bool) {
	if len(r.Cursors) == 0 {
		return talk.Cursor{}, false
	}
	return r.Cursors[len(r.Cursors)-1], true
}

// Shown moves the first cursor to a later place of its transcript, and reports whether it has
// moved. Parts of one form have an order.
func (r *Record) Shown(at talk.Cursor) bool {
	if len(r.Cursors) == 0 || !at.Passes(r.Cursors[0]) {
		return false
	}
	r.Cursors[0] = at
	return true
}
