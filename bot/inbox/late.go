package inbox

import (
	"context"
	"log/slog"
	"time"

	"ccbot/internal/logkey"
)

// maxSkew is the largest unreported difference between this machine's clock and Telegram's. A date
// further before the sending of its update is invalid.
const maxSkew = 2 * time.Minute

// Clock is a clock that no person sets. Now and Since continue while the machine sleeps.
type Clock interface {
	// Now returns the current time as text, or "" if it is unknown.
	Now() string
	// Since returns the time since a moment. It is false if the clock has restarted since, as at a
	// boot.
	Since(moment string) (time.Duration, bool)
	// Uptime returns the time that the machine is up, without sleep.
	Uptime() time.Duration
}

// Lateness returns the time between the sending and the receipt of an entry: by Telegram's clock if
// the answer with it has a valid date, otherwise by this machine's. Without a time of sending it is
// 0.
func (e Entry) Lateness() time.Duration {
	if e.Sent.Unix() <= 0 {
		return 0
	}
	if late := e.Answered.Sub(e.Sent); !e.Answered.IsZero() && late >= -maxSkew {
		return late
	}
	return e.Received.Sub(e.Sent)
}

// Age returns the time since the receipt of an entry.
func (s *Store) Age(e Entry) time.Duration {
	if s.Clock != nil && e.Moment != "" {
		if age, ok := s.Clock.Since(e.Moment); ok {
			return age
		}
	}
	return time.Since(e.Received)
}

// clocks stores which reports were made about a wrong clock.
type clocks struct {
	logged, reported bool
	trouble          repeats
}

// compareClocks reports a wrong clock of this machine, once while it lasts.
func (i *Intake) compareClocks(ctx context.Context, c *clocks, r reply) {
	switch {
	case r.date.IsZero() || c.reported && r.skew.Abs() > maxSkew:
		return
	case r.skew.Abs() <= maxSkew:
		*c = clocks{trouble: c.trouble}
		return
	case !c.logged:
		i.cfg.Log.Warn("clock_differs", logkey.Ahead, r.skew.Round(time.Second).String(), logkey.Fix, "sudo timedatectl set-ntp true")
	}
	var err error
	if c.reported, err = i.cfg.Reporter.ClockDiffers(ctx, r.skew); err != nil {
		c.trouble.warn(ctx, slog.LevelError, "clock_not_reported", err)
	}
	c.logged = true
}
