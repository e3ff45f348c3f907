// Package pause waits: for a time or the end of a context, and longer after each failure. It also wakes who waits.
package pause

import (
	"context"
	"math/rand/v2"
	"time"
)

// For returns nil after d, or the context's error when that ends first.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Backoff says how long to wait after the next failure in a row: from Min, doubling, up to Max. Half of
// it is chance, so that many clients of a server that comes back do not meet again.
type Backoff struct {
	Min, Max time.Duration
	failures int
}

// Next is the pause after one more failure.
func (b *Backoff) Next() time.Duration {
	d := b.Max
	if b.failures < 16 { // far beyond it the shift would overflow
		d = min(b.Min<<b.failures, b.Max)
	}
	b.failures++
	return d/2 + rand.N(d/2+1)
}

// Reset begins anew: something has succeeded.
func (b *Backoff) Reset() { b.failures = 0 }

// Poke wakes who waits at a channel of capacity 1, or will wait there next. It does not wait.
func Poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
