package inbox

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// backoff says how long to wait after the next failure in a row: from min,
// doubling, up to max. Half of it is chance, so that many clients of a server
// that comes back do not meet again.
type backoff struct {
	min, max time.Duration
	failures int
}

func (b *backoff) next() time.Duration {
	d := b.max
	if b.failures < 16 { // far beyond it the shift would overflow
		d = min(b.min<<b.failures, b.max)
	}
	b.failures++
	return d/2 + rand.N(d/2+1)
}

func (b *backoff) reset() { b.failures = 0 }

// wait returns nil after d, or the context's error when that ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// remind is after how long a warning that goes on is said again.
const remind = 10 * time.Minute

// repeats collapses a warning that comes again and again: the first is logged,
// the same one again every ten minutes with a count of all since the first.
type repeats struct {
	log   *slog.Logger
	msg   string
	count int
	last  time.Time
}

func (r *repeats) warn(ctx context.Context, level slog.Level, msg string, err error) {
	if msg != r.msg {
		r.msg, r.count, r.last = msg, 0, time.Time{}
	}
	r.count++
	if time.Since(r.last) < remind {
		return
	}
	r.last = time.Now()
	r.log.Log(ctx, level, msg, "error", err.Error(), "count", r.count)
}

// over says once that the trouble has passed.
func (r *repeats) over() {
	if r.msg != "" {
		r.log.Info("poll_recovered", "after", r.msg, "count", r.count)
	}
	r.msg, r.count, r.last = "", 0, time.Time{}
}
