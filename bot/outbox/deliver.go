package outbox

import (
	"context"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

const (
	callTimeout = 30 * time.Second
	maxReason   = 300 // of an error in the log: an HTML page is one line too many
)

// deliver does one attempt and what it means on disk, then tells the queue. The lane is flying all the time, so
// nothing overtakes it.
func (o *Outbox) deliver(calls context.Context, l *lane, j *job, attempt job) {
	if attempt.kind == post && !o.fetch(&attempt) {
		o.settle(l, j, attempt, 0, verdict{answer: taken}) // nothing to send any more
		return
	}
	id, err := o.call(calls, attempt)
	v := judge(err, &attempt)
	o.report(calls, l, attempt, v, err)
	if attempt.kind == post {
		o.file(attempt, v)
	}
	o.settle(l, j, attempt, id, v)
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
	if j.kind == upload {
		sent, err = o.api.SendDocument(ctx, documentParams(j.to, j.body, m))
	} else {
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
	text := err.Error()
	log := o.log.With("chat_id", j.to.ChatID, "kind", j.kind.String(), "error", text[:min(len(text), maxReason)])
	switch v.answer {
	case later:
		o.mu.Lock()
		first := l.failures == 0
		o.mu.Unlock()
		if first {
			log.Warn("bot api does not answer, trying again")
		}
	case pause:
		log.Warn("chat must wait", "wait", v.wait)
	case plain:
		log.Warn("formatting refused, sending plain text")
	case refused:
		log.Warn("message refused")
	case moved:
		log.Info("group has a new id", "new_chat_id", v.chat)
	case revoked:
		log.Error("bot token refused")
	}
}

// settle enters the outcome of an attempt into the queue.
func (o *Outbox) settle(l *lane, j *job, attempt job, id int, v verdict) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flying--
	l.flying, j.flying = false, false
	j.change = attempt.change // a post has its message now; it is read once
	switch v.answer {
	case taken, refused:
		o.finishLocked(l, j, id, v)
	case plain:
		j.plain = true
	case revoked:
		o.fatal = v.err
	case moved:
		o.migrateLocked(l, j, v.chat)
	case pause, later:
		o.retryLocked(l, j, v)
	}
	if !v.final() {
		o.catchUpLocked(j)
	}
	o.news()
}

func (v verdict) final() bool { return v.answer == taken || v.answer == refused }

func (o *Outbox) retryLocked(l *lane, j *job, v verdict) {
	wait := v.wait
	if v.answer == later {
		l.failures++
		j.unsure = true
		wait = backoff(l.failures, o.jitter())
	}
	l.until = time.Now().Add(wait)
}

// catchUpLocked prepares the next attempt: nobody waits for an abandoned job, and an edit takes what came meanwhile.
func (o *Outbox) catchUpLocked(j *job) {
	if j.abandoned {
		o.dropLocked(j)
		return
	}
	if j.newer != nil {
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
	if j.newer != nil {
		again := &job{kind: edit, to: j.to, messageID: j.messageID, change: *j.newer}
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
		o.known.note(j.ref(), fact{refusal: refusal})
	case j.kind == edit && refusal == nil:
		o.known.note(j.ref(), fact{looks: o.known.looks(j.ref()).after(j.change)})
	case j.kind == send && refusal == nil:
		o.known.note(refOf(j.to, id), fact{looks: looksOf(j.change)})
	}
}

// migrateLocked moves a chat's queue to the chat that the group has become, in front of what waits there.
func (o *Outbox) migrateLocked(l *lane, j *job, chat int64) {
	if chat == 0 || chat == l.chat {
		o.retryLocked(l, j, verdict{answer: later}) // nonsense; asking again is all there is
		return
	}
	for from, to := range o.newChat {
		if to == l.chat {
			o.newChat[from] = chat
		}
	}
	o.newChat[l.chat] = chat
	delete(o.newChat, chat)
	target := o.laneLocked(chat)
	for _, q := range l.queue {
		if q.kind == edit {
			delete(o.edits, q.ref())
		}
		q.to.ChatID = chat
		if q.kind == edit {
			o.edits[q.ref()] = q
		}
	}
	// The head of the target may be under way; it must stay the head.
	at := 0
	if target.flying {
		at = 1
	}
	target.queue = append(target.queue[:at:at], append(l.queue, target.queue[at:]...)...)
	l.queue = nil
	if o.OnMigrate != nil {
		o.OnMigrate(l.chat, chat)
	}
}

// beginAside gives the work of a lane's first aside.
func (o *Outbox) beginAside(calls context.Context, l *lane) func() {
	a := l.asides[0]
	l.asides = l.asides[1:]
	l.beside = true
	return func() {
		ctx, cancel := context.WithTimeout(calls, callTimeout)
		defer cancel()
		err := a.call(ctx, l.chat)
		o.settleAside(l, err)
	}
}

// settleAside ends an aside. It is not tried again, but its answer holds for the chat.
func (o *Outbox) settleAside(l *lane, err error) {
	v := judge(err, &job{kind: send})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flying--
	l.beside = false
	switch v.answer {
	case pause:
		l.until = time.Now().Add(v.wait)
	case revoked:
		o.fatal = v.err
	}
	if err != nil {
		text := err.Error()
		o.log.Debug("best effort call failed", "chat_id", l.chat, "error", text[:min(len(text), maxReason)])
	}
	o.news()
}
