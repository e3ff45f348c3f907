package inbox

import (
	"sync"
	"time"
)

// Silence is how long a loop that polls may be silent before it counts as stuck: the time of two
// polls in a row that had to be given up.
const Silence = 2 * (pollTime + 2*slack + lookEvery)

// Pulse shows other goroutines whether a loop that polls goes on. A server that does not answer
// does not make the loop stuck: a poll that fails has ended, and a rest is on purpose. The zero
// value knows nothing.
type Pulse struct {
	mu    sync.Mutex
	beat  time.Time // when the last try ended, well or badly
	until time.Time // the end of a rest; a time before beat means that there is none
	rival bool      // the last try failed because another program takes the messages
}

// Beat notes that a try has ended, well or badly.
func (p *Pulse) Beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beat, p.until, p.rival = now, now, false
}

// Lost notes that the try has failed because another program takes the bot's messages.
func (p *Pulse) Lost() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rival = true
}

// Rival reports whether another program takes the bot's messages, as far as the last try shows.
func (p *Pulse) Rival() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rival
}

// Rest notes that the loop pauses for a while after a failure.
func (p *Pulse) Rest(now time.Time, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = now.Add(d)
}

// State reports since when the last try is over, whether the loop goes on, and whether that try was a failure.
func (p *Pulse) State(now time.Time) (ago time.Duration, goesOn, failing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := p.beat
	if p.until.After(since) {
		since = p.until
	}
	return now.Sub(p.beat), now.Sub(since) <= Silence, p.until.After(p.beat)
}
