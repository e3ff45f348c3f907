package outbox

import (
	"container/list"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"ccbot/internal/address"
	"ccbot/internal/pause"
)

// queues hold the jobs that wait for the chats, and the state of the chats. Their methods only
// decide: they make no calls and wait for nothing. The caller holds the lock of the outbox.
type queues struct {
	open    func(chat int64) *chatQueue // makes the chat queue of a chat that has none
	chats   map[int64]*chatQueue
	order   []*chatQueue // the same chat queues, oldest first
	all     *rate.Limiter
	flying  int
	booked  int // jobs under way that have not paid for their call
	turns   uint64
	edits   map[ref]*job // the one edit of a message that waits; an edit under way is not in it
	dropped []job        // edits that are not made; their owners must be notified
	known   memory
	lost    map[address.Conversation]answer // topics that take nothing: topicGone or topicShut
	closed  error                           // why nothing can be sent, after the end
	going   Stats                           // the statistics

	flushes []chan struct{} // each is closed when nothing may be sent at once
}

func newQueues(open func(chat int64) *chatQueue) queues {
	return queues{open: open, chats: map[int64]*chatQueue{}, edits: map[ref]*job{},
		lost: map[address.Conversation]answer{}, all: rate.NewLimiter(allRate, allBurst)}
}

// without takes one out of a list.
func without[T comparable](list []T, one T) []T {
	return slices.DeleteFunc(list, func(o T) bool { return o == one })
}

func (q *queues) chatQueue(chat int64) *chatQueue {
	l, ok := q.chats[chat]
	if !ok {
		l = q.open(chat)
		q.chats[chat] = l
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
	j.home, j.reply = j.to, j.message.ReplyTo
	j.settleIn(q.place(j.to))
	if j.kind == edit {
		q.edits[j.ref()] = j
	}
	l := q.chatQueue(j.to.ChatID)
	j.yielded = l.yielded
	j.rank = min(max(j.rank, Question), Card) // another version may know more ranks
	if j.isNew() && j.isCard() {
		j.rank = Opening
	}
	l.queue.add(j)
	if l.isOut(j) {
		l.queue.shutOut(j)
	}
	if j.rank == Card {
		q.dropOldest(l)
	}
}

// maxDrawings is the maximum number of edits of rank Card that wait in a chat: two for each card of
// a place that has the newest ten cards of its turns, and one that runs.
const maxDrawings = 22

// dropOldest drops the edit of rank Card that has waited longest, if there are too many. An edit
// for which a caller waits stays.
func (q *queues) dropOldest(l *chatQueue) {
	drawings := l.queue.rank(Card)
	if drawings.Len() <= maxDrawings {
		return
	}
	for e := drawings.Front(); e != nil; e = e.Next() {
		if j := e.Value.(*job); !j.flying && len(j.done) == 0 {
			q.drop(j)
			q.dropped = append(q.dropped, *j)
			return
		}
	}
}

func (q *queues) drop(j *job) {
	l := q.chatQueue(j.to.ChatID)
	l.queue.remove(j)
	if q.edits[j.ref()] == j {
		delete(q.edits, j.ref())
	}
}

// begin books the cost of a job, which pay takes when a call is made. idle: the job is an edit that
// changes nothing, and makes no call.
func (q *queues) begin(now time.Time, l *chatQueue, j *job) (idle bool) {
	looks := q.known.facts[j.ref()].looks
	idle = j.kind == edit && !j.unsure && looks == digestsOf(j.message)
	// The same picture need not be sent again.
	j.buttonsOnly = j.kind == edit && j.message.Picture != nil && looks.text == digestsOf(j.message).text
	switch {
	case j.kind == upload: // nothing comes before its call
		q.pay(now, l, j)
	case !idle:
		l.booked = true
		q.booked++
	}
	if q.edits[j.ref()] == j {
		delete(q.edits, j.ref()) // from now on a new edit gets a separate turn
	}
	q.turns++
	q.flying++
	l.served, j.flying = q.turns, true
	if l.flying = j.kind != upload; !l.flying {
		l.queue.beginUpload()
	}
	return idle
}

// pay takes the cost of a job from the budgets, immediately before its call. The tokens are there:
// the job has booked one of all chats, and no other job of its chat is under way that has not paid.
func (q *queues) pay(now time.Time, l *chatQueue, j *job) {
	q.release(l)
	q.all.AllowN(now, 1)
	for _, b := range l.budgets {
		b.AllowN(now, 1)
	}
	switch {
	case j.isCard() && j.rank != Closing: // its message has paid for it
		l.cards.AllowN(now, 1)
	case j.rank == Now:
		l.yielded += l.slot()
	}
}

// release ends the booking of the job under way in a chat.
func (q *queues) release(l *chatQueue) {
	if l.booked {
		l.booked = false
		q.booked--
	}
}

// settle records the outcome of an attempt. backoff returns the time of the next attempt after a
// number of failures in a row; gone reports that the topic is gone and that this was not known
// before.
func (q *queues) settle(now time.Time, l *chatQueue, j *job, attempt job, id int, v verdict, backoff func(failures int) time.Time) (gone bool) {
	q.flying--
	j.flying = false
	if j.kind == upload {
		l.queue.uploading = false
	} else {
		q.release(l)
		l.flying = false
	}
	j.message, j.plain = attempt.message, attempt.plain // a post has its message only since this attempt
	if l.shut > 0 && j.isInGeneral() && v.isAnswer() && v.answer != generalShut && v.answer != paused && v.answer != denied {
		q.reopen(now, l)
	}
	switch v.answer {
	case taken, vanished, refused:
		l.suspended = l.suspended && !(v.answer == taken && j.isNew())
		gone = v.strayed && q.loseTopic(l, j.to, topicGone)
		q.finish(l, j, id, v)
		return gone
	case blocked: // the job ends like all that waits there; a post stays
		if j.kind != post {
			q.drop(j)
			j.finish(result{err: j.doubt(&Refused{v.err})}) // an earlier call of it may have broken
		}
		q.suspend(l)
	case plain:
		j.plain = true
	case document:
		j.asDocument = true
	case topicGone, topicShut:
		gone = q.loseTopic(l, j.to, v.answer)
	case generalShut:
		q.close(now, l)
	case lost:
		j.unsure = true
		j.losses++
		j.again = now.Add(pause.Doubled(firstUnsure, maxUnsure, j.losses-1))
	case later, denied:
		l.failures++
		j.unsure = j.unsure || v.answer == later && !v.unsent
		j.missing = v.known
		l.again = backoff(l.failures)
	}
	q.keep(l, j)
	if v.answer == lost && l.queue.has(j) {
		l.queue.park(j)
	}
	return gone
}

// keep prepares the next attempt. A job that its caller has abandoned ends; an edit is merged into
// a newer edit of the message if one came during the attempt.
func (q *queues) keep(l *chatQueue, j *job) {
	newer := q.edits[j.ref()]
	switch {
	case j.abandoned:
		q.drop(j)
	case l.suspended && j.kind != post: // meanwhile
		q.drop(j)
		j.finish(result{err: j.doubt(errSuspended(l.chat))})
	case j.kind != edit || !l.queue.has(j):
	case newer == nil:
		q.edits[j.ref()] = j
	default:
		q.drop(newer)
		q.merge(l, j, newer)
		q.edits[j.ref()] = j
	}
}

// merge makes a job that is in its queue a newer one.
func (q *queues) merge(l *chatQueue, j, newer *job) {
	rank := j.rank
	j.become(newer)
	if now := j.rank; now != rank { // a change of the rank is a change of the place
		j.rank = rank
		l.queue.remove(j)
		j.rank = now
		l.queue.add(j)
	}
}

// finish takes an ended job out of its queue, and remembers the new content of its message.
func (q *queues) finish(l *chatQueue, j *job, id int, v verdict) {
	l.failures = 0
	q.drop(j)
	r := result{messageID: id}
	if v.answer == refused {
		r.err = &Refused{v.err}
	}
	at, now := ref{j.to.ChatID, id}, fact{rank: j.rank}
	if j.rank == Opening {
		now.rank = Card
	}
	if j.kind == edit {
		at, now.rank = j.ref(), q.known.rank(j.ref(), j.rank)
	}
	if r.err == nil {
		now.looks = digestsOf(j.message)
	}
	if at.message != 0 {
		q.known.note(at, now)
	}
	j.finish(r)
}

// suspend drops everything that waits for a chat except the names of the posts.
func (q *queues) suspend(l *chatQueue) {
	l.suspended, l.sideCalls, l.failures = true, nil, 0
	for j := range l.queue.all() {
		switch {
		case j.flying: // its attempt is under way and ends by itself
		case j.kind == post:
			j.message, j.plain, j.unsure = Message{}, false, false
		default:
			q.drop(j)
			j.finish(result{err: j.doubt(errSuspended(l.chat))})
		}
	}
}

// resume assumes again that a chat accepts messages and that its topics exist and are open.
func (q *queues) resume(now time.Time, chat int64) {
	maps.DeleteFunc(q.lost, func(topic address.Conversation, _ answer) bool { return topic.ChatID == chat })
	if l, ok := q.chats[chat]; ok {
		l.suspended, l.again = false, time.Time{}
		l.queue.hurry(now)
		l.shutUntil = now // what waits for General is tried at once, each in its topic
	}
}

// loseTopic records why a topic takes nothing: jobs that wait for the topic go to its chat. gone:
// it does not exist, and this was not known before.
func (q *queues) loseTopic(l *chatQueue, lost address.Conversation, why answer) (gone bool) {
	gone = why == topicGone && q.lost[lost] != topicGone
	q.lost[lost] = why
	for one := range l.queue.all() {
		if one.isNew() {
			one.settleIn(q.place(one.to))
		}
		if l.isOut(one) && !one.flying {
			l.queue.shutOut(one)
		}
	}
	return gone
}

// beginSide takes a side call out of its chat queue, and returns its destination. An awaited call
// is about the topic itself, even if the topic is closed.
func (q *queues) beginSide(now time.Time, l *chatQueue, a *sideCall) (to address.Conversation) {
	l.sideCalls = without(l.sideCalls, a)
	q.all.AllowN(now, 1)
	q.turns++
	q.flying++
	l.sideBusy, l.attended = true, q.turns
	if a.kind == awaited {
		return a.to
	}
	return q.place(a.to)
}

// resolveSide records the outcome of an attempt at a side call. A side call that is worth another
// attempt is tried again as long as it is of use. gone is that of settle.
func (q *queues) resolveSide(l *chatQueue, a *sideCall, v verdict, backoff func(failures int) time.Time) (gone bool) {
	q.flying--
	l.sideBusy = false
	switch v.answer {
	case later, denied:
		a.tries++
		a.after = backoff(a.tries)
	case blocked:
		q.suspend(l)
	case topicGone:
		gone = q.loseTopic(l, a.to, v.answer)
	}
	again := v.answer == paused || v.answer == denied || v.answer == later && a.done == nil || v.answer == moved && a.done != nil
	if again && a.kind != typing && q.closed == nil && !l.suspended {
		l.putBack(a)
	}
	return gone
}

type ref struct {
	chat    int64
	message int
}

func (j *job) ref() ref { return ref{j.to.ChatID, j.messageID} }

// maxKnown is the number of messages that the outbox remembers; an edit of an older one is sent
// without comparing.
const maxKnown = 2000

// memory holds the facts about messages in the chats. The zero value is empty.
type memory struct {
	facts map[ref]fact
	order []ref // oldest first
}

type fact struct {
	looks digests
	rank  Rank // the rank of the send, or of a later edit
}

// rank is the rank of an edit of a message: the edit of a card stays a card, and decides itself
// whether it is at a turning point.
func (m *memory) rank(at ref, asked Rank) Rank {
	if asked == Turning || asked == Closing {
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
	edit               // only callers of EditNow wait
	upload             // the caller waits, and keeps the file open
)

func (k kind) String() string { return [...]string{"send", "post", "edit", "file"}[k] }

// job is one thing to do in a chat's queue. Its fields belong to the outbox's lock; while the job
// is flying the delivery works on a copy.
type job struct {
	kind      kind
	rank      Rank
	to        address.Conversation
	home      address.Conversation // where it goes while its topic takes messages
	reply     int                  // its ReplyTo there
	session   uuid.UUID            // the session that the message is of; nil: none
	message   Message              // of an upload: its caption
	messageID int                  // edit
	file      string               // post: the name of its file
	name      string               // post: the owner's name of the message; empty: the file has the message
	body      *File                // upload
	since     time.Time            // send: the time of the call
	yielded   time.Duration        // of its chat when it was queued
	byRank    *list.Element        // its place in the queue; nil: it is in none
	bySession *list.Element        // its place among the messages of its session; nil: it has none
	parked    bool                 // it is not in its rank, because it, or what it follows, waits for its next try or is a file
	shut      bool                 // parked, because General is closed
	first     string               // post: the file of the first part of its text; empty: it has one part
	added     uint64               // the number of the job in its queue
	done      []chan result        // the callers that wait; each gets one result, buffered

	plain       bool      // formatting was refused
	asDocument  bool      // an upload or a picture: it was refused as a photo
	buttonsOnly bool      // an edit of a picture that stays as it is
	unsure      bool      // a call broke: Telegram may have carried it out
	losses      int       // answers that were lost
	again       time.Time // not before, because the last answer was lost
	hurried     bool      // such a wait was ended early, which happens once
	missing     bool      // the last call was denied, and Telegram knows the token
	abandoned   bool      // the caller is gone; the call under way is the last one
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
	if j.rank != Turning || newer.rank != Card {
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

// settleIn moves a job to another place. The message that it answers is only at home.
func (j *job) settleIn(to address.Conversation) {
	if j.to == to {
		return
	}
	j.to, j.message.ReplyTo = to, 0
	switch {
	case to != j.home:
	case j.kind == post:
		j.message = Message{} // its file has all of it
	default:
		j.message.ReplyTo = j.reply
	}
}
