package outbox

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"ccbot/internal/address"
)

// queues hold the jobs that wait for the chats, and what is known about the chats. Their methods
// only decide: they make no calls and wait for nothing. The caller holds the lock of the outbox.
type queues struct {
	open   func(chat int64) *lane // makes the lane of a chat that has none
	lanes  map[int64]*lane
	order  []*lane // the same lanes, oldest first
	all    *rate.Limiter
	flying int
	turns  uint64
	edits  map[ref]*job // the one edit of a message that waits; an edit under way is not in it
	known  memory
	lost   map[address.Conversation]answer // topics that take nothing: topicGone or topicShut
	fatal  error                           // why Run must end
	closed error                           // why nothing can be sent any more
	going  Going                           // what is counted of it

	flushes []chan struct{} // each is closed when nothing may be sent at once
}

func newQueues(open func(chat int64) *lane) queues {
	return queues{open: open, lanes: map[int64]*lane{}, edits: map[ref]*job{},
		lost: map[address.Conversation]answer{}, all: rate.NewLimiter(allRate, allBurst)}
}

// without takes one out of a list.
func without[T comparable](list []T, one T) []T {
	return slices.DeleteFunc(list, func(o T) bool { return o == one })
}

func (q *queues) lane(chat int64) *lane {
	l, ok := q.lanes[chat]
	if !ok {
		l = q.open(chat)
		q.lanes[chat] = l
		q.order = append(q.order, l)
	}
	return l
}

// place is the place that messages for a conversation go to now: the topic may have been deleted or
// closed.
func (q *queues) place(to address.Conversation) address.Conversation {
	if _, lost := q.lost[to]; lost {
		to.ThreadID = 0
	}
	return to
}

func (q *queues) add(j *job) {
	j.settleIn(q.place(j.to))
	if j.kind == edit {
		q.edits[j.ref()] = j
	}
	l := q.lane(j.to.ChatID)
	l.queue = append(l.queue, j)
}

func (q *queues) drop(j *job) {
	l := q.lane(j.to.ChatID)
	l.queue = without(l.queue, j)
	if q.edits[j.ref()] == j {
		delete(q.edits, j.ref())
	}
}

// begin takes the cost of a job from the budgets. idle: the job is an edit that changes nothing,
// and costs nothing.
func (q *queues) begin(now time.Time, l *lane, j *job) (idle bool) {
	looks := q.known.facts[j.ref()].looks
	idle = j.kind == edit && !j.unsure && looks == looksOf(j.message)
	// The same picture need not be sent again.
	j.buttonsOnly = j.kind == edit && j.message.Picture != nil && looks.text == looksOf(j.message).text
	if !idle {
		q.all.AllowN(now, 1)
		for _, b := range l.budgets {
			b.AllowN(now, 1)
		}
		if j.isCard() {
			l.cards.AllowN(now, 1)
		}
	}
	if q.edits[j.ref()] == j {
		delete(q.edits, j.ref()) // from now on a new edit gets a turn of its own
	}
	q.turns++
	q.flying++
	l.served, l.flying, j.flying = q.turns, true, true
	return idle
}

// settle records the outcome of an attempt. backoff gives the time of the next attempt after so
// many failures in a row; lost reports that the topic is gone and that this was not known before.
func (q *queues) settle(l *lane, j *job, attempt job, id int, v verdict, backoff func(failures int) time.Time) (lost bool) {
	q.flying--
	l.flying, j.flying = false, false
	j.message, j.plain = attempt.message, attempt.plain // a post has its message only since this attempt
	switch v.answer {
	case taken, vanished, refused:
		l.parked = l.parked && !(v.answer == taken && j.isNew())
		lost = v.strayed && q.loseTopic(l, j.to, topicGone)
		q.finish(l, j, id, v)
		return lost
	case blocked: // the job under way ends like all that waits there; a post stays
		if j.kind != post {
			q.drop(j)
			j.finish(result{err: &Refused{v.err}})
		}
		q.park(l)
	case plain:
		j.plain = true
	case document:
		j.asDocument = true
	case revoked:
		q.fatal = v.err
	case topicGone, topicShut:
		lost = q.loseTopic(l, j.to, v.answer)
	case later:
		l.failures++
		j.unsure = true
		l.again = backoff(l.failures)
	}
	q.keep(l, j)
	return lost
}

// keep prepares the next attempt. A job that its caller has abandoned ends, because nobody waits
// for it; an edit is merged into a newer edit of the message if one came during the attempt.
func (q *queues) keep(l *lane, j *job) {
	newer := q.edits[j.ref()]
	switch {
	case j.abandoned:
		q.drop(j)
	case j.kind != edit || !slices.Contains(l.queue, j):
	case newer == nil:
		q.edits[j.ref()] = j
	default:
		q.drop(newer)
		j.become(newer)
		q.edits[j.ref()] = j
	}
}

// finish takes a job that is over out of its queue, and remembers what its message looks like now.
func (q *queues) finish(l *lane, j *job, id int, v verdict) {
	l.failures = 0
	q.drop(j)
	r := result{messageID: id}
	if v.answer == refused {
		r.err = &Refused{v.err}
	}
	at, now := ref{j.to.ChatID, id}, fact{rank: j.rank}
	if j.kind == edit {
		at, now.rank = j.ref(), q.known.rank(j.ref(), j.rank)
	}
	if r.err == nil {
		now.looks = looksOf(j.message)
	}
	if at.message != 0 {
		q.known.note(at, now)
	}
	j.finish(r)
}

// park drops everything that waits for a chat except the posts, of which only the names are kept.
func (q *queues) park(l *lane) {
	l.parked, l.asides, l.failures = true, nil, 0
	l.queue = slices.DeleteFunc(l.queue, func(j *job) bool {
		switch {
		case j.flying: // its attempt is under way and ends by itself
			return false
		case j.kind == post:
			j.message, j.plain, j.unsure = Message{}, false, false
			return false
		}
		if q.edits[j.ref()] == j {
			delete(q.edits, j.ref())
		}
		j.finish(result{err: errParked(l.chat)})
		return true
	})
}

// unpark assumes again that a chat accepts messages and that its topics exist and are open.
func (q *queues) unpark(chat int64) {
	maps.DeleteFunc(q.lost, func(topic address.Conversation, _ answer) bool { return topic.ChatID == chat })
	if l, ok := q.lanes[chat]; ok {
		l.parked, l.again = false, time.Time{}
	}
}

// loseTopic records why a topic takes nothing: jobs that wait for the topic go to its chat. gone: it does
// not exist, and this was not known before.
func (q *queues) loseTopic(l *lane, lost address.Conversation, why answer) (gone bool) {
	gone = why == topicGone && q.lost[lost] != topicGone
	q.lost[lost] = why
	for _, one := range l.queue {
		if one.isNew() {
			one.settleIn(q.place(one.to))
		}
	}
	return gone
}

// beginAside takes an aside out of its lane, and gives the place that it goes to. A call that is awaited is
// about the topic itself, whatever the topic takes.
func (q *queues) beginAside(now time.Time, l *lane, a *aside) (to address.Conversation) {
	l.asides = without(l.asides, a)
	q.all.AllowN(now, 1)
	q.turns++
	q.flying++
	l.beside, l.attended = true, q.turns
	if a.kind == awaited {
		return a.to
	}
	return q.place(a.to)
}

// settleAside records the outcome of an attempt at an aside. An aside that is worth another attempt
// is tried again as long as it is of use. lost is that of settle.
func (q *queues) settleAside(l *lane, a *aside, v verdict, backoff func(failures int) time.Time) (lost bool) {
	q.flying--
	l.beside = false
	switch v.answer {
	case later:
		a.tries++
		a.after = backoff(a.tries)
	case revoked:
		q.fatal = v.err
	case blocked:
		q.park(l)
	case topicGone:
		lost = q.loseTopic(l, a.to, v.answer)
	}
	again := v.answer == paused || v.answer == later && a.done == nil || v.answer == moved && a.done != nil
	if again && a.kind != typing && q.closed == nil && !l.parked {
		l.putBack(a)
	}
	return lost
}

func (q *queues) end() {
	q.closed = cmp.Or(q.fatal, ErrClosed)
	for _, l := range q.order {
		for _, j := range l.queue {
			j.finish(result{err: j.doubt(q.closed)})
		}
	}
	q.order, q.lanes, q.edits = nil, map[int64]*lane{}, map[ref]*job{}
}

type ref struct {
	chat    int64
	message int
}

func (j *job) ref() ref { return ref{j.to.ChatID, j.messageID} }

// maxKnown is how many messages the outbox remembers; an edit of an older one is sent without
// comparing.
const maxKnown = 2000

// memory is what the outbox knows about messages in the chats. The zero value knows nothing.
type memory struct {
	facts map[ref]fact
	order []ref // oldest first
}

type fact struct {
	looks shown
	rank  Rank // the rank of the send, or of a later edit
}

// rank is the rank of an edit of a message: the edit of a card stays a card, and says itself whether it
// is at a turning point.
func (m *memory) rank(at ref, asked Rank) Rank {
	if asked == Turning {
		return asked
	}
	return max(asked, m.facts[at].rank)
}

func (m *memory) note(at ref, f fact) {
	if m.facts == nil {
		m.facts = map[ref]fact{}
	}
	if _, ok := m.facts[at]; !ok {
		m.order = append(m.order, at)
	}
	m.facts[at] = f
	if len(m.order) > maxKnown {
		delete(m.facts, m.order[0])
		m.order = m.order[1:]
	}
}

type kind int

const (
	send   kind = iota // the caller waits
	post               // a file waits
	edit               // nobody waits, except callers of EditNow
	upload             // the caller waits, and keeps the file open
)

func (k kind) String() string { return [...]string{"send", "post", "edit", "file"}[k] }

// job is one thing to do in a chat's queue. Its fields belong to the outbox's lock; while the job
// is flying the delivery works on a copy.
type job struct {
	kind      kind
	rank      Rank
	to        address.Conversation
	session   uuid.UUID     // the session that the message is of; nil: none
	message   Message       // of an upload: its caption
	messageID int           // edit
	file      string        // post: the name of its file
	name      string        // post: what its owner calls the message; empty: the file has the message
	body      *File         // upload
	since     time.Time     // send: when it was asked for
	done      []chan result // the callers that wait; each gets one result, buffered

	plain       bool // formatting was refused
	asDocument  bool // an upload or a picture: it was refused as a photo
	buttonsOnly bool // an edit of a picture that stays as it is
	unsure      bool // a call broke: Telegram may have carried it out
	abandoned   bool // the caller is gone; the call under way is the last one
	flying      bool
}

type result struct {
	messageID int
	err       error
}

func (j *job) isNew() bool { return j.kind == send || j.kind == post || j.kind == upload }

func (j *job) isRich() bool { return j.message.Rich != "" }

// isPhoto reports whether the job shows a photo, which Telegram may refuse as one.
func (j *job) isPhoto() bool {
	p := j.message.Picture
	return !j.asDocument && !j.buttonsOnly && (p != nil && !p.Exact || j.kind == upload && j.body.isPhoto())
}

func (j *job) formatted() bool {
	return !j.buttonsOnly && !j.isRich() && len(j.message.Text.Entities) > 0
}

// become makes an edit that waits a newer one. A card that waits at a turning point still shows it.
func (j *job) become(newer *job) {
	if j.rank != Turning || !newer.isCard() {
		j.rank = newer.rank
	}
	j.message, j.plain, j.asDocument, j.done = newer.message, false, false, append(j.done, newer.done...)
}

func (j *job) finish(r result) {
	for _, done := range j.done {
		done <- r
	}
}

// doubt adds ErrUnsure to err when the job may have been carried out.
func (j *job) doubt(err error) error {
	if j.unsure || j.flying {
		return fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return err
}

// settleIn moves a job to another place, and drops its ReplyTo, because the message that it answers
// is not there.
func (j *job) settleIn(to address.Conversation) {
	if j.to != to {
		j.to, j.message.ReplyTo = to, 0
	}
}
