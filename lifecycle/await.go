package lifecycle

import (
	"context"
	"time"
)

// lookPace is how often something is looked at that changes in a moment and
// tells nobody.
const lookPace = 25 * time.Millisecond

// await looks until done says so, at most for patience. It looks at once, so
// done is called at least once; false says that patience or ctx ended first.
func await(ctx context.Context, pace, patience time.Duration, done func() bool) bool {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-deadline.C:
			return false
		case <-tick.C:
		}
	}
	return true
}
