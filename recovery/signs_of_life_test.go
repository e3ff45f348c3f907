package recovery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/talk"
)

// An act of the agent or of a person keeps a session alive, a write of ccbot does not.
func TestTimestamps_SignsOfLife(t *testing.T) {
	later := noon.Add(time.Hour)
	tests := []struct {
		of     string // empty: no sign
		change func(r *session.Record)
	}{
		{"created_at", func(r *session.Record) { r.CreatedAt = later }},
		{"started_at", func(r *session.Record) { r.StartedAt = later }},
		{"reports_at", func(r *session.Record) { r.ReportsAt = later }},
		{"ready_at", func(r *session.Record) { r.ReadyAt = later }},
		{"phase_at", func(r *session.Record) { r.Phase, r.PhaseAt = string(talk.PhaseIdle), later }},
		{"last_turn_at", func(r *session.Record) { r.Progress.LastTurnAt = later }},
		{"bound_at", func(r *session.Record) { r.Binding.BoundAt = later }},
		{"usage_at", func(r *session.Record) { r.Usage = &port.Usage{At: later} }},
		{"", func(r *session.Record) { r.Phase, r.PhaseAt = string(talk.PhaseUnknown), later }},
		{"", func(r *session.Record) { r.PhaseAt = later }},
		{"", func(r *session.Record) { r.UpdatedAt = later }},
		{"", func(r *session.Record) { r.EndedAt = later }},
		{"", func(r *session.Record) { r.Note(later, "recovery.abandon", "begins") }},
	}
	for _, tc := range tests {
		t.Run(tc.of, func(t *testing.T) {
			r := record(session.Running, binding(3))
			tc.change(&r)
			if tc.of == "" {
				assert.Equal(t, Sign{noon, "created_at"}, signOf(r))
			} else {
				assert.Equal(t, Sign{later, tc.of}, signOf(r))
			}
		})
	}
	bare := record(session.Lost, nil)
	assert.Equal(t, Sign{noon, "created_at"}, signOf(bare))
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		31*day + 5*time.Hour: "31d", 48 * time.Hour: "2d", 47 * time.Hour: "47h", day: "24h", 90 * time.Minute: "1h", 59 * time.Minute: "59m", 0: "0m"} {
		assert.Equal(t, want, span(d))
	}
}
