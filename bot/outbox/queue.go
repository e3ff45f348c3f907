package outbox

import (
	"container/list"
	"iter"
	"time"

	"github.com/google/uuid"
)

// queue has the jobs that wait for one chat, in the order of their calls. The cost of its methods
// does not depend on the number of jobs, except for all and those about parked jobs.
type queue struct {
	ranks    [Card - Question + 1]list.List
	sessions map[line]*list.List // the new messages of each session that keep their order
	parked   list.List           // jobs that are perhaps in the chat and wait for their next try, what follows them, and what waits for a closed General
	// uploading: a file is under way, which may take minutes. All files are parked then, and what may
	// not pass them; everything else goes.
	uploading bool
	count     int
	added     uint64 // jobs so far
}

// line is a sequence that keeps its order in a queue: the files and notices of a session, or its
// other messages.
type line struct {
	session uuid.UUID
	later   bool
}

func (j *job) line() line { return line{j.session, j.rank == Later} }

// keepsOrder reports whether a job goes after all earlier messages of its session.
func (j *job) keepsOrder() bool { return j.isNew() && !j.isCard() && j.session != uuid.Nil }

func (q *queue) rank(r Rank) *list.List { return &q.ranks[r-Question] }

func (q *queue) has(j *job) bool { return j.byRank != nil }

func (q *queue) add(j *job) {
	q.count++
	q.added++
	j.added = q.added
	if q.isBehindParked(j) {
		j.parked, j.byRank = true, q.parked.PushBack(j)
		return
	}
	q.place(j)
}

// place puts a job into its rank and session, behind all that were added before it.
func (q *queue) place(j *job) {
	j.byRank = insert(q.rank(j.rank), j)
	if !j.keepsOrder() {
		return
	}
	if q.sessions == nil {
		q.sessions = map[line]*list.List{}
	}
	if q.sessions[j.line()] == nil {
		q.sessions[j.line()] = list.New()
	}
	j.bySession = insert(q.sessions[j.line()], j)
}

func insert(all *list.List, j *job) *list.Element {
	e := all.Back()
	for e != nil && e.Value.(*job).added > j.added {
		e = e.Prev()
	}
	if e == nil {
		return all.PushFront(j)
	}
	return all.InsertAfter(j, e)
}

// follows reports whether a job may not pass an earlier one that waits because its answer was lost:
// it is a later part of the same text, or of what the same agent says.
func (j *job) follows(waiting *job) bool {
	switch {
	case j.added <= waiting.added:
		return false
	case j.first != "" && j.first == waiting.first:
		return true
	case !j.keepsOrder() || !waiting.keepsOrder() || j.session != waiting.session:
		return false
	}
	return j.rank >= Answer && waiting.isAnswer() || j.rank == Later && waiting.rank == Later
}

// mayPass reports whether a job may go before an earlier message of a session. One that a person
// waits for passes files and notices.
func (j *job) mayPass(earlier *job) bool {
	switch {
	case !j.keepsOrder() || !earlier.keepsOrder() || j.session != earlier.session || j.added <= earlier.added:
		return true
	}
	return earlier.rank == Later && j.rank <= Answer
}

func (q *queue) isBehindParked(j *job) bool {
	if q.waitsForUpload(j) {
		return true
	}
	for e := q.parked.Front(); e != nil; e = e.Next() {
		w := e.Value.(*job)
		if w.losses > 0 && j.follows(w) || q.waitsForUpload(w) && !j.mayPass(w) {
			return true
		}
	}
	return false
}

// waitsForUpload reports whether a job is the file that is under way, or a file that waits for it.
func (q *queue) waitsForUpload(j *job) bool { return q.uploading && j.kind == upload }

// beginUpload parks all files, and then what may not pass them.
func (q *queue) beginUpload() {
	q.uploading = true
	for range 2 {
		for j := range q.all() {
			if !j.parked && q.isBehindParked(j) {
				q.unlink(j)
				j.parked, j.byRank = true, insert(&q.parked, j)
			}
		}
	}
}

// park takes a job whose answer was lost out of its rank until its next try, and what follows it.
func (q *queue) park(j *job) {
	for one := range q.all() {
		if !one.parked && (one == j || one.losses == 0 && one.follows(j)) {
			q.unlink(one)
			one.parked, one.byRank = true, insert(&q.parked, one)
		}
	}
}

// unpark puts back what need not wait any more: the jobs whose next try is due, and what is behind
// none that still waits. A job may also have been dropped while others waited behind it.
func (q *queue) unpark(now time.Time) {
	q.putBack(func(j *job) bool { return j.waitsForTry() && !q.waitsForUpload(j) && !j.again.After(now) })
	q.putBack(func(j *job) bool { return j.losses == 0 && !j.shut && !q.isBehindParked(j) })
}

func (q *queue) putBack(which func(j *job) bool) {
	for e := q.parked.Front(); e != nil; {
		j := e.Value.(*job)
		e = e.Next()
		if which(j) {
			q.unlink(j)
			q.place(j)
		}
	}
}

// waitsForTry reports whether a job that is parked waits because its answer was lost.
func (j *job) waitsForTry() bool { return j.losses > 0 && !j.shut && !j.flying }

// hasUnsure reports whether a job waits because its answer was lost, or for a closed General.
func (q *queue) hasUnsure() bool {
	for e := q.parked.Front(); e != nil; e = e.Next() {
		if j := e.Value.(*job); j.waitsForTry() || j.shut {
			return true
		}
	}
	return false
}

// untilUnparked is how long until the next try of a job that waits because its answer was lost.
func (q *queue) untilUnparked(now time.Time) time.Duration {
	wait := never
	for e := q.parked.Front(); e != nil; e = e.Next() {
		if j := e.Value.(*job); j.waitsForTry() && !q.waitsForUpload(j) {
			wait = min(wait, max(j.again.Sub(now), 0))
		}
	}
	return wait
}

// hurry ends, once for each job, the wait for its next try, because the chat can be reached.
func (q *queue) hurry(now time.Time) {
	for e := q.parked.Front(); e != nil; e = e.Next() {
		if j := e.Value.(*job); j.losses > 0 && !j.flying && !j.hurried {
			j.hurried, j.again = true, now
		}
	}
}

// remove takes a job out, if it is in the queue.
func (q *queue) remove(j *job) {
	if !q.has(j) {
		return
	}
	q.count--
	q.unlink(j)
}

func (q *queue) unlink(j *job) {
	if j.parked {
		q.parked.Remove(j.byRank)
		j.parked, j.byRank = false, nil
		return
	}
	q.rank(j.rank).Remove(j.byRank)
	if all := q.sessions[j.line()]; j.bySession != nil {
		if all.Remove(j.bySession); all.Len() == 0 {
			delete(q.sessions, j.line())
		}
	}
	j.byRank, j.bySession = nil, nil
}

// head returns the first job of a rank, or nil.
func (q *queue) head(r Rank) *job {
	if e := q.rank(r).Front(); e != nil {
		return e.Value.(*job)
	}
	return nil
}

// earliest returns the first message of the job's session that the job must not pass, or the job. A
// message that a person waits for passes files and notices.
func (q *queue) earliest(j *job) *job {
	if j.bySession == nil {
		return j
	}
	first := j
	for _, later := range []bool{false, true} {
		if all := q.sessions[line{j.session, later}]; all != nil && !(later && j.rank <= Answer) {
			if head := all.Front().Value.(*job); head.added < first.added {
				first = head
			}
		}
	}
	return first
}

// all yields the jobs by their ranks. A job that was yielded may be removed.
func (q *queue) all() iter.Seq[*job] {
	return func(yield func(*job) bool) {
		each := func(jobs *list.List) bool {
			for e := jobs.Front(); e != nil; {
				j := e.Value.(*job)
				e = e.Next()
				if !yield(j) {
					return false
				}
			}
			return true
		}
		for r := range q.ranks {
			if !each(&q.ranks[r]) {
				return
			}
		}
		each(&q.parked)
	}
}
