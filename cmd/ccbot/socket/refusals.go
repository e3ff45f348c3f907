package socket

import (
	"log/slog"
	"sync"
	"time"
)

// refusals logs which programs were refused at the socket, at most one line a second: a program
// that asks in a loop must not fill the log. Every line counts all refusals since the previous
// line, itself included. Refusals after the last line are in no line, because only another refusal
// writes one.
type refusals struct {
	now func() time.Time
	log *slog.Logger

	mu    sync.Mutex
	last  time.Time // of the last line
	count int       // since then
}

// refusalEvery is how often a line is logged at most.
const refusalEvery = time.Second

// note logs a refusal, or only counts it. If a later refusal is logged, that line says how many
// there were.
func (r *refusals) note(attributes ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	now := r.now()
	if since := now.Sub(r.last); since >= 0 && since < refusalEvery { // a clock that was set back must not silence it
		return
	}
	r.log.Warn("control_refused", append(attributes, "count", r.count)...)
	r.last, r.count = now, 0
}
