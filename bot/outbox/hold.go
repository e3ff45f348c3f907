package outbox

import (
	"strconv"
	"time"
)

// holdsFile keeps what Telegram has asked to wait: a restart in between must not break it.
const holdsFile = "holds.json"

// hold is one retry_after. It is kept as a stretch of time, so that a clock that is set anew cannot
// make it longer.
type hold struct {
	At      time.Time `json:"at"`
	Seconds int       `json:"seconds"`
}

// left is how long it still holds.
func (h hold) left(now time.Time) time.Duration {
	all := time.Duration(h.Seconds) * time.Second
	return min(max(h.At.Add(all).Sub(now), 0), all)
}

// hold lets nothing go to a chat for a while. It comes before noteHold: asides would go while the
// disk writes. What was under way at the same time may have been told another one: the longest
// counts.
func (o *Outbox) hold(l *lane, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if until := time.Now().Add(wait); until.After(l.until) {
		l.until = until
	}
}

// noteHold keeps that a chat must wait.
func (o *Outbox) noteHold(chat int64, wait time.Duration) {
	o.holds.change(func(all map[string]hold) bool {
		now := time.Now()
		for key, h := range all {
			if h.left(now) == 0 {
				delete(all, key)
			}
		}
		key := strconv.FormatInt(chat, 10)
		if wait <= all[key].left(now) {
			return false
		}
		all[key] = hold{At: now.UTC(), Seconds: int((wait + time.Second - 1) / time.Second)}
		return true
	})
}

// heldFor is how long a chat must wait since an earlier run.
func (o *Outbox) heldFor(chat int64, now time.Time) time.Duration {
	h, ok := o.holds.get(strconv.FormatInt(chat, 10))
	if !ok {
		return 0
	}
	return h.left(now)
}
