package center

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"ccbot/fleet/beat"
	"ccbot/fleet/join"
	"ccbot/fleet/rights"
	"ccbot/fleet/rpc"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port/refusal"
)

// visitInterval is the time between two checks whether the rights of a host end soon, and after
// which a host gets the names of the awaited files again.
const visitInterval = time.Hour

// visit replaces the rights of each host before they end, and tells it which files are awaited. A
// host that is away gets both when it is back.
func (c *Center) visit(ctx context.Context) error {
	for {
		again := visitInterval
		for _, s := range c.List() {
			if s.Presence != beat.Present {
				continue
			}
			if err := c.tellAwaited(ctx, s.ID); err != nil { // the host keeps all files
				c.settings.Log.Debug("host_step_failed", logkey.Name, s.Name, logkey.Error, err)
				if ctx.Err() == nil && (errors.Is(err, refusal.ErrUnreachable) || errors.Is(err, context.DeadlineExceeded)) {
					again = beat.Timeout // the call was lost
				}
			}
			if c.settings.Now().Before(s.Until.Add(rights.RenewalAt - rights.HostTTL)) {
				continue
			}
			if err := c.renewOne(ctx, s.Host); err != nil {
				c.settings.Log.Warn("host_step_failed", logkey.Name, s.Name, logkey.Error, err)
			}
		}
		if pause.Until(ctx, again, c.present); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (c *Center) tellAwaited(ctx context.Context, id string) error {
	c.mu.Lock()
	r := c.remotes[id]
	c.mu.Unlock()
	if r == nil || c.settings.Awaited == nil {
		return nil
	}
	names, err := c.settings.Awaited(id)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, beat.Timeout)
	defer stop()
	return r.tell(ctx, rpc.AwaitedKind, slices.Sorted(maps.Keys(names)))
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
