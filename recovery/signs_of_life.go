package recovery

import (
	"fmt"
	"time"

	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Sign is the newest sign of life of a session.
type Sign struct {
	At time.Time
	Of string // which timestamp it is, as the record calls it: "last_turn_at"
}

// signOf is the newest sign of life in a record: what its agent did, or a person
// with it.
//
// updated_at is none, and neither is a line of the history or the time of the
// record's file: every save of ccbot's own sets them, also the one that notes a
// recovery, so that a session which is looked at once a day would never grow old.
// ended_at counts for what was archived or completed: somebody was there to end
// it. Else it is none, because recovery itself sets it when it finds out, weeks
// later, that a session is gone. An unknown phase says that nothing was seen.
func signOf(r session.Record) Sign {
	s := Sign{r.CreatedAt, "created_at"}
	s.newer(r.StartedAt, "started_at")
	s.newer(r.ReportsAt, "reports_at")
	s.newer(r.ReadyAt, "ready_at")
	if r.Phase != "" && r.Phase != string(lifecycle.PhaseUnknown) {
		s.newer(r.PhaseAt, "phase_at")
	}
	s.newer(r.Progress.LastTurn, "last_turn_at")
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

// newer takes another timestamp if it is the newer one.
func (s *Sign) newer(at time.Time, of string) {
	if at.After(s.At) {
		*s = Sign{at, of}
	}
}

// stale says whether the sign is older than the threshold, and in which words.
// Without a threshold, or a sign, nothing is.
func (s Sign) stale(now time.Time, threshold time.Duration) (why string, stale bool) {
	age := now.Sub(s.At)
	if threshold <= 0 || s.At.IsZero() || age <= threshold {
		return "", false
	}
	return fmt.Sprintf("no sign of life for %s (threshold %s), newest: %s %s",
		span(age), span(threshold), s.Of, s.At.UTC().Format(time.RFC3339)), true
}

// span is a duration as it is configured: "31d", "26h", "45m".
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}
