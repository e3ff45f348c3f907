package tmux

import (
	"context"
	"sync"
	"time"
)

// silenceNotice is how long a command is open before the OnSilence functions are called.
const silenceNotice = 30 * time.Second

// silence knows whether a command has been open for silenceNotice.
type silence struct {
	mu       sync.Mutex
	since    time.Time // zero: no command has
	notified bool      // the state that the functions know of
	on       []func(ctx context.Context, silent bool)
}

func (s *silence) add(f func(ctx context.Context, silent bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = append(s.on, f)
}

// set notes whether a command has been open for silenceNotice, and calls changed if that is new.
func (s *silence) set(silent bool, changed func()) {
	s.mu.Lock()
	was := !s.since.IsZero()
	switch {
	case !silent:
		s.since = time.Time{}
	case !was:
		s.since = time.Now().Add(-silenceNotice)
	}
	s.mu.Unlock()
	if silent != was {
		changed()
	}
}

// forget ends the silence of a server that is proven gone: it does not answer again.
func (s *silence) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since, s.notified = time.Time{}, false
}

// tell calls the functions if the state is not the one that they know of.
func (s *silence) tell(ctx context.Context) {
	s.mu.Lock()
	on, silent := s.on, !s.since.IsZero()
	if silent == s.notified {
		on = nil
	}
	s.notified = silent
	s.mu.Unlock()
	for _, f := range on {
		f(ctx, silent)
	}
}

// Silence returns how long the server has owed an answer, and 0 if that is less than 30 seconds.
func Silence(c *Client) time.Duration {
	c.silence.mu.Lock()
	defer c.silence.mu.Unlock()
	if c.silence.since.IsZero() {
		return 0
	}
	return time.Since(c.silence.since)
}
