package files

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// maxSends bounds the files that one session's agent may send within quotaInterval: each delays
// messages in the same chat.
const (
	maxSends      = 10
	quotaInterval = time.Minute
)

// quota remembers when each session sent its last files. The zero value is ready to use.
type quota struct {
	mu   sync.Mutex
	sent map[uuid.UUID][]time.Time // at most maxSends each, oldest first
}

// take counts a file of a session. If the session has none left, it returns the time to wait.
func (q *quota) take(session uuid.UUID, now time.Time) (wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, times := range q.sent {
		if now.Sub(times[len(times)-1]) >= quotaInterval {
			delete(q.sent, id)
		}
	}
	times := q.sent[session]
	if len(times) == maxSends {
		if wait = quotaInterval - now.Sub(times[0]); wait > 0 {
			return wait
		}
		times = times[1:]
	}
	if q.sent == nil {
		q.sent = make(map[uuid.UUID][]time.Time)
	}
	q.sent[session] = append(times, now)
	return 0
}
