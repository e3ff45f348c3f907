package session

import (
	"slices"

	"github.com/google/uuid"
)

// Successor is the record that goes on with the conversation of another one, at the end of all
// transfers: from what it took over another may have taken over. ok is false where nobody took the
// conversation over. records are as List gives them: of two that name the same source the newer one
// counts.
//
// It goes by what the takers say, not by what the source does: a crash between the two leaves a source
// that does not know yet.
func Successor(records []Record, id uuid.UUID) (last Record, ok bool) {
	seen := []uuid.UUID{uuid.Nil, id}
	for {
		i := takerOf(records, id)
		if i < 0 || slices.Contains(seen, records[i].ID) { // a file that was edited may name a ring
			return last, ok
		}
		last, ok, id = records[i], true, records[i].ID
		seen = append(seen, id)
	}
}

// takerOf is the place of the last one that says that it took over from another one, not from itself;
// -1 where none does.
func takerOf(records []Record, from uuid.UUID) int {
	for i := len(records) - 1; from != uuid.Nil && i >= 0; i-- {
		if r := &records[i]; r.TookOver == from && r.ID != from {
			return i
		}
	}
	return -1
}
