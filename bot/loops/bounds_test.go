package loops

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/port"
)

func TestBoundsOf(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		text string
		want port.LoopBounds
		ok   bool
	}{
		{"30", port.LoopBounds{Turns: 30}, true},
		{"30 $15 2h 18:00 500k", port.LoopBounds{Turns: 30, Cost: 15, Minutes: 120, Until: now.Add(6 * time.Hour), Tokens: 500_000}, true},
		{"08:00", port.LoopBounds{Until: now.Add(20 * time.Hour)}, true},
		{"2.5 $, 90m, 2M", port.LoopBounds{Cost: 2.5, Minutes: 90, Tokens: 2_000_000}, true},
		{"0", port.LoopBounds{}, false},
		{"-5", port.LoopBounds{}, false},
		{"30s", port.LoopBounds{}, false},
		{"until done", port.LoopBounds{}, false},
		{"", port.LoopBounds{}, false},
		{"9223372036854775807", port.LoopBounds{}, false},
		{"$1" + strings.Repeat("0", 400), port.LoopBounds{}, false},
		{"2147483647M", port.LoopBounds{}, false},
	} {
		got, ok := boundsOf(tt.text, now)
		assert.Equal(t, tt.ok, ok, tt.text)
		if ok {
			assert.Equal(t, tt.want, got, tt.text)
		}
	}
}
