package running

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/fleet/center"
)

// TestSilenceOfHub: a hub is silent since the last beat that came through it, and counts only where it is needed.
func TestSilenceOfHub(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	began := now.Add(-time.Hour)
	cut := func(ago time.Duration) center.State { return center.State{Cut: true, Heard: now.Add(-ago)} }
	never := center.State{Cut: true}
	for name, tt := range map[string]struct {
		all  []center.State
		want time.Duration
	}{
		"no machine":                 {nil, 0},
		"the hub answers":            {[]center.State{{Heard: now}}, 0},
		"one machine is merely away": {[]center.State{{Heard: now.Add(-time.Hour)}}, 0},
		"the last beat of two":       {[]center.State{cut(time.Minute), cut(2 * time.Minute)}, time.Minute},
		"beside an unreadable one":   {[]center.State{{Fault: errors.New("x")}, cut(time.Minute)}, time.Minute},
		"only an unreadable one":     {[]center.State{{Fault: errors.New("x")}}, 0},
		"none since the start":       {[]center.State{never}, time.Hour},
	} {
		assert.Equal(t, tt.want, silenceOf(tt.all, began, now), name)
	}
}
