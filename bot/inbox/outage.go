package inbox

import (
	"context"
	"time"

	"ccbot/internal/logkey"
)

// longOutage is how long Telegram must have been out of reach for a report. Time in which the machine slept does not
// count.
const longOutage = 5 * time.Minute

// contact is when Telegram last answered in this run, with an error or without; zero: not yet.
type contact struct {
	at time.Time
	up time.Duration // how long the machine was up
}

// note notes that Telegram has answered. It returns when it had answered before if an outage ends with that.
func (c *contact) note(now time.Time, up time.Duration) (since time.Time, outage bool) {
	was := *c
	*c = contact{now, up}
	return was.at, !was.at.IsZero() && up-was.up > longOutage
}

// reached notes an answer of Telegram's, and reports the outage that it ends.
func (i *Intake) reached(ctx context.Context, p *polling) {
	now := time.Now()
	up := time.Since(i.began)
	if i.cfg.Store.Clock != nil {
		up = i.cfg.Store.Clock.Uptime()
	}
	since, outage := p.contact.note(now, up)
	if !outage {
		return
	}
	i.cfg.Log.Warn("outage_over", logkey.Age, now.Sub(since).Round(time.Second).String())
	if err := i.cfg.Reporter.OutageOver(ctx, since, now); err != nil {
		i.cfg.Log.Error("outage_not_told", logkey.Error, err)
	}
}
