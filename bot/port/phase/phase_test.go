package phase

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAt(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name  string
		phase Phase
		until time.Time
		want  Phase
	}{
		{"a limit", Limited, now.Add(time.Second), Limited},
		{"a limit that has ended", Limited, now, Idle},
		{"a limit without an end", Limited, time.Time{}, Limited},
		{"a request that is made again", APIError, now.Add(time.Second), APIError},
		{"one that is under way", APIError, now.Add(-time.Minute + time.Second), APIError},
		{"one of which nobody has told for a minute", APIError, now.Add(-time.Minute), Unknown},
		{"one that is given up", APIError, time.Time{}, APIError},
		{"working", Working, time.Time{}, Working},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, Now{Phase: tc.phase, What: "said", Until: tc.until}.At(now).Phase)
		})
	}
}
