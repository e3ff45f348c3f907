package archive

import (
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
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

func expired(now time.Time, after time.Duration, r session.Record) bool {
	return after > 0 && over(r.State) && now.Sub(ended(r)) >= after
}

// over says whether a session in this state is only remembered.
func over(s session.State) bool {
	switch s {
	case session.Archived, session.Completed, session.Lost, session.Failed, session.Abandoned:
		return true
	}
	return false
}

// ended is when a session ended, as well as its record knows.
func ended(r session.Record) time.Time {
	switch {
	case !r.EndedAt.IsZero():
		return r.EndedAt
	case len(r.History) > 0:
		return r.History[len(r.History)-1].At
	}
	return r.UpdatedAt
}
