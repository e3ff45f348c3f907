package talk

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
		{"a limit", PhaseLimited, now.Add(time.Second), PhaseLimited},
		{"a limit that has ended", PhaseLimited, now, PhaseIdle},
		{"a limit without an end", PhaseLimited, time.Time{}, PhaseLimited},
		{"a request that is made again", PhaseAPIError, now.Add(time.Second), PhaseAPIError},
		{"one that is under way", PhaseAPIError, now.Add(-time.Minute + time.Second), PhaseAPIError},
		{"one of which nobody has told for a minute", PhaseAPIError, now.Add(-time.Minute), PhaseUnknown},
		{"one that is given up", PhaseAPIError, time.Time{}, PhaseAPIError},
		{"working", PhaseWorking, time.Time{}, PhaseWorking},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, Activity{Phase: tc.phase, What: "said", Until: tc.until}.At(now).Phase)
		})
	}
}
