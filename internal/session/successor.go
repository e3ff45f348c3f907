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
		i := takerOf(records, id)
		if i < 0 || slices.Contains(seen, records[i].ID) { // an edited file may name a cycle
			return last, ok
		}
		last, ok, id = records[i], true, records[i].ID
		seen = append(seen, id)
	}
}

// takerOf is the index of the last record that says that it took over from the record from, and is
// not that record itself; -1 when there is none.
func takerOf(records []Record, from uuid.UUID) int {
	for i := len(records) - 1; from != uuid.Nil && i >= 0; i-- {
		if r := &records[i]; r.TookOver == from && r.ID != from {
			return i
		}
	}
	return -1
}
