package inbox

import (
	"context"
	"time"

	"ccbot/internal/logkey"
)

// longOutage is the shortest outage that is reported. Sleep of the machine does not count.
const longOutage = 5 * time.Minute

// contact is the time of Telegram's last answer in this run, including errors; zero: none yet.
type contact struct {
	at time.Time
	up time.Duration // uptime of the machine
}

// note stores an answer of Telegram. If an outage ends with it, it returns the time of the answer
// before.
func (c *contact) note(now time.Time, up time.Duration) (since time.Time, outage bool) {
	was := *c
	*c = contact{now, up}
	return was.at, !was.at.IsZero() && up-was.up > longOutage
}

// reached notes an answer of Telegram, and reports the outage that it ends.
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
	if err := i.cfg.Reporter.OutageEnded(ctx, since, now); err != nil {
		i.cfg.Log.Error("outage_not_told", logkey.Error, err)
	}
}
