package guard

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/internal/pause"
)

// How long what crashed waits until it runs again.
const (
	firstRestart = time.Second
	lastRestart  = time.Minute
)

// Keep runs do until it returns without a panic, and returns its error. After a panic crashed is
// called, and do runs again after a pause unless ctx ends first.
func Keep(ctx context.Context, do func() error, crashed func(*Panic)) error {
	pauses := pause.Backoff{Min: firstRestart, Max: lastRestart}
	for {
		err := Call(do)
		p, ok := errors.AsType[*Panic](err)
		if !ok {
			return err
		}
		crashed(p)
		if pause.For(ctx, pauses.Next()) != nil {
			return nil
		}
	}
}

// Group is a set of goroutines that come and go, each kept running over its panics. Its zero value
// is ready.
type Group struct {
	mu      sync.Mutex
	waiting []func(context.Context)
	wake    chan struct{}
}

// Add lets do run, now or as soon as Run runs. It does not wait.
func (c *Group) Add(do func(ctx context.Context)) {
	c.mu.Lock()
	c.waiting = append(c.waiting, do)
	c.mu.Unlock()
	pause.Poke(c.channel())
}

func (c *Group) channel() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wake == nil {
		c.wake = make(chan struct{}, 1)
	}
	return c.wake
}

func (c *Group) takeWaiting() (all []func(context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, c.waiting = c.waiting, nil
	return all
}

// Run runs the functions of Add until ctx ends and all have returned. It calls crashed after each
// panic.
func (c *Group) Run(ctx context.Context, crashed func(*Panic)) error {
	var g errgroup.Group
	for wake := c.channel(); ; {
		for _, do := range c.takeWaiting() {
			g.Go(func() error {
				return Keep(ctx, func() error { do(ctx); return nil }, crashed)
			})
		}
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-wake:
		}
	}
}
