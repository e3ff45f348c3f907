package tmux

import (
	"context"

	"ccbot/internal/pause"
)

// withAnswerTimeout returns a context that ends after answerTimeout, with the cause
// context.DeadlineExceeded. Time in which ccbot did not run does not count.
func withAnswerTimeout(parent context.Context) (context.Context, context.CancelFunc) {
	return pause.Timeout(parent, answerTimeout, context.DeadlineExceeded)
}
