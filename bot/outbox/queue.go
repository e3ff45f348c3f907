package outbox

import (
	"container/list"
	"iter"

	"github.com/google/uuid"
)

// queue has the jobs that wait for one chat, in the order of their calls. The cost of its methods
// does not depend on the number of jobs, except for all.
type queue struct {
	ranks    [Card - Question + 1]list.List
	sessions map[line]*list.List // the new messages of each session that keep their order
	count    int
	added    uint64 // jobs so far
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
	j.byRank = q.rank(j.rank).PushBack(j)
	if !j.keepsOrder() {
		return
	}
	if q.sessions == nil {
		q.sessions = map[line]*list.List{}
	}
	if q.sessions[j.line()] == nil {
		q.sessions[j.line()] = list.New()
	}
	j.bySession = q.sessions[j.line()].PushBack(j)
}

// remove takes a job out, if it is in the queue.
func (q *queue) remove(j *job) {
	if !q.has(j) {
		return
	}
	q.count--
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
		for r := range q.ranks {
			for e := q.ranks[r].Front(); e != nil; {
				j := e.Value.(*job)
				e = e.Next()
				if !yield(j) {
					return
				}
			}
		}
	}
}
