package outbox

import (
	"slices"

	"ccbot/internal/session"
)

func (o *Outbox) chatLocked(chat int64) int64 {
	if to, ok := o.newChat[chat]; ok {
		return to
	}
	return chat
}

// placeLocked is where a conversation is by now: groups become other chats, topics are deleted.
func (o *Outbox) placeLocked(to session.Conversation) session.Conversation {
	to.ChatID = o.chatLocked(to.ChatID)
	if o.gone[to] {
		to.ThreadID = 0
	}
	return to
}

// settleIn lets a job go to another place. What it answers is not there.
func (j *job) settleIn(to session.Conversation) {
	if j.to != to {
		j.to, j.change.message.ReplyTo = to, 0
	}
}

// movedLocked takes in that a job's group has become another chat.
func (o *Outbox) movedLocked(l *lane, j *job, v verdict) (tell func()) {
	if v.chat == 0 || v.chat == l.chat {
		o.retryLocked(l, j, verdict{answer: later}) // nonsense; asking again is all there is
		return nil
	}
	if !o.migrateLocked(l, v.chat) || o.OnMigrate == nil {
		return nil
	}
	return func() { o.OnMigrate(l.chat, v.chat) }
}

// migrateLocked moves a chat's queue to the chat that the group has become, in front of what waits there; what is about
// messages of the old chat is over. It is false when that says nothing new.
func (o *Outbox) migrateLocked(l *lane, chat int64) bool {
	if chat == 0 || chat == l.chat || o.newChat[l.chat] == chat {
		return false
	}
	for from, to := range o.newChat {
		if to == l.chat {
			o.newChat[from] = chat
		}
	}
	o.newChat[l.chat] = chat
	delete(o.newChat, chat)
	target := o.laneLocked(chat)
	var first, moving []*job
	for _, j := range l.queue {
		switch j.kind {
		case edit, remove:
			if o.edits[j.ref()] == j {
				delete(o.edits, j.ref())
			}
			j.finish(result{err: &Refused{ErrMoved}})
		default:
			j.settleIn(o.placeLocked(j.to))
			moving = append(moving, j)
		}
	}
	for i, j := range target.queue {
		if j.flying { // it came first
			first = []*job{j}
			target.queue = slices.Delete(target.queue, i, i+1)
			break
		}
	}
	target.queue = slices.Concat(first, moving, target.queue)
	for _, a := range l.asides {
		if a.kind != reaction {
			target.put(a)
		}
	}
	l.queue, l.asides = nil, nil
	delete(o.lanes, l.chat)
	o.order = slices.DeleteFunc(o.order, func(one *lane) bool { return one == l })
	if target.parked {
		o.parkLocked(target)
	}
	return true
}

// topicGoneLocked takes in that a job's topic is not there: what waits for it goes to its chat.
func (o *Outbox) topicGoneLocked(l *lane, j *job) (tell func()) {
	lost := j.to
	known := o.gone[lost]
	o.gone[lost] = true
	for _, q := range l.queue {
		if q.isNew() {
			q.settleIn(o.placeLocked(q.to))
		}
	}
	if known || o.OnTopicGone == nil {
		return nil
	}
	return func() { o.OnTopicGone(lost) }
}
