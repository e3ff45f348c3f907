package outbox

import "time"

// Going is how the sending goes.
type Going struct {
	Errors  int           // calls that failed or were refused, since the start
	Waits   int           // times that Telegram has told a chat to wait, since the start
	Waiting int           // messages and edits in the queues
	Wait    time.Duration // what is left of the longest wait
	Failing bool          // the queue of a chat was not taken at its last try
}

// GoingOf is how the sending goes now.
func GoingOf(o *Outbox) (g Going) {
	now := time.Now()
	o.with(func(q *queues) {
		g = q.going
		for _, l := range q.order {
			g.Waiting += len(l.queue)
			g.Wait = max(g.Wait, l.until.Sub(now))
			g.Failing = g.Failing || l.failures > 0
		}
	})
	return g
}

// count counts what came of a call.
func (q *queues) count(v verdict, err error) {
	switch {
	case err == nil, v.answer == taken:
	case v.answer == paused:
		q.going.Waits++
	default:
		q.going.Errors++
	}
}
