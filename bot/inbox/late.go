package inbox

import (
	"context"
	"log/slog"
	"time"

	"ccbot/internal/logkey"
)

// maxSkew is the largest difference between this machine's clock and Telegram's without a report. A date of Telegram's that is
// further before what was sent is not sound.
const maxSkew = 2 * time.Minute

// Clock is a clock that no person sets. Now and Since continue while the machine sleeps.
type Clock interface {
	// Now returns the present moment as text; empty: it is not known.
	Now() string
	// Since returns the time since a moment. It is false if the clock has started again since, as at a boot.
	Since(moment string) (time.Duration, bool)
	// Uptime returns how long the machine is up, without the time in which it slept.
	Uptime() time.Duration
}

// Lateness returns how long after it was sent an entry came: by Telegram's clock alone if the answer that brought it
// has a sound date, otherwise by this machine's clock. Without a time of sending it is 0.
func (e Entry) Lateness() time.Duration {
	if e.Sent.Unix() <= 0 {
		return 0
	}
	if late := e.Answered.Sub(e.Sent); !e.Answered.IsZero() && late >= -maxSkew {
		return late
	}
	return e.Received.Sub(e.Sent)
}

// Age returns how long ago an entry was received.
func (s *Store) Age(e Entry) time.Duration {
	if s.Clock != nil && e.Moment != "" {
		if age, ok := s.Clock.Since(e.Moment); ok {
			return age
		}
	}
	return time.Since(e.Received)
}

// clocks keeps which reports were made about a clock of this machine that differs from Telegram's.
type clocks struct {
	logged, told bool
	trouble      repeats
}

// compareClocks reports a clock of this machine that differs from Telegram's, once as long as it does.
func (i *Intake) compareClocks(ctx context.Context, c *clocks, r reply) {
	switch {
	case r.date.IsZero() || c.told && r.skew.Abs() > maxSkew:
		return
	case r.skew.Abs() <= maxSkew:
		*c = clocks{trouble: c.trouble}
		return
	case !c.logged:
		i.cfg.Log.Warn("clock_differs", logkey.Ahead, r.skew.Round(time.Second).String(), logkey.Mend, "sudo timedatectl set-ntp true")
	}
	var err error
	if c.told, err = i.cfg.Reporter.ClockDiffers(ctx, r.skew); err != nil {
		c.trouble.warn(ctx, slog.LevelError, "clock_not_reported", err)
	}
	c.logged = true
}
