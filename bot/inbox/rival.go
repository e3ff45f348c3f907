package inbox

import (
	"context"
	"log/slog"
	"time"
)

// rivalTime is how long another program must take the bot's messages, or must have left them alone,
// until people are notified: at a restart or a move two programs may overlap for a moment.
const rivalTime = time.Minute

// rivalry is the time in which another program polls with the same token.
type rivalry struct {
	since, last time.Time // of its conflicts; zero: none
	free        time.Time // of the first answered poll since the last failed one; zero: none
	reported    bool
	trouble     repeats
}

// conflict notes a poll that another program has ended, and reports whether people must know that.
func (r *rivalry) conflict(now time.Time) (report bool) {
	if now.Sub(r.last) > rivalTime && !r.reported {
		r.since = now
	}
	r.last = now
	return !r.reported && now.Sub(r.since) >= rivalTime
}

// hasEnded notes an answered poll, and reports whether the end of a reported rivalry must be
// reported. One answer proves nothing: for each message one of the two programs gets an answer.
func (r *rivalry) hasEnded(now time.Time) bool {
	if r.free.IsZero() {
		r.free = now
	}
	return r.reported && now.Sub(r.free) > rivalTime
}

// reportRival reports that another program takes the bot's messages, or no longer does.
func (i *Intake) reportRival(ctx context.Context, r *rivalry, polls bool) {
	reported, err := i.cfg.Reporter.RivalPolls(ctx, polls)
	if err != nil {
		r.trouble.warn(ctx, slog.LevelError, "rival_not_reported", err)
	}
	if reported {
		r.reported = polls
	}
}
