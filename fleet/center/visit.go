package center

import (
	"context"
	"fmt"
	"time"

	"ccbot/fleet/beat"
	"ccbot/fleet/join"
	"ccbot/fleet/rights"
	"ccbot/fleet/rpc"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// visitInterval is the time between two checks whether the rights of a host end soon.
const visitInterval = time.Hour

// visit replaces the rights of each host before they end. A host that is away gets them when it is
// back.
func (c *Center) visit(ctx context.Context) error {
	for {
		for _, s := range c.List() {
			if s.Presence != beat.Present {
				continue
			}
			if c.settings.Now().Before(s.Until.Add(rights.RenewalAt - rights.HostTTL)) {
				continue
			}
			if err := c.renewOne(ctx, s.Host); err != nil {
				c.settings.Log.Warn("host_step_failed", logkey.Name, s.Name, logkey.Error, err)
			}
		}
		if pause.Until(ctx, visitInterval, c.present); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (c *Center) renewOne(ctx context.Context, host join.Host) error {
	c.mu.Lock()
	r := c.remotes[host.ID]
	c.mu.Unlock()
	if r == nil {
		return nil
	}
	token, until, err := c.desk.Renew(host.ID, host.Users[len(host.Users)-1])
	if err == nil {
		err = r.tell(ctx, rpc.RightsKind, token)
	}
	if err == nil { // only now: a host that has missed them gets others
		err = c.desk.Renewed(host.ID, until)
	}
	if err != nil {
		return fmt.Errorf("give %s its rights: %w", host.Name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.host.Until = until
	return nil
}
