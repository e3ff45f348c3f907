package port

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Schedules sends prompts to sessions at times that a person has chosen.
type Schedules interface {
	// Add makes a schedule. With the key of an earlier call it returns the schedule of that call. If
	// it is refused, the schedule has the time and the text of the request, as far as they are known.
	// Errors: the refusals about times and texts, refusal.NoAgent, and the errors of refusal.Unable.
	Add(ctx context.Context, q ScheduleRequest) (Schedule, error)
	// SetZone sets the time zone of a schedule, because that of its chat has changed. A zone that the
	// machine does not know is the machine's own. Errors: refusal.NotFound.
	SetZone(ctx context.Context, session, schedule uuid.UUID, zone string) error
	// SetPlanner sets whose schedule it is. Nothing that falls due while it is barred is sent, and a
	// prompt that waits is taken back. Errors: refusal.NotFound.
	SetPlanner(ctx context.Context, session, schedule uuid.UUID, by Planner) error
	// List returns all schedules, the oldest first.
	List(ctx context.Context) ([]Schedule, error)
	// Remove ends a schedule of a session. A prompt that is queued stays so. Errors: refusal.NotFound.
	Remove(ctx context.Context, session, schedule uuid.UUID) (Schedule, error)
}

// ScheduleRequest is the schedule that a person wants.
type ScheduleRequest struct {
	Key     uuid.UUID `json:"key"` // of the request: it makes one schedule
	Session uuid.UUID `json:"session_id"`
	// Asked is the time of the request: a time that has passed since then is a missed one. Zero: now.
	Asked      time.Time `json:"asked,omitzero"`
	When       string    `json:"when,omitempty"`      // empty: the text begins with the time
	Zone       string    `json:"time_zone,omitempty"` // of the chat; empty: that of the machine's settings
	Text       string    `json:"text"`
	SkipMissed bool      `json:"skip_missed,omitempty"`
	By         int64     `json:"by,omitempty"` // the person in the chat; 0: a person at the desk
}

// Planner is the person in whose name a schedule sends its prompts.
type Planner struct {
	By     int64 `json:"by,omitempty"`     // 0: a person at the desk, or unknown
	Barred bool  `json:"barred,omitempty"` // that person, or the place of the session, is no longer allowed
}

// Schedule describes one schedule.
type Schedule struct {
	ID         uuid.UUID       `json:"id"`
	Session    uuid.UUID       `json:"session_id"`
	Name       string          `json:"name"` // of the session when the schedule was made
	When       string          `json:"when"` // as the person has written it
	Zone       string          `json:"time_zone"`
	Text       string          `json:"text"`
	SkipMissed bool            `json:"skip_missed"`
	Next       time.Time       `json:"next,omitzero"` // the first occurrence that is not decided; zero: none
	Last       *ScheduleReport `json:"last,omitempty"`
	CreatedAt  time.Time       `json:"created_at"`
	Planner
}

// ScheduleReport reports a run of a schedule. Without a reason, its prompt was sent.
type ScheduleReport struct {
	Reason SkipReason    `json:"reason,omitempty"`
	At     time.Time     `json:"at,omitzero"` // the occurrence; of ClockBack the next one
	Late   time.Duration `json:"late,omitempty"`
	Left   int           `json:"left,omitempty"` // missed occurrences before it, which are left out
	Detail string        `json:"detail,omitempty"`
	// Refusal is the refusal.Error that Detail is the text of, in JSON, so that the chat can word it.
	Refusal json.RawMessage `json:"refusal,omitempty"`
	Row     int             `json:"row,omitempty"` // runs before it that were skipped in a row for this reason
	// Mentioned is the last run of the row that the chat has a message about, if that is recent.
	// Zero: this run needs one.
	Mentioned time.Time `json:"mentioned,omitzero"`
}

// SkipReason is the reason for which a run was skipped, or a schedule has ended.
type SkipReason string

// The reasons.
const (
	SkipMissed     SkipReason = "missed"        // the time has passed, and the schedule skips missed ones
	SkipBusy       SkipReason = "busy"          // the run before is not over
	SkipLooped     SkipReason = "loop"          // a loop has the session
	SkipBarred     SkipReason = "not_allowed"   // see Planner
	SkipNotResumed SkipReason = "not_resumed"   // the session could not be resumed; Detail has the refusal
	SkipNotStarted SkipReason = "not_started"   // the session was resumed several times, and did not start
	SkipEnded      SkipReason = "session_ended" // on purpose, or it was abandoned: the schedule ends
	SkipForgotten  SkipReason = "session_forgotten"
	SkipClockBack  SkipReason = "clock_back" // the clock went back: the occurrences until the last one were
)
