// Package pause waits: for a time, a wake-up or the end of a context, and longer after each
// failure.
package pause

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Forever is a pause that only a wake-up or a context ends.
const Forever time.Duration = math.MaxInt64

// For returns nil after d, or the context's error when that ends first.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Until returns after d, at a wake-up or when ctx ends, whichever is first, and reports whether it
// was a wake-up.
func Until(ctx context.Context, d time.Duration, wake <-chan struct{}) (woken bool) {
	var timer <-chan time.Time // nil waits for ever
	if d != Forever {
		timer = time.After(d)
	}
	select {
	case <-timer:
	case <-ctx.Done():
	case <-wake:
		return true
	}
	return false
}

// Doubled returns a pause that has doubled n times, up to most.
func Doubled(first, most time.Duration, n int) time.Duration {
	for ; n > 0 && first < most; n-- {
		first *= 2
	}
	return min(first, most)
}

// MaxRetryAfter is the longest pause that a server's retry_after is believed: a larger value would
// mute a chat for days, or overflow.
const MaxRetryAfter = time.Hour

// RetryAfter returns the pause for a retry_after in seconds: at least a second, at most
// MaxRetryAfter.
func RetryAfter(seconds int) time.Duration {
	return time.Duration(min(max(seconds, 1), int(MaxRetryAfter/time.Second))) * time.Second
}

// Backoff computes the pause after the next failure in a row: from Min, doubling, up to Max. Half
// of it is random, so that many clients of a server that comes back do not meet again.
type Backoff struct {
	Min, Max time.Duration
	failures int
}

// Next is the pause after one more failure.
func (b *Backoff) Next() time.Duration {
	d := Doubled(b.Min, b.Max, b.failures)
	b.failures++
	return d/2 + rand.N(d/2+1)
}

// Reset starts again from Min, after a success.
func (b *Backoff) Reset() { b.failures = 0 }

// Poke wakes who waits at a channel of capacity 1, or will wait there next. It does not wait.
func Poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Await calls done at an interval until it returns true, at most for timeout. done is called at
// least once; false means that timeout or ctx ended first.
func Await(ctx context.Context, interval, timeout time.Duration, done func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for !done() {
		if For(ctx, interval) != nil {
			return false
		}
	}
	return true
}

// timeoutSteps is the number of equal parts in which Timeout measures its time.
const timeoutSteps = 8

// Timeout returns a context that ends after d, with a cause. Time in which this program did not
// run, such as after a SIGSTOP or in a paused virtual machine, does not count: an answer may have
// come meanwhile, and is read first.
func Timeout(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	c := countdown{ctx: ctx, end: func() { cancel(cause) }, step: d / timeoutSteps, now: time.Now}
	c.run(timeoutSteps)
	return ctx, func() { cancel(nil) }
}

// countdown calls end after a number of steps.
type countdown struct {
	ctx  context.Context // without it no step follows
	end  func()
	step time.Duration
	now  func() time.Time
}

// run counts down. A step that ends too late does not count.
func (c countdown) run(steps int) {
	began := c.now()
	time.AfterFunc(c.step, func() {
		late := c.now().Sub(began) >= 2*c.step
		switch {
		case c.ctx.Err() != nil:
		case late:
			c.run(steps)
		case steps > 1:
			c.run(steps - 1)
		default:
			c.end()
		}
	})
}
