package session

import (
	"slices"

	"github.com/google/uuid"
)

// Successor is the record that now has the conversation of the record id, at the end of all
// transfers: the record that took the conversation over may have handed it over itself. ok is false
// where no record took the conversation over. records have the order of List: if two records name
// the same source, the newer one counts.
//
// It uses what the successors say, not what the source says: after a crash between the two writes
// the source does not name the transfer yet.
func Successor(records []Record, id uuid.UUID) (last Record, ok bool) {
	seen := []uuid.UUID{uuid.Nil, id}
	for {
		i := len(records) - 1
		for i >= 0 && (records[i].TookOver != id || records[i].ID == id || id == uuid.Nil) {
			i--
		}
		if i < 0 || slices.Contains(seen, records[i].ID) { // an edited file may name a cycle
			return last, ok
		}
		last, ok, id = records[i], true, records[i].ID
		seen = append(seen, id)
	}
}
