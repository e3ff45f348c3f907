package archive

import (
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/view"
)

// Idle remembers between sweeps since when each session has been seen quiet. Its zero value
// remembers nothing. Every start of ccbot begins with it, so all sessions get the whole time again.
type Idle struct {
	silences map[uuid.UUID]silence
	told     map[uuid.UUID]time.Duration // the scan at which a session was last due that stays for schedules of its own
}

// tellEvery is how often people hear that a session stays open for schedules of its own.
const tellEvery = 24 * time.Hour

// silence is how long one session has been seen quiet.
type silence struct {
	active time.Time     // the last sign of life, which was the same at all looks
	at     time.Duration // the last scan
	length time.Duration // the time that all looks together prove quiet
}

// Seen is the result of one scan for a session. At is the time of the scan, on a clock that starts
// with ccbot and only goes forward (time.Since): a jump of the wall clock must not count as
// silence.
type Seen struct {
	Record session.Record
	Status view.Status
	At     time.Duration
	After  time.Duration // of quiet the session is archived; 0: never
}

// quiet reports whether the session's agent is unused now.
func (s Seen) quiet() bool {
	return s.Record.State == session.Running && len(s.Record.Prompts) == 0 && s.Status.Quiet()
}

// Due is a session that has been quiet for long enough.
type Due struct {
	Session uuid.UUID
	Since   time.Time     // the last sign of life; a later sign of life makes the decision void
	Quiet   time.Duration // how long it has been seen quiet
}

// Sweep adds one scan of every session, and returns the sessions that have been quiet for their
// whole time. The time of a session starts at its first quiet scan. It starts again when the
// session is not quiet, is not seen, or has shown a sign of life.
//
// A scan proves the time since the previous one, but at most twice the time between two sweeps: a
// longer gap means that ccbot was stopped, or that the machine slept on a system where the clock
// continues during sleep.
//
// A session that stays for schedules of its own is due once a day: people hear of it.
func (i Idle) Sweep(every time.Duration, seen []Seen) (Idle, []Due) {
	next := Idle{silences: make(map[uuid.UUID]silence), told: make(map[uuid.UUID]time.Duration)}
	var due []Due
	for _, s := range seen {
		told, was := i.told[s.Record.ID]
		if was {
			next.told[s.Record.ID] = told
		}
		if !s.quiet() {
			continue
		}
		now := silence{active: s.Status.Active, at: s.At}
		if before, ok := i.silences[s.Record.ID]; ok && before.active.Equal(now.active) {
			now.length = before.length + min(s.At-before.at, 2*every)
		}
		next.silences[s.Record.ID] = now
		scheduled := s.Status.Schedules > 0
		if s.After > 0 && now.length >= s.After && (!scheduled || !was || s.At-told >= tellEvery) {
			due = append(due, Due{Session: s.Record.ID, Since: now.active, Quiet: now.length})
			if scheduled {
				next.told[s.Record.ID] = s.At
			}
		}
	}
	return next, due
}

// longest is the longest time between two sweeps.
const longest = 10 * time.Minute

// interval returns the time between two sweeps: short enough that a session is archived, or its
// record removed, about when its time has passed, and no shorter.
func interval(after time.Duration) time.Duration {
	return min(max(after/12, time.Second), longest)
}
