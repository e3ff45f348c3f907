package archive

import (
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Idle is the memory of the sweeps: since when each session has been seen
// quiet. Its zero value remembers nothing, which is how every start of ccbot
// begins: all sessions get the whole time again.
type Idle struct {
	silences map[uuid.UUID]silence
}

// silence is what is known of one quiet session.
type silence struct {
	active time.Time     // the last sign of life, the same at all looks
	at     time.Duration // the last look
	length time.Duration // what all looks together vouch for
}

// Seen is one look at a session. At is when, on a clock that starts with ccbot
// and only goes forward (time.Since): a jump of the wall clock is no silence.
type Seen struct {
	Record session.Record
	Look   lifecycle.Look
	At     time.Duration
}

// quiet says whether nobody would miss the session's agent now.
func (s Seen) quiet() bool {
	return s.Record.State == session.Running && len(s.Record.Prompts) == 0 && s.Look.Quiet()
}

// Due is a session that has been quiet for long enough.
type Due struct {
	Session uuid.UUID
	Since   time.Time     // the last sign of life; a later one makes the decision void
	Quiet   time.Duration // how long it has been seen quiet
}

// Sweep notes one look at every session and gives those that have been quiet
// for at least after; with 0 there are none. The clock of a session starts at
// its first quiet look, and begins again when it is not quiet, not seen, or has
// shown a sign of life.
//
// A look vouches for the time since the one before, but for two intervals at
// most: longer means that ccbot stood still, or the machine slept on a system
// whose clock goes on meanwhile.
func (i Idle) Sweep(after time.Duration, seen []Seen) (Idle, []Due) {
	next := Idle{silences: make(map[uuid.UUID]silence)}
	var due []Due
	for _, s := range seen {
		if !s.quiet() {
			continue
		}
		now := silence{active: s.Look.Active, at: s.At}
		if before, ok := i.silences[s.Record.ID]; ok && before.active.Equal(now.active) {
			now.length = before.length + min(s.At-before.at, 2*interval(after))
		}
		next.silences[s.Record.ID] = now
		if after > 0 && now.length >= after {
			due = append(due, Due{Session: s.Record.ID, Since: now.active, Quiet: now.length})
		}
	}
	return next, due
}

// interval is the time between two sweeps: short enough for a session to go
// about when its time is over, and no more often.
func interval(after time.Duration) time.Duration {
	return min(max(after/12, time.Second), 10*time.Minute)
}
