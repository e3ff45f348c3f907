package archive

import (
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// DueRecord is a record that is due to be removed.
type DueRecord struct {
	ID    uuid.UUID
	State session.State
	Ended time.Time // as far as its record knows
}

// Expired returns the records whose sessions ended at least after ago; none if after is 0. The
// record of a session that may still run, or whose cleanup failed, stays at any age. If the clock
// is before a session's end, its record does not expire.
func Expired(now time.Time, after time.Duration, records []session.Record) []DueRecord {
	return dueRecords(records, func(r session.Record) bool { return expired(now, after, r) })
}

func dueRecords(records []session.Record, due func(session.Record) bool) (all []DueRecord) {
	for _, r := range records {
		if due(r) {
			all = append(all, DueRecord{ID: r.ID, State: r.State, Ended: ended(r)})
		}
	}
	return all
}

// Leaving returns the expired records that the next pass removes. If the chat lacks a last answer
// (Telegram was away, or ccbot was), a record stays for the same time once more, but no longer: a
// chat that can no longer be reached must not keep the record for ever. A record that recovery
// closed at start-up stays until the chat was informed of that.
func Leaving(now time.Time, after time.Duration, agents agent.Agents, records []session.Record) []DueRecord {
	return dueRecords(records, func(r session.Record) bool { return leaves(now, after, agents, r) })
}

func leaves(now time.Time, after time.Duration, agents agent.Agents, r session.Record) bool {
	return expired(now, after, r) && !r.Unreported && (expired(now.Add(-after), after, r) || !unsaid(agents, r))
}

// unsaid reports whether the chat lacks something that the agent said: there is still text after
// one of the record's cursors. A transcript that cannot be read may contain some.
func unsaid(agents agent.Agents, r session.Record) bool {
	said := agents.Of(r.AgentName).Replies
	return slices.ContainsFunc(r.Cursors, func(c talk.Cursor) bool { return said.Unsaid(c, math.MaxInt64) })
}

func expired(now time.Time, after time.Duration, r session.Record) bool {
	return after > 0 && r.State.HasEnded() && now.Sub(ended(r)) >= after
}

// ended returns when a session ended, as far as its record knows, or when the session was brought
// back, if that was later.
func ended(r session.Record) time.Time {
	at := r.EndedAt
	if at.IsZero() {
		at = r.ActiveAt
	}
	if r.ReturnedAt.After(at) {
		at = r.ReturnedAt
	}
	return at
}
