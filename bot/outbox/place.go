package outbox

import "ccbot/internal/address"

// outward is a job as Telegram knows it now: the number of the chat, and the ids of its messages.
// What is about a message of an earlier chat has the id 0.
func (o *Outbox) outward(j job) job {
	place := j.to.ChatID
	j.to.ChatID, j.messageID = o.Aliases.Out(place, j.messageID)
	_, j.change.message.ReplyTo = o.Aliases.Out(place, j.change.message.ReplyTo)
	return j
}

// migrate takes in that a group has become another chat. That is on disk before anything is sent to
// the new chat.
func (o *Outbox) migrate(from, to int64) verdict {
	if now, _ := o.Aliases.Out(from, 0); now != from {
		return verdict{answer: moved} // it is known meanwhile
	}
	err := o.Aliases.Note(from, to)
	if now, _ := o.Aliases.Out(from, 0); now == from {
		o.log.Error("group_move_not_kept", "chat_id", from, "new_chat_id", to, "error", err)
		return verdict{answer: later} // nonsense, or a full disk: asking again is all there is
	}
	if o.OnMigrate != nil {
		o.OnMigrate()
	}
	return verdict{answer: moved}
}

// placeLocked is where a conversation is by now: topics are deleted.
func (o *Outbox) placeLocked(to address.Conversation) address.Conversation {
	if o.gone[to] {
		to.ThreadID = 0
	}
	return to
}

// settleIn lets a job go to another place. What it answers is not there.
func (j *job) settleIn(to address.Conversation) {
	if j.to != to {
		j.to, j.change.message.ReplyTo = to, 0
	}
}

// topicGoneLocked takes in that a job's topic is not there: what waits for it goes to its chat.
// fresh: it was not known.
func (o *Outbox) topicGoneLocked(l *lane, j *job) (fresh bool) {
	lost := j.to
	fresh = !o.gone[lost]
	o.gone[lost] = true
	for _, q := range l.queue {
		if q.isNew() {
			q.settleIn(o.placeLocked(q.to))
		}
	}
	return fresh
}
