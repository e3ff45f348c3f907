package session

import (
	"slices"

	"github.com/google/uuid"
)

// Successor is the record that goes on with the conversation of another one, at
// the end of all transfers: what it took over another may have taken over from
// it. ok is false where nobody took it over. records are as List gives them: of
// two that name the same source the newer one counts.
//
// It goes by what the takers say, not by what the source does: a crash between
// the two leaves a source that does not know yet.
func Successor(records []Record, id uuid.UUID) (last Record, ok bool) {
	seen := []uuid.UUID{uuid.Nil, id}
	for {
		next, found := taker(records, id)
		if !found || slices.Contains(seen, next.ID) { // a file that was edited may name a ring
			return last, ok
		}
		last, ok, id = next, true, next.ID
		seen = append(seen, id)
	}
}

// taker is the newest record that says that it took over from another one, not
// from itself.
func taker(records []Record, from uuid.UUID) (Record, bool) {
	if from == uuid.Nil {
		return Record{}, false
	}
	for _, r := range slices.Backward(records) {
		if r.TookOver == from && r.ID != from {
			return r, true
		}
	}
	return Record{}, false
}
