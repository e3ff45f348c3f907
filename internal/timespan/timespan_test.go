package timespan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
