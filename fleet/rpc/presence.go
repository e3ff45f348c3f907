package rpc

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"ccbot/fleet/beat"
	"ccbot/fleet/seal"
	"ccbot/internal/pause"
)

// lostAfter is the number of beats without a call after which the call, or its answer, is lost. The
// first one may have been sent before the call arrived.
const lostAfter = 2

// Beat is the status that a host reports.
type Beat struct {
	Version  string  `json:"version"` // of ccbot
	Agents   int     `json:"agents"`  // that run
	Load     float64 `json:"load"`    // of the last minute, for each processor
	DiskFree int64   `json:"disk_free"`
	DiskSize int64   `json:"disk_size"`
	// Clock is the time of the host's clock; zero: of an earlier version.
	Clock time.Time `json:"clock,omitzero"`
	// Held is the number of messages for the chat that it has not answered, and HeldFor how long none
	// of them has passed.
	Held    int           `json:"held,omitempty"`
	HeldFor time.Duration `json:"held_for,omitempty"`
	// Calls are the ids of the calls that the host is making.
	Calls []string `json:"calls,omitempty"`
}

// ping sends the host a message in each interval, by which the next beat shows its age. It alone
// waits for a hub that takes no bytes: the client holds its lock as long.
func (c *Caller) ping(ctx context.Context) {
	for ctx.Err() == nil {
		isConnected := c.Conn.IsConnected()
		c.connected.Store(isConnected)
		if isConnected {
			c.Ping()
		}
		_ = pause.For(ctx, beat.Interval) // ends with ctx
	}
}

// check ends the calls to a host that has fallen silent.
func (c *Caller) check() {
	c.mu.Lock()
	now := time.Now()
	c.watch.Connect(now, c.connected.Load())
	c.presence = c.watch.Check(now)
	if c.Link != nil {
		c.Link.Tick(c.connected.Load())
		if c.Link.IsTorn() {
			c.presence = beat.Away
		}
	}
	away := c.presence == beat.Away
	c.mu.Unlock()
	if c.Tick != nil {
		c.Tick()
	}
	if away {
		c.loseAll()
	}
	c.report()
}

// report calls Changed if the presence is another one than in the last call. A beat and a check may
// come at the same time: the last call has the last presence.
func (c *Caller) report() {
	c.reporting.Lock()
	defer c.reporting.Unlock()
	c.mu.Lock()
	is, heard := c.presence, c.heard
	c.mu.Unlock()
	if is != c.reported && c.Changed != nil {
		c.reported = is
		c.Changed(is, heard)
	}
}

// State returns whether the host can be reached, when it was heard last, and what it said then.
func (c *Caller) State() (beat.Presence, time.Time, Beat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.said
	said.Calls = nil
	return c.presence, c.heard, said
}

// IsCut reports whether the hub does not answer the chat: it says nothing about the host.
func (c *Caller) IsCut() bool { return !c.connected.Load() }

// Steady returns how long the host has been heard without a break.
func (c *Caller) Steady() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.presence != beat.Present {
		return 0
	}
	return time.Since(c.steady)
}

// greet tells the host the epoch, at most once in an interval of beats.
func (c *Caller) greet() {
	c.mu.Lock()
	due := time.Since(c.greeted) >= beat.Interval
	if due {
		c.greeted = time.Now()
	}
	c.mu.Unlock()
	if due {
		go c.Greet()
	}
}

func (c *Caller) takeBeat(m seal.Message) {
	var b Beat
	if len(m.Body) > mostBeat || json.Unmarshal(m.Body, &b) != nil {
		return
	}
	b = b.bounded()
	c.mu.Lock()
	now := time.Now()
	c.connected.Store(true) // the next ping may show that it has ended
	c.watch.Beat(now)
	if c.presence != beat.Present || now.Round(0).Sub(c.heard.Round(0)) > beat.Timeout { // without Round, this machine's sleep would not count
		c.steady = now
	}
	c.presence, c.heard, c.said = beat.Present, now, b
	counts := now.Sub(c.counted) >= beat.Interval/2 // two beats at once may both be older than a call
	if counts {
		c.counted = now
	}
	for id, w := range c.calls {
		if slices.Contains(b.Calls, id) {
			w.missed = 0
		} else if counts {
			w.missed++
		}
		if w.missed >= lostAfter {
			w.lose()
		}
	}
	var left []string
	for _, id := range b.Calls {
		if c.calls[id] == nil {
			left = append(left, id)
		}
	}
	c.mu.Unlock()
	for _, id := range left {
		c.cancel(id)
	}
	c.report()
}
