package outbox

import (
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"
)

// The limits are Telegram's FAQ: about 1 message a second in a chat with short bursts, 20 a minute
// in a group, 30 a second in all; edits count. A burst and the rate after it together stay below
// each of them. In a group half of the burst is for what people wait for.
const (
	chatBurst  = 3
	chatEach   = time.Second
	groupBurst = 6
	groupRate  = rate.Limit(14.0 / 60)
	allRate    = rate.Limit(25)
	allBurst   = 5
	maxFlying  = 16 // calls under way at once
	maxAsides  = 32
	typingLife = 5 * time.Second // Telegram shows it that long
	reactLife  = time.Minute
	answerLife = 15 * time.Second // later the app has given up on the tap
)

// A chat that Telegram has told to wait is slower for a while: each time half as fast, down to a
// quarter, and a step faster after each quiet stretch.
const (
	maxStrain = 2
	quiet     = 30 * time.Second
)

// leaves is what a message of a rank leaves in its chat's budgets, so that what matters more and comes
// right after it goes at once. In a group a question would wait for seconds.
func (l *lane) leaves(r Rank) (n int) {
	if r >= Talk && l.chat < 0 {
		n = groupBurst / 2
	}
	if r > Talk {
		n++
	}
	return n
}

// reactPatience is how long a reaction lets messages go first: people read it as a receipt.
const reactPatience = 2 * time.Second

// lane is one chat: its queue, its budget, and when it may go on.
type lane struct {
	chat     int64
	queue    []*job          // in the order of asking; what goes next depends on the ranks, too
	asides   []*aside        // reactions, typing, answers to taps: best effort, beside the queue
	flying   bool            // one job of the queue is under way
	beside   bool            // an aside is under way
	parked   bool            // the chat takes nothing
	until    time.Time       // Telegram has said so: nothing is sent before
	again    time.Time       // of the queue, after a failure
	failures int             // in a row
	budgets  []*rate.Limiter // a message takes one of each
	strain   int             // how many steps slower than others it is
	eased    time.Time       // when it is to be a step faster
	served   uint64          // when its queue had its turn last
	attended uint64          // when an aside had
}

func newLane(chat int64) *lane {
	l := &lane{chat: chat, budgets: []*rate.Limiter{rate.NewLimiter(rate.Every(chatEach), chatBurst)}}
	if chat < 0 { // groups have negative ids
		l.budgets = append(l.budgets, rate.NewLimiter(groupRate, groupBurst))
	}
	return l
}

// timeFor is how long a budget needs for so many tokens.
func timeFor(tokens float64, b *rate.Limiter) time.Duration {
	return time.Duration(tokens / float64(b.Limit()) * float64(time.Second))
}

// hold lets nothing go for a while. What was under way at the same time may have been told another
// one: the longest counts.
func (l *lane) hold(now time.Time, wait time.Duration) {
	l.until = now.Add(max(wait, l.until.Sub(now)))
	l.pace(now, min(l.strain+1, maxStrain))
	l.eased = now.Add(wait + quiet)
}

// ease makes a chat faster again that was told to wait.
func (l *lane) ease(now time.Time) {
	if l.strain > 0 && !now.Before(l.eased) {
		l.pace(now, l.strain-1)
		l.eased = now.Add(quiet)
	}
}

func (l *lane) pace(now time.Time, strain int) {
	for _, b := range l.budgets {
		b.SetLimitAt(now, b.Limit()*rate.Limit(math.Exp2(float64(l.strain-strain))))
	}
	l.strain = strain
}

// class is the order of what several chats, or the queue and the asides of one, would do at the same moment.
type class int

const (
	urgent   class = iota // answers to taps: a person waits; reactions that have waited too long
	words                 // messages, their edits, files
	receipts              // reactions
	cards                 // messages of rank Card
	signs                 // typing
)

// turn is what to do now: call for a job or for an aside of a lane, or (lane nil) look again after
// a while; wait 0 means when there is news.
type turn struct {
	lane  *lane
	job   *job
	aside *aside
	class class
	since uint64 // when the queue, or the asides, of the lane had their turn last
	wait  time.Duration
}

// never is the wait for what only news can bring.
const never = time.Duration(math.MaxInt64)

// next decides. It changes nothing: whoever carries the turn out takes from the budgets. Among
// chats that may send, the least class goes first; within a class the chat that has waited longest
// for its turn.
func next(now time.Time, lanes []*lane, all *rate.Limiter, flying int) turn {
	if flying >= maxFlying {
		return turn{}
	}
	var best turn
	wait := never
	for _, l := range lanes {
		t, d := l.turn(now)
		switch {
		case d > 0:
			wait = min(wait, d)
		case best.lane == nil || t.before(best):
			best = t
		}
	}
	switch {
	case best.lane == nil && wait == never:
		return turn{}
	case best.lane == nil:
		return turn{wait: wait}
	}
	if d := untilTokens(now, all, 1); d > 0 {
		return turn{wait: d}
	}
	return best
}

func (t turn) before(o turn) bool {
	return t.class < o.class || t.class == o.class && t.since < o.since
}

// turn is what this chat would do now (wait 0), or how long until it may do something.
func (l *lane) turn(now time.Time) (t turn, wait time.Duration) {
	if l.parked {
		return turn{}, never
	}
	t, wait = l.jobTurn(now)
	a, d := l.asideTurn(now)
	switch {
	case wait > 0 && d > 0:
		return turn{}, min(wait, d)
	case wait > 0, d == 0 && a.class < t.class:
		return a, 0
	}
	return t, 0
}

// jobTurn is the turn of the queue: of the jobs with the least rank the first one, or what its session
// has to say before it.
func (l *lane) jobTurn(now time.Time) (turn, time.Duration) {
	if l.flying || len(l.queue) == 0 {
		return turn{}, never
	}
	j := l.queue[0]
	for _, q := range l.queue {
		if q.rank < j.rank {
			j = q
		}
	}
	t := turn{lane: l, job: j, class: words, since: l.served}
	if j.rank >= Card {
		t.class = cards
	}
	earlier := func(q *job) bool { return q == j || q.isNew() && q.session == j.session && q.rank < Card }
	if j.isNew() && j.session != uuid.Nil {
		t.job = l.queue[slices.IndexFunc(l.queue, earlier)]
	}
	wait := max(l.until.Sub(now), l.again.Sub(now), 0)
	for _, b := range l.budgets {
		wait = max(wait, untilTokens(now, b, min(1+l.leaves(j.rank), b.Burst())))
	}
	return t, wait
}

// asideTurn is the turn of the asides: an answer before a reaction before typing, each in the order
// of asking. They take nothing from the chat's budget, so they go while the queue waits for its
// own. Typing is for a chat with nothing to say.
func (l *lane) asideTurn(now time.Time) (turn, time.Duration) {
	if l.beside {
		return turn{}, never
	}
	var best turn
	wait := never
	for _, a := range l.asides {
		c := a.class(now)
		if c == signs && len(l.queue) > 0 {
			continue
		}
		if d := max(l.until.Sub(now), a.after.Sub(now)); d > 0 {
			wait = min(wait, d)
			continue
		}
		if best.lane == nil || c < best.class {
			best = turn{lane: l, aside: a, class: c, since: l.attended}
		}
	}
	if best.lane == nil {
		return turn{}, wait
	}
	return best, 0
}

// untilTokens is how long until the budget allows n more, 0 when it does. Rounded up: an early
// timer would spin.
func untilTokens(now time.Time, b *rate.Limiter, n int) time.Duration {
	missing := float64(n) - b.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return timeFor(missing, b) + time.Millisecond
}
