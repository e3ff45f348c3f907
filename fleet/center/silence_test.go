package center

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/fleet/beat"
)

// TestSilenceOfHub: a hub is silent since the last beat that came through it, and counts only where it is needed.
func TestSilenceOfHub(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	began := now.Add(-time.Hour)
	cut := func(ago time.Duration) State { return State{Cut: true, Heard: now.Add(-ago)} }
	never := State{Cut: true}
	for name, tt := range map[string]struct {
		all  []State
		want time.Duration
	}{
		"no machine":                 {nil, 0},
		"the hub answers":            {[]State{{Heard: now}}, 0},
		"one machine is merely away": {[]State{{Heard: now.Add(-time.Hour)}}, 0},
		"the last beat of two":       {[]State{cut(time.Minute), cut(2 * time.Minute)}, time.Minute},
		"beside an unreadable one":   {[]State{{Fault: errors.New("x")}, cut(time.Minute)}, time.Minute},
		"only an unreadable one":     {[]State{{Fault: errors.New("x")}}, 0},
		"none since the start":       {[]State{never}, time.Hour},
	} {
		assert.Equal(t, tt.want, silence(tt.all, began, now), name)
	}
}

// TestHeldMessages: those of an end count after beat.MostHeld.
func TestHeldMessages(t *testing.T) {
	const short, long = beat.MostHeld, beat.MostHeld + time.Second
	for name, tt := range map[string]struct {
		ours       int
		since      time.Duration
		theirs     int
		theirSince time.Duration
		n          int
		longest    time.Duration
	}{
		"none":              {},
		"a moment":          {3, short, 4, short, 0, 0},
		"the chat's":        {3, long, 4, short, 3, long},
		"the machine's":     {3, short, 4, long, 4, long},
		"of both":           {3, long, 4, 2 * long, 7, 2 * long},
		"the chat's longer": {3, 2 * long, 4, long, 7, 2 * long},
	} {
		n, longest := held(tt.ours, tt.since, tt.theirs, tt.theirSince)
		assert.Equal(t, tt.n, n, name)
		assert.Equal(t, tt.longest, longest, name)
	}
}
