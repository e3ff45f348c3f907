package hooks

import (
	"slices"
	"sync"
	"time"
)

// mostDelays is how many events Slowest is about.
const mostDelays = 20

// delays are how long the last events have taken, from the hook until they were dealt with.
type delays struct {
	mu   sync.Mutex
	last []time.Duration
}

func (d *delays) add(one time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.last) == mostDelays {
		d.last = d.last[1:]
	}
	d.last = append(d.last, max(one, 0)) // the clock may have been set back
}

// Slowest is the longest that one of the last events has taken, from the hook until it was dealt with, and
// how many events these are.
func (e *Events) Slowest() (events int, took time.Duration) {
	e.delays.mu.Lock()
	defer e.delays.mu.Unlock()
	if len(e.delays.last) > 0 {
		took = slices.Max(e.delays.last)
	}
	return len(e.delays.last), took
}
