package hooks

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSlowestOfRecentEvents(t *testing.T) {
	e, dir := newEvents(t, newSink(nil))
	now := time.Now()
	e.began, e.now = now, func() time.Time { return now.Add(time.Hour) }
	deliver := func(received time.Time, n int) {
		put(t, dir, "l", strconv.Itoa(n), received)
		require.NoError(t, e.Drain(t.Context()))
	}
	slowest := func(events int, took time.Duration) {
		t.Helper()
		n, d := e.Slowest()
		assert.Equal(t, []any{events, took}, []any{n, d})
	}
	slowest(0, 0)
	deliver(now.Add(-time.Minute), 0) // it waited for this run
	slowest(0, 0)
	deliver(now.Add(time.Minute), 1)
	deliver(now.Add(2*time.Hour), 2) // the clock was set back
	slowest(2, 59*time.Minute)
	for n := range mostDelays {
		deliver(now.Add(time.Hour-time.Duration(n)*time.Second), 3+n)
	}
	slowest(mostDelays, (mostDelays-1)*time.Second)
}
