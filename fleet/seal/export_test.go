package seal

import (
	"maps"
	"slices"

	"golang.org/x/time/rate"
)

// Resumed returns this end as a snapshot of its machine's memory has it.
func (l *Link) Resumed() *Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	opened := make(map[string]*window)
	for id, w := range l.opened {
		seen := *w
		opened[id] = &seen
	}
	return &Link{Patience: l.Patience, pair: l.pair, me: l.me, them: l.them, stored: l.stored, epoch: l.epoch, begun: l.begun, sealed: l.sealed,
		opened: opened, marks: slices.Clone(l.marks), met: make(chan struct{}), begins: rate.NewLimiter(maxBegins, beginBurst), life: l.life, left: l.left,
		known: l.known, came: l.came, watch: l.watch, beside: maps.Clone(l.beside), elsewhere: l.elsewhere, since: l.since}
}
