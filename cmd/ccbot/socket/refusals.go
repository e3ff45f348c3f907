package socket

import (
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// refusals logs which programs were refused at the socket, at most one line a second: a program
// that asks in a loop must not fill the log. Every line counts all refusals since the previous
// line, itself included. Refusals after the last line are in no line, because only another refusal
// writes one.
type refusals struct {
	log   *slog.Logger
	due   rate.Sometimes
	count atomic.Int64 // since the last line
}

// refusalEvery is how often a line is logged at most.
const refusalEvery = time.Second

func newRefusals(log *slog.Logger) *refusals {
	return &refusals{log: log, due: rate.Sometimes{Interval: refusalEvery}}
}

// note logs a refusal, or only counts it.
func (r *refusals) note(attributes ...any) {
	r.count.Add(1)
	r.due.Do(func() { r.log.Warn("control_refused", append(attributes, "count", r.count.Swap(0))...) })
}
