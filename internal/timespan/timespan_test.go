package timespan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "12s": 12 * time.Second, "90m": 90 * time.Minute,
		"1h30m": 90 * time.Minute, "2h0m0s": 2 * time.Hour, "14d": 14 * 24 * time.Hour} {
		got, err := Parse(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "5", "30m1h", "1h1h", "-1h", "1.5h", "1 h", "9999999999d", "123456789:AAaaBBbbCCccDDdd"} {
		_, err := Parse(text)
		assert.Error(t, err, text)
	}
	_, err := Parse("123456789:AAaaBBbbCCccDDdd")
	assert.NotContains(t, err.Error(), "AAaa", "it may be a token")
}

func TestNextClock(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	now := time.Date(2026, 1, 31, 8, 0, 0, 0, zone)
	for text, want := range map[string]time.Time{"08:01": now.Add(time.Minute), "8:01": now.Add(time.Minute), "08:00": now.Add(24 * time.Hour), "07:59": now.Add(24*time.Hour - time.Minute)} {
		at, ok := NextClock(text, now)
		assert.True(t, ok, text)
		assert.Equal(t, want.UTC(), at, text)
	}
	for _, text := range []string{"", "8", "24:00", "8h"} {
		_, ok := NextClock(text, now)
		assert.False(t, ok, text)
	}
}
