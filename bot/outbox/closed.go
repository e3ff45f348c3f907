package outbox

import (
	"maps"
	"slices"
	"time"

	"ccbot/internal/address"
	"ccbot/internal/pause"
)

// isInGeneral reports whether a job is a message for the chat itself, not for a topic.
func (j *job) isInGeneral() bool { return j.isNew() && j.to.ThreadID == 0 }

// shutOut takes a job out of its rank until General is open. The caller of Send posts it instead, if
// it is surely not in the chat and asked for that.
func (q *queue) shutOut(j *job) {
	if j.kind == send && j.message.PostIfClosed && !j.unsure {
		q.remove(j)
		j.finish(result{err: ErrShutOut})
		j.done = nil
		return
	}
	if !j.parked {
		q.unlink(j)
		j.parked, j.byRank = true, insert(&q.parked, j)
	}
	j.shut = true
}

// isOut reports whether a message for General waits until the next try.
func (q *chatQueue) isOut(j *job) bool { return q.shut > 0 && !q.trying && j.isInGeneral() }

// close notes that General is closed: what is for it waits, and holds up nothing else. The next try
// comes after half a minute, later after up to ten.
func (q *queues) close(now time.Time, l *chatQueue) {
	l.shut++
	l.trying, l.shutUntil = false, now.Add(pause.Doubled(firstShut, maxShut, l.shut-1))
	for j := range l.queue.all() {
		if l.isOut(j) && !j.flying {
			l.queue.shutOut(j)
		}
	}
}

// tryShut tries again when the time has come. The first message for General that Telegram refuses
// again ends that. The topics are tried too, because people may have opened one alone.
func (q *queues) tryShut(now time.Time, l *chatQueue) {
	if l.untilOpen(now) > 0 || l.flying {
		return
	}
	l.trying = true
	maps.DeleteFunc(q.lost, func(topic address.Conversation, why answer) bool {
		return topic.ChatID == l.chat && why == topicShut
	})
	q.letIn(now, l)
}

// reopen lets all that waits for General go, because it has taken a message.
func (q *queues) reopen(now time.Time, l *chatQueue) {
	l.shut, l.trying = 0, false
	q.letIn(now, l)
}

// letIn puts what waits for General back, each into its topic if that may be open. A message that is perhaps in the chat goes on
// waiting for its own try.
func (q *queues) letIn(now time.Time, l *chatQueue) {
	for j := range l.queue.all() {
		if j.shut {
			j.shut = false
			j.settleIn(q.place(j.home))
		}
	}
	l.queue.unpark(now)
}

// untilOpen is how long until the next try of what waits for General.
func (q *chatQueue) untilOpen(now time.Time) time.Duration {
	if q.shut == 0 || q.trying || q.suspended {
		return never
	}
	return max(q.shutUntil.Sub(now), 0)
}

// IsClosed reports whether a place takes nothing because its topic and General are closed. Nobody knows that any more when the
// next try has come.
func (o *Outbox) IsClosed(to address.Conversation) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	l, ok := o.queues.chats[to.ChatID]
	return ok && l.shut > 0 && !l.trying && o.queues.place(to).ThreadID == 0
}

// Closed returns the groups in which something waits because General is closed.
func (o *Outbox) Closed() (all []int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for chat, l := range o.queues.chats {
		for j := range l.queue.all() {
			if l.shut > 0 && j.isInGeneral() {
				all = append(all, chat)
				break
			}
		}
	}
	slices.Sort(all)
	return all
}
