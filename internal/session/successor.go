package session

import (
	"github.com/google/uuid"

	"ccbot/internal/successor"
)

// Successor is the record that goes on with the conversation of another one; ok is false where nobody
// took it over. records are as List gives them: of two that name the same source the newer one counts.
func Successor(records []Record, id uuid.UUID) (last Record, ok bool) {
	i := successor.Of(records, id, func(r Record) successor.Link { return successor.Link{ID: r.ID, From: r.TookOver} })
	if i < 0 {
		return Record{}, false
	}
	return records[i], true
}
