package outbox

import "context"

// Flush waits until nothing is under way and nothing may be sent at once. What a chat's pace holds
// back it leaves: posts are on disk.
func Flush(ctx context.Context, o *Outbox) {
	done := make(chan struct{})
	o.with(func(q *queues) { q.flushes = append(q.flushes, done) })
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// flushed tells those who wait in Flush.
func (q *queues) flushed() {
	for _, done := range q.flushes {
		close(done)
	}
	q.flushes = nil
}
