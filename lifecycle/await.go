package lifecycle

import (
	"context"
	"time"

	"ccbot/internal/pause"
)

// lookPace is how often ccbot looks at something that changes within a moment and sends no
// notification.
const lookPace = 25 * time.Millisecond

// await calls done until it returns true, at most for patience. done is called at least once; false
// means that patience or ctx ended first.
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
