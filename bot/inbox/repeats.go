package inbox

import (
	"context"
	"log/slog"
	"time"

	"ccbot/internal/logkey"
)

// remind is the interval of a repeated warning in the log.
const remind = 10 * time.Minute

// repeats collapses a repeated warning: the first is logged, then one every ten minutes with the
// count of all.
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
	r.log.Log(ctx, level, msg, logkey.Error, err, logkey.Count, r.count) //nolint:sloglint // the caller names the event
}

func (r *repeats) end() {
	if r.msg != "" {
		r.log.Info("poll_recovered", logkey.After, r.msg, logkey.Count, r.count)
	}
	r.msg, r.count, r.last = "", 0, time.Time{}
}
