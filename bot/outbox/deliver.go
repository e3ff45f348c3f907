package outbox

import (
	"context"
	"errors"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

const (
	callTimeout = 30 * time.Second
	maxReason   = 300 // of an error in the log: an HTML page is one line too many
)

// deliver does one attempt and what it means on disk, then tells the queue. The lane is flying all
// the time, so nothing overtakes it.
func (o *Outbox) deliver(calls context.Context, l *lane, j *job, attempt job) {
	id, v := o.attempt(calls, l, &attempt)
	if v.answer == taken && attempt.isNew() && id != 0 && o.OnSent != nil {
		m := attempt.change.message
		m.To = attempt.to
		o.OnSent(m, id)
	}
	again := attempt.kind == post && o.file(calls, attempt, id, v)
	o.note(l, &attempt, v)
	if o.settle(l, j, attempt, id, v) && o.OnTopicGone != nil {
		o.OnTopicGone(attempt.to)
	}
	if again {
		o.requeue(attempt)
	}
}

// attempt does the call, of a post with the message that it has by now.
func (o *Outbox) attempt(calls context.Context, l *lane, j *job) (messageID int, v verdict) {
	if j.kind == post && !o.fetch(j) {
		return 0, verdict{answer: vanished}
	}
	out := o.outward(*j)
	id, err := o.call(calls, out)
	if v = judge(err, j); v.answer == unknown {
		v = o.unknownMethod(calls, err)
	}
	o.report(calls, l, *j, v, err)
	if v.answer == moved {
		v = o.migrate(out.to.ChatID, v.chat)
	}
	_, id = o.Aliases.In(out.to.ChatID, id)
	return id, v
}

// note keeps what an answer means for the chat, or for the server, in the next run, too.
func (o *Outbox) note(l *lane, j *job, v verdict) {
	switch {
	case v.answer == taken && j.isNew():
		o.unmark(j.to.ChatID)
		if j.isRich() {
			o.noteRich(true)
		}
	case v.answer == paused:
		o.hold(l, v.wait)
		o.noteHold(j.to.ChatID, v.wait)
	case v.answer == blocked:
		o.mark(j.to.ChatID, v.err)
	case v.answer == refused && errors.Is(v.err, ErrNoRich) && o.TakesRich():
		o.noteRich(false)
	}
}

// patience bounds one attempt.
func (j *job) patience() time.Duration {
	if j.kind == upload {
		return uploadTimeout
	}
	return callTimeout
}

// call asks the Bot API once.
func (o *Outbox) call(ctx context.Context, j job) (messageID int, err error) {
	ctx, cancel := context.WithTimeout(ctx, j.patience())
	defer cancel()
	chat, m := j.to.ChatID, j.message()
	switch {
	case !j.isNew() && j.messageID == 0:
		return 0, ErrMoved
	case j.kind == remove:
		_, err = o.api.DeleteMessage(ctx, &tgbot.DeleteMessageParams{ChatID: chat, MessageID: j.messageID})
		return j.messageID, err
	case j.kind == edit && j.change.buttonsOnly:
		_, err = o.api.EditMessageReplyMarkup(ctx, &tgbot.EditMessageReplyMarkupParams{
			ChatID: chat, MessageID: j.messageID, ReplyMarkup: keyboard(m.Buttons),
		})
		return j.messageID, err
	case j.kind == edit:
		_, err = o.api.EditMessageText(ctx, editParams(chat, j.messageID, m))
		return j.messageID, err
	}
	var sent *models.Message
	switch {
	case j.isPhoto():
		sent, err = o.api.SendPhoto(ctx, photoParams(j.to, j.body, m))
	case j.kind == upload:
		sent, err = o.api.SendDocument(ctx, documentParams(j.to, j.body, m))
	case j.isRich() && !o.TakesRich():
		err = ErrNoRich
	case j.isRich():
		sent, err = o.api.SendRichMessage(ctx, richParams(j.to, m))
	default:
		sent, err = o.api.SendMessage(ctx, sendParams(j.to, m))
	}
	if sent != nil && sent.ID != 0 {
		return sent.ID, nil // an id is a yes, even when the library cannot read the rest of the answer
	}
	return 0, err
}

// report logs what did not go well: once per streak of failures, not once per attempt.
func (o *Outbox) report(calls context.Context, l *lane, j job, v verdict, err error) {
	if v.answer == taken || calls.Err() != nil {
		return
	}
	log := o.log.With("chat_id", j.to.ChatID, "kind", j.kind.String(), "error", inBrief(err))
	switch v.answer {
	case later:
		o.mu.Lock()
		first := l.failures == 0
		o.mu.Unlock()
		if first {
			log.Warn("bot api does not answer, trying again")
		}
	case paused:
		log.Warn("chat must wait", "wait", v.wait)
	case plain:
		log.Warn("formatting refused, sending plain text")
	case document:
		log.Warn("photo refused, sending it as a document")
	case refused:
		if !errors.Is(v.err, ErrNoRich) { // which is told once, and not as trouble
			log.Warn("message refused")
		}
	case topicGone:
		log.Info("topic is gone", "topic", j.to.ThreadID)
	case moved:
		log.Info("group has a new id", "new_chat_id", v.chat)
	case revoked:
		log.Error("bot token refused")
	}
}

// settle enters the outcome of an attempt into the queue. lost reports that it is news that the
// topic is gone.
func (o *Outbox) settle(l *lane, j *job, attempt job, id int, v verdict) (lost bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flying--
	l.flying, j.flying = false, false
	j.change, j.plain = attempt.change, attempt.plain // a post has its message now
	switch v.answer {
	case taken, vanished, refused:
		l.parked = l.parked && !(v.answer == taken && j.isNew())
		o.finishLocked(l, j, id, v)
	case blocked:
		o.blockedLocked(l, j, v)
	case plain:
		j.plain = true
	case document:
		j.asDocument = true
	case revoked:
		o.fatal = v.err
	case topicGone:
		lost = o.topicGoneLocked(l, j)
	case paused, later:
		o.retryLocked(l, j, v)
	}
	if !v.final() {
		o.catchUpLocked(j)
	}
	o.news()
	return lost
}

// final says that the job is not in the queue any more.
func (v verdict) final() bool {
	return v.answer == taken || v.answer == vanished || v.answer == refused
}

func (o *Outbox) retryLocked(l *lane, j *job, v verdict) {
	if v.answer == paused {
		return // note holds the lane
	}
	l.failures++
	j.unsure = true
	l.again = time.Now().Add(backoff(l.failures, o.jitter()))
}

// blockedLocked parks the chat. What was under way ends as all that waits there, a post stays.
func (o *Outbox) blockedLocked(l *lane, j *job, v verdict) {
	if j.kind != post {
		o.dropLocked(j)
		j.finish(result{err: &Refused{v.err}})
	}
	o.parkLocked(l)
}

// catchUpLocked prepares the next attempt: nobody waits for an abandoned job, and an edit takes
// what came meanwhile.
func (o *Outbox) catchUpLocked(j *job) {
	if j.abandoned {
		o.dropLocked(j)
		return
	}
	if j.newer != nil {
		j.rank = max(j.rank, j.newer.message.Rank)
		j.change, j.newer, j.plain = j.change.then(*j.newer), nil, false
	}
}

// finishLocked takes a job that is over out of its queue.
func (o *Outbox) finishLocked(l *lane, j *job, id int, v verdict) {
	l.failures = 0
	o.dropLocked(j)
	r := result{messageID: id}
	if v.answer == refused {
		r.err = &Refused{v.err}
	}
	o.learnLocked(j, id, r.err)
	if j.newer != nil && !l.parked {
		again := &job{kind: edit, to: j.to, messageID: j.messageID, change: *j.newer}
		again.rank = o.known.rank(again.ref(), again.change.message.Rank)
		o.edits[again.ref()] = again
		o.addLocked(again)
	}
	j.finish(r)
}

// learnLocked remembers what a message looks like now.
func (o *Outbox) learnLocked(j *job, id int, err error) {
	refusal, _ := err.(*Refused) //nolint:errorlint // made one line above
	switch {
	case j.kind == edit && refusal != nil && j.newer == nil:
		o.known.note(j.ref(), fact{refusal: refusal, rank: o.known.rank(j.ref(), j.rank)})
	case j.kind == edit && refusal == nil:
		o.known.note(j.ref(), fact{looks: o.known.looks(j.ref()).after(j.change), rank: o.known.rank(j.ref(), j.rank)})
	case (j.kind == send || j.kind == post) && refusal == nil && id != 0:
		o.known.note(refOf(j.to, id), fact{looks: looksOf(j.change), rank: j.rank})
	}
}
