package outbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/bot/render"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
)

const (
	callTimeout = 30 * time.Second
	signTimeout = 4 * time.Second        // of a call that may be made twice: with its pause it ends 10 s after an outage
	waited      = 100 * time.Millisecond // a message that is sent sooner than this did not have to wait
)

// deliver makes one attempt, puts its consequences on disk, and then reports them to the queue. The
// chat queue counts as flying all the time, so nothing overtakes the attempt, except for a file:
// see queue.uploading. idle: the message
// looks like this already, so no call is made.
func (o *Outbox) deliver(calls context.Context, l *chatQueue, j *job, attempt job, idle bool) {
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
		_ = o.reportOutcome(calls, attempt, id, v) // no file waits for the owner's answer
	}
	shut := o.note(l, &attempt, v)
	gone := false
	o.with(func(q *queues) { gone = q.settle(time.Now(), l, j, attempt, id, v, again(o)) })
	o.tell(shut, topic, gone)
	if v.answer == generalShut && o.OnClosed != nil {
		o.OnClosed()
	}
}

// tell calls those who want to know that a chat or a topic takes nothing. They may ask at once, so
// the queue knows it before.
func (o *Outbox) tell(shut bool, topic address.Conversation, gone bool) {
	if shut && o.OnShut != nil {
		o.OnShut()
	}
	if gone && o.OnTopicGone != nil {
		o.OnTopicGone(topic)
	}
}

// attempt makes the call. A post is sent with the message that its owner gives now.
func (o *Outbox) attempt(calls context.Context, l *chatQueue, j *job) (messageID int, v verdict) {
	if j.kind == post && !o.fetch(j) {
		return 0, verdict{answer: vanished}
	}
	if more := j.message.More; j.kind == send && more != nil {
		if time.Since(j.since) >= waited {
			j.message = more()
		}
		j.message.More = nil // More is called once: after a first attempt the message is final
	}
	out := o.outward(*j)
	room := map[kind]int{send: render.Limit, upload: MaxCaption}[j.kind]
	if room > 0 && j.to.ThreadID != j.message.To.ThreadID && o.Elsewhere != nil {
		if m := o.Elsewhere(out.message); m.Text.Length() <= room {
			out.message = m
		}
	}
	room = cmp.Or(room, render.Limit)
	if out.message.Picture != nil {
		room = MaxCaption
	}
	if j.losses >= marked && o.Repeated != nil {
		if m := o.Repeated(out.message); m.Text.Length() <= room {
			out.message = m
		}
	}
	id, err := out.messageID, o.impossible(out)
	called := err == nil
	if called {
		if j.kind != upload { // it has paid
			o.with(func(q *queues) { q.pay(time.Now(), l, j) })
		}
		id, err = o.call(calls, out)
	}
	if v = judge(err, j); v.answer == unknown {
		v = o.unknownMethod(calls, j, err)
	}
	o.with(func(q *queues) {
		if called {
			q.count(l, v, err)
		}
	})
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
// The chat queue is put on hold before the disk is written, because side calls could go during the
// write. shut: the chat has refused a message, or takes them again.
func (o *Outbox) note(l *chatQueue, j *job, v verdict) (shut bool) {
	switch {
	case v.answer == taken && j.isNew():
		shut = o.notes.resume(j.to.ChatID)
		if j.isRich() {
			o.notes.rich(true)
		}
	case v.answer == paused:
		o.with(func(*queues) { l.hold(time.Now(), v.wait) })
		o.notes.hold(j.to.ChatID, v.wait)
	case v.answer == blocked:
		shut = true
		o.notes.suspend(j.to.ChatID, v.err)
	case v.answer == refused && errors.Is(v.err, ErrNoRich) && o.TakesRich():
		o.notes.rich(false)
	}
	return shut
}

// errStrayed is returned if a message for a topic was taken, and is elsewhere: in a private chat
// Telegram sends messages for a deleted topic to the plain chat.
var errStrayed = errors.New("the message is not in its topic")

// errNoID is an answer {"ok":true} without the id that each message of Telegram has: something
// between ccbot and Telegram wrote it, and the message is not known to be sent.
var errNoID = errors.New("the answer names no message")

// impossible returns the reason why no call is made for a job.
func (o *Outbox) impossible(j job) error {
	switch {
	case j.kind == edit && j.messageID == 0:
		return ErrMoved
	case j.kind == send && j.isRich() && !o.TakesRich():
		return ErrNoRich
	}
	return nil
}

// errUnconnected marks the error of a call for which there was no connection: nothing was sent.
var errUnconnected = errors.New("there was no connection")

// closedIdle is the text of net/http if the server had closed the connection before the call.
const closedIdle = "http: server closed idle connection"

// traced returns a context for a call that finds out whether the call waited for a connection in vain.
func traced(ctx context.Context) (call context.Context, unconnected func() bool) {
	var asked, got atomic.Bool
	trace := &httptrace.ClientTrace{GetConn: func(string) { asked.Store(true) }, GotConn: func(httptrace.GotConnInfo) { got.Store(true) }}
	return httptrace.WithClientTrace(ctx, trace), func() bool { return asked.Load() && !got.Load() }
}

func (o *Outbox) call(ctx context.Context, j job) (messageID int, err error) {
	timeout := callTimeout
	if j.kind == upload {
		timeout = uploadTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ctx, unconnected := traced(ctx)
	defer func() {
		if err != nil && (unconnected() || strings.Contains(err.Error(), closedIdle)) {
			err = fmt.Errorf("%w: %w", errUnconnected, err)
		}
	}()
	if j.plain {
		j.message.Text.Entities = nil
	}
	if j.kind == edit {
		return j.messageID, o.change(ctx, j, j.message)
	}
	sent, err := o.send(ctx, j, j.message)
	switch {
	case sent == nil || sent.ID == 0:
		return 0, cmp.Or(err, errNoID)
	case err == nil && j.to.ThreadID != 0 && sent.MessageThreadID != j.to.ThreadID:
		return sent.ID, errStrayed
	}
	return sent.ID, nil // an id means yes, even when the library cannot read the rest of the answer
}

// noPreview turns the preview of links off, because a preview of the first link pushes an answer
// off a phone's screen.
var noPreview = &models.LinkPreviewOptions{IsDisabled: tgbot.True()}

func (o *Outbox) change(ctx context.Context, j job, m Message) (err error) {
	chat, text, entities, keys := j.to.ChatID, m.Text.Text, m.Text.Entities, keyboard(m.Buttons)
	switch {
	case j.buttonsOnly:
		_, err = o.api.EditMessageReplyMarkup(ctx, &tgbot.EditMessageReplyMarkupParams{
			ChatID: chat, MessageID: j.messageID, ReplyMarkup: keys,
		})
	case m.Picture != nil:
		const attached = "attach://" + pictureName
		data := bytes.NewReader(m.Picture.PNG)
		var media models.InputMedia = &models.InputMediaDocument{
			Media: attached, Caption: text, CaptionEntities: entities, MediaAttachment: data,
		}
		if j.isPhoto() {
			media = &models.InputMediaPhoto{Media: attached, Caption: text, CaptionEntities: entities, MediaAttachment: data}
		}
		_, err = o.api.EditMessageMedia(ctx, &tgbot.EditMessageMediaParams{
			ChatID: chat, MessageID: j.messageID, ReplyMarkup: keys, Media: media,
		})
	default:
		_, err = o.api.EditMessageText(ctx, &tgbot.EditMessageTextParams{
			ChatID: chat, MessageID: j.messageID, Text: text, Entities: entities, LinkPreviewOptions: noPreview, ReplyMarkup: keys,
		})
	}
	return err
}

func (o *Outbox) send(ctx context.Context, j job, m Message) (*models.Message, error) {
	chat, topic, quiet, keys := j.to.ChatID, j.to.ThreadID, !m.Sounds, keyboard(m.Buttons)
	var reply *models.ReplyParameters
	if m.ReplyTo != 0 {
		reply = &models.ReplyParameters{MessageID: m.ReplyTo, AllowSendingWithoutReply: true}
	}
	if p := m.Picture; p != nil {
		j.body = &File{Name: pictureName, Body: bytes.NewReader(p.PNG), Size: int64(len(p.PNG))}
	}
	var data *models.InputFileUpload
	if f := j.body; f != nil { // with a separate reader: a failed attempt may still read from its own
		data = &models.InputFileUpload{Filename: f.Name, Data: source{io.NewSectionReader(f.Body, 0, f.Size)}}
	}
	switch {
	case j.isPhoto():
		return o.api.SendPhoto(ctx, &tgbot.SendPhotoParams{
			ChatID: chat, MessageThreadID: topic, Photo: data, Caption: m.Text.Text, CaptionEntities: m.Text.Entities,
			DisableNotification: quiet, ReplyParameters: reply, ReplyMarkup: keys,
		})
	case data != nil:
		return o.api.SendDocument(ctx, &tgbot.SendDocumentParams{
			ChatID: chat, MessageThreadID: topic, Document: data, Caption: m.Text.Text, CaptionEntities: m.Text.Entities,
			DisableNotification: quiet, ReplyParameters: reply, ReplyMarkup: keys,
		})
	case !j.isRich():
		return o.api.SendMessage(ctx, &tgbot.SendMessageParams{
			ChatID: chat, MessageThreadID: topic, Text: m.Text.Text, Entities: m.Text.Entities, LinkPreviewOptions: noPreview,
			DisableNotification: quiet, ReplyParameters: reply, ReplyMarkup: keys,
		})
	}
	return o.api.SendRichMessage(ctx, &tgbot.SendRichMessageParams{
		// A quotation of an agent must not mention people, and must not become a command of a bot.
		RichMessage: models.InputRichMessage{Markdown: m.Rich, SkipEntityDetection: true},
		ChatID:      chat, MessageThreadID: topic, DisableNotification: quiet, ReplyParameters: reply, ReplyMarkup: keys,
	})
}

// report logs failures: once per streak, not once per attempt.
func (o *Outbox) report(calls context.Context, l *chatQueue, j job, v verdict, err error) {
	if v.answer == taken || calls.Err() != nil {
		return
	}
	log := o.log.With(logkey.ChatID, j.to.ChatID, logkey.Kind, j.kind.String(), logkey.Error, err)
	first := func() (is bool) {
		o.with(func(*queues) { is = l.failures == 0 })
		return is
	}
	switch v.answer {
	case later:
		if first() {
			log.Warn("bot_api_unreachable")
		}
	case lost:
		if j.losses == 0 {
			log.Warn("answer_lost")
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
	case generalShut:
		log.Info("general_closed")
	case topicGone:
		log.Info("topic_gone", logkey.Topic, j.to.ThreadID)
	case moved:
		log.Info("group_has_new_id", logkey.NewChatID, v.chat)
	case denied:
		if first() && !v.known { // a server that answers getMe has refused the method
			log.Warn("bot_token_refused")
		}
	}
}
