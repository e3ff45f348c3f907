package outbox

import (
	"cmp"
	"math"
	"time"

	"golang.org/x/time/rate"

	"ccbot/internal/logkey"
)

// The limits are those of Telegram's FAQ: about 1 message a second in a chat with short bursts, 20
// a minute in a group, 30 a second in all; edits count. A burst and the rate after it together stay
// below each limit. In a group half of the burst is kept for messages that people wait for.
const (
	chatBurst   = 3
	chatEach    = time.Second
	groupBurst  = 6
	groupRate   = rate.Limit(14.0 / 60)
	allRate     = rate.Limit(25)
	allBurst    = 5
	cardsBurst  = 2 // cards of a chat, in all its topics
	groupCards  = 10 * time.Second
	maxFlying   = 16 // calls under way at once
	maxAsides   = 256
	typingLife  = 5 * time.Second  // Telegram shows it for this long
	reactLife   = 24 * time.Hour   // an outage may last
	answerLife  = 15 * time.Second // after this time the app has given up on the tap
	awaitedLife = time.Minute
)

// CardsEach is the pace of the cards of a private chat: there is no use in drawing one more often.
const CardsEach = 3 * time.Second

// leaves returns how many tokens a message of a rank leaves in its chat's budgets, so that a more
// important message that comes right after it is sent at once. Without this rest a question in a
// group would wait for seconds. The message of a card leaves one for the last edit of the card.
func (q *chatQueue) leaves(r Rank) (n int) {
	if r >= Talk && q.chat < 0 {
		n = groupBurst / 2
	}
	if r > Talk {
		n++
	}
	if r == Opening {
		n++
	}
	return n
}

// maxYield is how long an answer of an agent waits for messages of rank Now that go before it.
const maxYield = 10 * time.Second

// reactTimeout is how long a reaction waits for messages to go first. It is short, because people
// read the reaction as a receipt.
const reactTimeout = 2 * time.Second

type chatQueue struct {
	chat      int64
	queue     queue           // of jobs; with the ranks it decides the order
	sideCalls []*sideCall     // reactions, typing, answers to taps: best effort, outside the queue
	flying    bool            // one job of the queue is under way, other than a file
	sideBusy  bool            // a side call is under way
	suspended bool            // the chat accepts nothing
	shut      int             // the tries in a row that found General closed; 0: it is open, or nobody knows
	shutUntil time.Time       // the next one
	trying    bool            // that has come, and no message for General has been answered since
	until     time.Time       // end of the wait that Telegram demands
	again     time.Time       // the next try of the queue after a failure
	failures  int             // in a row
	budgets   []*rate.Limiter // a message takes one token of each
	cards     *rate.Limiter   // and a card one of these; its message pays for its last edit
	booked    bool            // the job under way may make a call, and has not paid for it
	yielded   time.Duration   // the time that all messages of rank Now have taken from the chat's budget
	served    uint64          // the last turn of the queue
	attended  uint64          // the last turn of a side call
}

func newChatQueue(chat int64) *chatQueue {
	l := &chatQueue{chat: chat, budgets: []*rate.Limiter{rate.NewLimiter(rate.Every(chatEach), chatBurst)},
		cards: rate.NewLimiter(rate.Every(CardsEach), cardsBurst)}
	if chat < 0 { // groups have negative ids
		l.budgets = append(l.budgets, rate.NewLimiter(groupRate, groupBurst))
		l.cards = rate.NewLimiter(rate.Every(groupCards), cardsBurst)
	}
	return l
}

func (j *job) isCard() bool { return j.rank >= Closing }

func (j *job) isAnswer() bool { return j.rank == Answer || j.rank == Talk }

func timeFor(tokens float64, b *rate.Limiter) time.Duration {
	return time.Duration(tokens / float64(b.Limit()) * float64(time.Second))
}

// hold stops everything in the chat for a while. Several calls under way at the same time may each
// have to wait: the longest wait counts.
func (q *chatQueue) hold(now time.Time, wait time.Duration) {
	q.until = now.Add(max(wait, q.until.Sub(now)))
}

// class is the order in which several chats, or the queue and the side calls of one chat, are
// served when all of them could go at the same moment.
type class int

const (
	urgent   class = iota // answers to taps: a person waits; reactions that have waited too long
	words                 // messages, their edits, files
	receipts              // reactions
	cards                 // messages of rank Card
	signs                 // typing
)

// turn is the next action: the call of a job or of a side call of a chat queue. Without a chat
// queue the next check is after wait; wait 0 then means after news.
type turn struct {
	lane  *chatQueue
	job   *job
	side  *sideCall
	class class
	since uint64 // the last turn of the queue, or of the side calls, of the chat queue
	wait  time.Duration
}

// never is the wait when only news can bring a turn.
const never = time.Duration(math.MaxInt64)

// next decides the next action. It changes nothing: the caller that carries the turn out takes the
// cost from the budgets. booked is the number of jobs under way that may still take a token of all
// chats. Among the chats that may send, the lowest class goes first; within a class the chat that
// has waited longest for its turn goes first.
func next(now time.Time, lanes []*chatQueue, all *rate.Limiter, flying, booked int) turn {
	if flying >= maxFlying || booked >= allBurst {
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
	if d := untilTokens(now, all, 1+booked); d > 0 {
		return turn{wait: d}
	}
	return best
}

func (t turn) before(o turn) bool {
	return t.class < o.class || t.class == o.class && t.since < o.since
}

// turn returns the chat's current action (wait 0), or how long until it may do something.
func (q *chatQueue) turn(now time.Time) (t turn, wait time.Duration) {
	if q.suspended {
		return turn{}, never
	}
	t, wait = q.jobTurn(now)
	if wait > 0 {
		wait = min(wait, q.queue.untilUnparked(now), q.untilOpen(now))
	}
	a, d := q.sideTurn(now)
	switch {
	case wait > 0 && d > 0:
		return turn{}, min(wait, d)
	case wait > 0, d == 0 && a.class < t.class:
		return a, 0
	}
	return t, 0
}

// first returns the first of the jobs with the lowest rank, or nil. As soon as an answer has
// yielded for long enough, answers go before the messages of rank Now.
func (q *chatQueue) first() *job {
	var j, answer *job
	yielded := false
	for r := Question; r <= Card && (j == nil || j.rank == Now); r++ {
		head := q.queue.head(r)
		switch {
		case head == nil:
			continue
		case j == nil:
			j = head
		case head.isAnswer():
			answer = cmp.Or(answer, head)
		}
		yielded = yielded || head.isAnswer() && q.hasYielded(head)
	}
	if yielded && answer != nil {
		return answer
	}
	return j
}

// hasYielded reports whether a further message of rank Now would make a job wait for longer than
// maxYield.
func (q *chatQueue) hasYielded(j *job) bool { return q.yielded-j.yielded+q.slot() > maxYield }

// slot is the time in which the chat's budget grows by one message.
func (q *chatQueue) slot() (d time.Duration) {
	for _, b := range q.budgets {
		d = max(d, timeFor(1, b))
	}
	return d
}

// jobTurn is the turn of the queue: the first job, or an earlier message of the same session,
// because a session's messages keep their order. A question or a reply passes files and notices of
// its session, because a person waits for it.
func (q *chatQueue) jobTurn(now time.Time) (turn, time.Duration) {
	j := q.first()
	if q.flying || j == nil {
		return turn{}, never
	}
	t := turn{lane: q, job: q.queue.earliest(j), class: words, since: q.served}
	if j.isCard() {
		t.class = cards
	}
	wait := max(q.until.Sub(now), q.again.Sub(now), 0)
	for _, b := range q.budgets {
		wait = max(wait, untilTokens(now, b, min(1+q.leaves(j.rank), b.Burst())))
	}
	switch j.rank {
	case Card: // it leaves one for a card that comes to a turning point
		wait = max(wait, untilTokens(now, q.cards, cardsBurst))
	case Opening, Turning:
		wait = max(wait, untilTokens(now, q.cards, 1))
	}
	return t, wait
}

// sideTurn is the turn of the side calls: an answer before a reaction before typing, each kind in
// the order of the calls. Side calls take nothing from the chat's budget, so they go while the
// queue waits for that budget. Typing is shown only in a chat with an empty queue.
func (q *chatQueue) sideTurn(now time.Time) (turn, time.Duration) {
	if q.sideBusy {
		return turn{}, never
	}
	var best turn
	wait := never
	for _, a := range q.sideCalls {
		c := a.class(now)
		if c == signs && q.queue.count > q.queue.parked.Len() {
			continue
		}
		if d := max(q.until.Sub(now), a.after.Sub(now)); d > 0 {
			wait = min(wait, d)
			continue
		}
		if best.lane == nil || c < best.class {
			best = turn{lane: q, side: a, class: c, since: q.attended}
		}
	}
	if best.lane == nil {
		return turn{}, wait
	}
	return best, 0
}

// untilTokens is how long until the budget allows n more, 0 when it already does. The time is
// rounded up, because a timer that fires too early would make the loop spin.
func untilTokens(now time.Time, b *rate.Limiter, n int) time.Duration {
	missing := float64(n) - b.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return timeFor(missing, b) + time.Millisecond
}

func (o *Outbox) chatQueue(chat int64) *chatQueue {
	l, now := newChatQueue(chat), time.Now()
	for _, b := range l.budgets { // the previous run may have used a burst a moment ago
		b.AllowN(o.began.Add(-timeFor(1, b)), b.Burst())
	}
	l.cards.AllowN(now, 1)               // the previous run may have drawn one a moment ago
	h, _ := o.notes.holds.Get(key(chat)) // an earlier run had to wait
	if left := h.left(now); left > 0 {
		l.until = now.Add(left)
		o.log.Warn("chat_must_wait", logkey.ChatID, chat, logkey.Wait, left)
	}
	o.bar(l)
	return l
}
