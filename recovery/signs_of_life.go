package recovery

import (
	"fmt"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// Sign is the newest sign of life of a session.
type Sign struct {
	At time.Time
	Of string // which timestamp it is, as the record calls it: "last_turn_at"
}

// signOf returns the newest sign of life in a record: something that its agent did, or that a
// person did with it.
//
// updated_at is not a sign of life, and neither is a line of the history or the time of the
// record's file. Every save by ccbot itself sets them, also the save that notes a recovery, so a
// session that is read once a day would never grow old. ended_at counts only for a session that was
// archived or completed, because a person ended it. For other sessions it does not count, because
// recovery itself sets it when it finds out, weeks later, that a session is gone. An unknown phase
// says that nothing was seen.
func signOf(r session.Record) Sign {
	s := Sign{r.CreatedAt, "created_at"}
	s.newer(r.StartedAt, "started_at")
	s.newer(r.ReportsAt, "reports_at")
	s.newer(r.ReadyAt, "ready_at")
	if r.Phase != "" && r.Phase != string(talk.PhaseUnknown) {
		s.newer(r.PhaseAt, "phase_at")
	}
	s.newer(r.Progress.LastTurnAt, "last_turn_at")
	if r.Binding != nil {
		s.newer(r.Binding.BoundAt, "bound_at")
	}
	if r.State.EndedOnPurpose() {
		s.newer(r.EndedAt, "ended_at")
	}
	if r.Usage != nil {
		s.newer(r.Usage.At, "usage_at")
	}
	return s
}

// newer replaces the sign if the other timestamp is newer.
func (s *Sign) newer(at time.Time, of string) {
	if at.After(s.At) {
		*s = Sign{at, of}
	}
}

// Silence is a time without a sign of life that is longer than a threshold.
type Silence struct {
	Age, Threshold time.Duration
	Since          Sign
}

// stale returns the silence since the sign if it is longer than the threshold. Without a threshold,
// or without a sign, nothing is stale.
func (s Sign) stale(now time.Time, threshold time.Duration) (silence Silence, stale bool) {
	age := now.Sub(s.At)
	if threshold <= 0 || s.At.IsZero() || age <= threshold {
		return silence, false
	}
	return Silence{age, threshold, s}, true
}

// String describes the silence in words.
func (s Silence) String() string {
	return fmt.Sprintf("no sign of life for %s (threshold %s), newest: %s %s",
		span(s.Age), span(s.Threshold), s.Since.Of, s.Since.At.UTC().Format(time.RFC3339))
}

// fields are the silence for the log; none: there is none.
func (s Silence) fields() []any {
	if s == (Silence{}) {
		return nil
	}
	return []any{logkey.Age, s.Age.Round(time.Second), logkey.OlderThan, s.Threshold, logkey.Sign, s.Since.Of, logkey.SignAt, s.Since.At.UTC().Format(time.RFC3339)}
}

// span formats a duration in the form used in the configuration: "31d", "26h", "45m".
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}
