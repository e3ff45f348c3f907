package lifecycle

import (
	"context"
	"time"

	"ccbot/internal/pause"
)

// lookPace is how often something is looked at that changes in a moment and
// tells nobody.
const lookPace = 25 * time.Millisecond

// await looks until done says so, at most for patience. It looks at once, so
// done is called at least once; false says that patience or ctx ended first.
func await(ctx context.Context, pace, patience time.Duration, done func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !done() {
		if pause.For(ctx, pace) != nil {
			return false
		}
	}
	return true
}
