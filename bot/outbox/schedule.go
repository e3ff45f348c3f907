package outbox

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// The limits are Telegram's FAQ: about 1 message a second in a chat with short bursts, 20 a minute in a group, 30 a
// second in all; edits count. A burst and the rate after it together stay below each of them.
const (
	chatBurst  = 3
	groupRate  = rate.Limit(17.0 / 60)
	allRate    = rate.Limit(25)
	allBurst   = 5
	maxFlying  = 16 // calls under way at once
	chatEach   = time.Second
	maxAsides  = 32
	typingLife = 5 * time.Second // Telegram shows it that long
	reactLife  = time.Minute
	answerLife = 15 * time.Second // later the app has given up on the tap
)

// lane is one chat: its queue, its budget, and when it may go on.
type lane struct {
	chat     int64
	queue    []*job
	asides   []*aside // reactions, typing, answers to taps: best effort, beside the queue
	flying   bool     // the head of the queue is under way
	beside   bool     // an aside is under way
	until    time.Time
	failures int // in a row
	budget   *rate.Limiter
	served   uint64 // when it had its turn last
}

func newLane(chat int64) *lane {
	limit := rate.Every(chatEach)
	if chat < 0 { // groups have negative ids
		limit = groupRate
	}
	return &lane{chat: chat, budget: rate.NewLimiter(limit, chatBurst)}
}

// turn is what to do now: begin the head of a lane's queue, begin its first aside, or (lane nil) look again after a
// while; wait 0 means when there is news.
type turn struct {
	lane  *lane
	aside bool
	wait  time.Duration
}

// next decides. It changes nothing: whoever carries the turn out takes from the budgets. Among chats that may send,
// asides come first (they are short and get old), then the chat that has waited longest for its turn.
func next(now time.Time, lanes []*lane, all *rate.Limiter, flying int) turn {
	if flying >= maxFlying {
		return turn{}
	}
	var best turn
	wait := time.Duration(math.MaxInt64)
	for _, l := range lanes {
		t, ready := l.turn(now)
		switch {
		case !ready:
			continue
		case t.wait > 0:
			wait = min(wait, t.wait)
		case best.lane == nil || t.aside && !best.aside || t.aside == best.aside && l.served < best.lane.served:
			best = t
		}
	}
	if best.lane == nil && wait == math.MaxInt64 {
		return turn{}
	}
	if best.lane == nil {
		return turn{wait: wait}
	}
	if d := untilToken(now, all); d > 0 {
		return turn{wait: d}
	}
	return best
}

// turn is what this chat would do, or how long until it may; not ready means that only news can change that.
func (l *lane) turn(now time.Time) (t turn, ready bool) {
	pause := l.until.Sub(now)
	switch {
	case len(l.asides) > 0 && !l.beside && pause <= 0:
		return turn{lane: l, aside: true}, true
	case len(l.queue) == 0 || l.flying:
		if len(l.asides) > 0 && !l.beside {
			return turn{wait: pause}, true
		}
		return turn{}, false
	}
	if d := max(pause, untilToken(now, l.budget)); d > 0 {
		return turn{wait: d}, true
	}
	return turn{lane: l}, true
}

// untilToken is how long until the budget allows one more, 0 when it does. Rounded up: an early timer would spin.
func untilToken(now time.Time, b *rate.Limiter) time.Duration {
	missing := 1 - b.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing/float64(b.Limit())*float64(time.Second)) + time.Millisecond
}
