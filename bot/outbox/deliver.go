package outbox

import (
	"context"
	"errors"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/internal/logkey"
)

const (
	callTimeout = 30 * time.Second
	maxReason   = 300                    // of an error in the log: an HTML page is one line too many
	waited      = 100 * time.Millisecond // a message that is sent sooner than this did not have to wait
)

// deliver makes one attempt, puts its consequences on disk, and then reports them to the queue. The
// lane counts as flying all the time, so nothing overtakes the attempt. idle: the message looks
// like this already, so no call is made.
func (o *Outbox) deliver(calls context.Context, l *lane, j *job, attempt job, idle bool) {
	id, v := attempt.messageID, verdict{answer: taken}
	if !idle {
		id, v = o.attempt(calls, l, &attempt)
	}
	topic := attempt.to
	if v.strayed {
		attempt.to.ThreadID = 0
	}
	if v.answer == taken && attempt.isNew() && id != 0 && o.OnSent != nil {
		m := attempt.message
		m.To = attempt.to
		o.OnSent(m, id)
	}
	switch {
	case attempt.kind == post:
		o.file(calls, attempt, id, v)
	case attempt.kind == edit && attempt.message.Name != "":
		_ = o.tell(calls, attempt, id, v) // no file waits for the owner's answer
	}
	o.note(l, &attempt, v)
	lost := false
	o.with(func(q *queues) { lost = q.settle(l, j, attempt, id, v, o.again) })
	if lost && o.OnTopicGone != nil {
		o.OnTopicGone(topic)
	}
}

// attempt makes the call. A post is sent with the message that its owner gives now.
func (o *Outbox) attempt(calls context.Context, l *lane, j *job) (messageID int, v verdict) {
	if j.kind == post && !o.fetch(j) {
		return 0, verdict{answer: vanished}
	}
	if more := j.message.More; j.kind == send && more != nil {
		if time.Since(j.since) >= waited {
			j.message = more()
		}
		j.message.More = nil // More is asked once: after a first attempt the message is final
	}
	out := o.outward(*j)
	id, err := o.call(calls, out)
	if v = judge(err, j); v.answer == unknown {
		v = o.unknownMethod(calls, err)
	}
	o.with(func(q *queues) { q.count(v, err) })
	o.report(calls, l, *j, v, err)
	if v.answer == moved {
		v = o.migrate(out.to.ChatID, v.chat)
	}
	_, id = o.Aliases.In(out.to.ChatID, id)
	if v.answer == taken && j.name != "" && o.Aliases.Lost(j.to.ChatID, id) {
		v = verdict{answer: moved} // the group became another chat during the call: the message is not there
	}
	return id, v
}

// note keeps the consequence of an answer for the chat, or for the server, also for the next run.
// The lane is put on hold before the disk is written, because asides could go during the write.
func (o *Outbox) note(l *lane, j *job, v verdict) {
	switch {
	case v.answer == taken && j.isNew():
		o.notes.unpark(j.to.ChatID)
		if j.isRich() {
			o.notes.rich(true)
		}
	case v.answer == paused:
		o.with(func(*queues) { l.hold(time.Now(), v.wait) })
		o.notes.hold(j.to.ChatID, v.wait)
	case v.answer == blocked:
		o.notes.park(j.to.ChatID, v.err)
	case v.answer == refused && errors.Is(v.err, ErrNoRich) && o.TakesRich():
		o.notes.rich(false)
	}
}

// errStrayed says that a message for a topic was taken, and stands elsewhere: in a private chat Telegram
// sends what is for a deleted topic to the plain chat.
var errStrayed = errors.New("the message is not in its topic")

func (o *Outbox) call(ctx context.Context, j job) (messageID int, err error) {
	patience := callTimeout
	if j.kind == upload {
		patience = uploadTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	chat, m := j.to.ChatID, j.message
	if j.plain {
		m.Text.Entities = nil
	}
	switch {
	case !j.isNew() && j.messageID == 0:
		return 0, ErrMoved
	case j.buttonsOnly:
		_, err = o.api.EditMessageReplyMarkup(ctx, &tgbot.EditMessageReplyMarkupParams{
			ChatID: chat, MessageID: j.messageID, ReplyMarkup: keyboard(m.Buttons),
		})
		return j.messageID, err
	case j.kind == edit && m.Picture != nil:
		_, err = o.api.EditMessageMedia(ctx, mediaParams(chat, j.messageID, m, j.isPhoto()))
		return j.messageID, err
	case j.kind == edit:
		_, err = o.api.EditMessageText(ctx, editParams(chat, j.messageID, m))
		return j.messageID, err
	}
	var sent *models.Message
	photo := j.isPhoto()
	if m.Picture != nil {
		j.body = m.file()
	}
	switch {
	case photo:
		sent, err = o.api.SendPhoto(ctx, photoParams(j.to, j.body, m))
	case j.body != nil:
		sent, err = o.api.SendDocument(ctx, documentParams(j.to, j.body, m))
	case j.isRich() && !o.TakesRich():
		err = ErrNoRich
	case j.isRich():
		sent, err = o.api.SendRichMessage(ctx, richParams(j.to, m))
	default:
		sent, err = o.api.SendMessage(ctx, sendParams(j.to, m))
	}
	if err == nil && j.to.ThreadID != 0 && sent.MessageThreadID != j.to.ThreadID {
		return sent.ID, errStrayed
	}
	if sent != nil && sent.ID != 0 {
		return sent.ID, nil // an id means yes, even when the library cannot read the rest of the answer
	}
	return 0, err
}

// report logs what did not go well: once per streak of failures, not once per attempt.
func (o *Outbox) report(calls context.Context, l *lane, j job, v verdict, err error) {
	if v.answer == taken || calls.Err() != nil {
		return
	}
	log := o.log.With(logkey.ChatID, j.to.ChatID, logkey.Kind, j.kind.String(), logkey.Error, inBrief(err))
	switch v.answer {
	case later:
		first := false
		o.with(func(*queues) { first = l.failures == 0 })
		if first {
			log.Warn("bot_api_unreachable")
		}
	case paused:
		log.Warn("chat_must_wait", logkey.Wait, v.wait)
	case plain:
		log.Warn("formatting_refused")
	case document:
		log.Warn("photo_refused")
	case refused:
		if !errors.Is(v.err, ErrNoRich) { // ErrNoRich is reported once, and not as trouble
			log.Warn("message_refused")
		}
	case topicGone:
		log.Info("topic_gone", logkey.Topic, j.to.ThreadID)
	case moved:
		log.Info("group_has_new_id", logkey.NewChatID, v.chat)
	case revoked:
		log.Error("bot_token_refused")
	}
}
