package main

import (
	"context"
	"time"

	"ccbot/internal/pause"
	"ccbot/recovery"
)

// losses collects sessions that are lost together, because their tmux server has
// ended: the chat gets one message of all of them.
type losses chan struct{}

// lossPause is how long others that are lost by the same are waited for.
const lossPause = 2 * time.Second

func newLosses() losses { return make(losses, 1) }

// note says that a session was lost; what it says of it is in its record.
func (l losses) note() {
	pause.Poke(l) // a second loss is told with the first
}

// tellLosses tells the chat of sessions that are lost while ccbot runs.
func (s *system) tellLosses(ctx context.Context) error {
	return s.losses.run(ctx, func(ctx context.Context, r recovery.Report) {
		s.recovering.Lock() // who recovers tells of them as well
		defer s.recovering.Unlock()
		s.tell(ctx, r)
	})
}

// run tells until ctx ends. What it does not come to is told at the next start.
func (l losses) run(ctx context.Context, tell func(context.Context, recovery.Report)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l:
		}
		if err := pause.For(ctx, lossPause); err != nil {
			return err
		}
		select {
		case <-l: // it is told now
		default:
		}
		tell(ctx, recovery.Report{At: time.Now()})
	}
}
