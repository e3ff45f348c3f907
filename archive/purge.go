package archive

import (
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// Aged is a record whose time is over.
type Aged struct {
	ID    uuid.UUID
	State session.State
	Ended time.Time // as well as its record knows
}

// Expired gives the records that have been over for at least after; with 0 there
// are none. One that may still run, or whose clean-up failed, stays however old
// it is. A clock that stands before a record's end lets nothing expire.
func Expired(now time.Time, after time.Duration, records []session.Record) []Aged {
	var aged []Aged
	for _, r := range records {
		if expired(now, after, r) {
			aged = append(aged, Aged{ID: r.ID, State: r.State, Ended: ended(r)})
		}
	}
	return aged
}

// Leaving gives those of the expired records that leave at the next look. While the chat lacks a last answer (Telegram was
// away, or ccbot was), a record stays for the same time once more; a chat that gets nothing any more must not keep it for
// ever. One of which the chat was not told that a start closed it stays until then.
func Leaving(now time.Time, after time.Duration, records []session.Record) []Aged {
	return Expired(now, after, slices.DeleteFunc(slices.Clone(records), func(r session.Record) bool { return !leaves(now, after, r) }))
}

func leaves(now time.Time, after time.Duration, r session.Record) bool {
	return expired(now, after, r) && !r.Unreported && (expired(now.Add(-after), after, r) || !unsaid(r))
}

// unsaid says whether the chat lacks something that the agent said: behind a record's cursors there is still text. What
// cannot be read may hold some.
func unsaid(r session.Record) bool {
	return slices.ContainsFunc(r.Cursors, func(c transcript.Cursor) bool { return c.Unsaid(math.MaxInt64) })
}

func expired(now time.Time, after time.Duration, r session.Record) bool {
	return after > 0 && r.State.Over() && now.Sub(ended(r)) >= after
}

// ended is when a session ended, as well as its record knows, or when it was brought back.
func ended(r session.Record) time.Time {
	at := r.EndedAt
	switch {
	case !at.IsZero():
	case len(r.History) > 0:
		at = r.History[len(r.History)-1].At
	default:
		at = r.UpdatedAt
	}
	for _, c := range r.History {
		if c.Rule == session.BroughtBack && c.At.After(at) {
			at = c.At
		}
	}
	return at
}
