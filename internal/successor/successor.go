// Package successor finds who goes on with a conversation.
package successor

import (
	"slices"

	"github.com/google/uuid"
)

// Link says which session took over from which.
type Link struct{ ID, From uuid.UUID }

// Of is the place in a list of the session that goes on with the conversation of another one, at the
// end of all transfers: from what it took over another may have taken over. It is -1 where nobody took
// the conversation over. Of two that name the same source the later in the list counts.
//
// It goes by what the takers say, not by what the source does: a crash between the two leaves a source
// that does not know yet.
func Of[T any](list []T, id uuid.UUID, link func(T) Link) (last int) {
	last = -1
	seen := []uuid.UUID{uuid.Nil, id}
	for {
		next := takerOf(list, id, link)
		if next < 0 || slices.Contains(seen, link(list[next]).ID) { // a file that was edited may name a ring
			return last
		}
		last, id = next, link(list[next]).ID
		seen = append(seen, id)
	}
}

// takerOf is the place of the last one that says that it took over from another one, not from itself.
func takerOf[T any](list []T, from uuid.UUID, link func(T) Link) int {
	if from == uuid.Nil {
		return -1
	}
	for i, one := range slices.Backward(list) {
		if l := link(one); l.From == from && l.ID != from {
			return i
		}
	}
	return -1
}
