package tmux

import (
	"context"
	"time"
)

// answerSteps is the number of equal parts in which answerTimeout is measured.
const (
	answerSteps = 8
	answerStep  = answerTimeout / answerSteps
)

// withAnswerTimeout returns a context that ends after answerTimeout, with the cause
// context.DeadlineExceeded. Time in which ccbot itself did not run, such as after a SIGSTOP or in a
// paused virtual machine, does not count: an answer may have come meanwhile, and is read first.
func withAnswerTimeout(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	count(ctx, cancel, answerSteps)
	return ctx, func() { cancel(nil) }
}

// count ends a context after a number of steps. A step that ends too late does not count.
func count(ctx context.Context, cancel context.CancelCauseFunc, steps int) {
	began := time.Now()
	time.AfterFunc(answerStep, func() {
		late := time.Since(began) >= 2*answerStep
		switch {
		case ctx.Err() != nil:
		case late:
			count(ctx, cancel, steps)
		case steps > 1:
			count(ctx, cancel, steps-1)
		default:
			cancel(context.DeadlineExceeded)
		}
	})
}
