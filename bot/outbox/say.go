package outbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/internal/session"
)

var errBlank = errors.New("there is nothing to see in the text")

// Send sends one message and waits for its id. Errors: *Refused when Telegram will never take it; ErrRevoked or
// ErrClosed when nothing can be sent any more; ctx's when that ended first. A message that was still waiting when ctx
// ended is never sent. If a call was under way, or an earlier one broke, the error is also ErrUnsure: the message may or
// may not be in the chat, and no further attempt is made. The id is 0 when Telegram said yes in words the library cannot
// read.
func (o *Outbox) Send(ctx context.Context, m Message) (messageID int, err error) {
	if m.Text.Blank() {
		return 0, &Refused{errBlank}
	}
	id, err := o.ask(ctx, &job{kind: send, to: m.To, change: change{message: m}})
	if err != nil {
		return 0, fmt.Errorf("send: %w", err)
	}
	return id, nil
}

// Delete removes a message and waits until Telegram did. One that is not there any more is deleted. Errors as in Send.
func (o *Outbox) Delete(ctx context.Context, to session.Conversation, messageID int) error {
	if _, err := o.ask(ctx, &job{kind: remove, to: to, messageID: messageID}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

func (o *Outbox) ask(ctx context.Context, j *job) (int, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err := o.load(); err != nil {
		return 0, err
	}
	j.done = make(chan result, 1)
	o.mu.Lock()
	if o.closed != nil {
		defer o.mu.Unlock()
		return 0, o.closed
	}
	o.addLocked(j)
	o.mu.Unlock()
	select {
	case r := <-j.done:
		return r.messageID, r.err
	case <-ctx.Done():
		return o.abandon(j, context.Cause(ctx))
	}
}

// abandon gives up on a job, unless its result came at the same moment.
func (o *Outbox) abandon(j *job, cause error) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case r := <-j.done:
		return r.messageID, r.err
	default:
	}
	if j.abandoned = true; !j.flying {
		o.dropLocked(j)
		o.news()
	}
	return 0, j.doubt(cause)
}

// doubt adds ErrUnsure to err when the job may have been carried out.
func (j *job) doubt(err error) error {
	if j.unsure || j.flying {
		return fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return err
}

// Edit replaces text and buttons of a message and does not wait: of the edits of a message that wait only the newest is
// sent, and none that changes nothing. When an earlier edit of this message was refused for good, Edit returns that
// *Refused once and queues nothing: the message is gone or cannot be edited, send a new one. Edits that wait are lost
// when the program ends. ctx counts only when it is over already.
func (o *Outbox) Edit(ctx context.Context, to session.Conversation, messageID int, m Message) error {
	if m.Text.Blank() {
		return &Refused{errBlank}
	}
	return o.edit(ctx, to, messageID, change{message: m})
}

// EditButtons replaces only the buttons of a message, nil takes them away; else it is like Edit.
func (o *Outbox) EditButtons(ctx context.Context, to session.Conversation, messageID int, buttons [][]Button) error {
	return o.edit(ctx, to, messageID, change{message: Message{Buttons: buttons}, buttonsOnly: true})
}

func (o *Outbox) edit(ctx context.Context, to session.Conversation, messageID int, c change) error {
	if ctx.Err() != nil {
		return fmt.Errorf("edit: %w", context.Cause(ctx))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed != nil {
		return fmt.Errorf("edit: %w", o.closed)
	}
	to.ChatID = o.chatLocked(to.ChatID)
	at := refOf(to, messageID)
	if err := o.known.takeRefusal(at); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	looks := o.known.looks(at)
	j := o.edits[at]
	switch {
	case j != nil && j.flying:
		j.follow(c, looks)
	case j != nil:
		j.change, j.plain = j.change.then(c), false
		if !j.unsure && !looks.changedBy(j.change) {
			o.dropLocked(j)
		}
	case looks.changedBy(c):
		j = &job{kind: edit, to: to, messageID: messageID, change: c}
		o.edits[at] = j
		o.addLocked(j)
	}
	return nil
}

// follow notes what to change after the call under way.
func (j *job) follow(c change, looks shown) {
	if j.newer != nil {
		c = j.newer.then(c)
	}
	if j.newer = &c; !looks.after(j.change).changedBy(c) {
		j.newer = nil
	}
}

// React puts an emoji on a message, "" takes it away. Best effort: it does not wait, is tried once, and is dropped
// when the chat cannot be reached within a minute.
func (o *Outbox) React(ctx context.Context, to session.Conversation, messageID int, emoji string) {
	p := &tgbot.SetMessageReactionParams{MessageID: messageID}
	if emoji != "" {
		p.Reaction = []models.ReactionType{{
			Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: emoji},
		}}
	}
	o.beside(ctx, to, "react "+strconv.Itoa(messageID), reactLife, func(ctx context.Context, chat int64) error {
		p.ChatID = chat
		_, err := o.api.SetMessageReaction(ctx, p)
		return err
	})
}

// Typing shows "typing…" for five seconds or until the next message. Best effort.
func (o *Outbox) Typing(ctx context.Context, to session.Conversation) {
	o.beside(ctx, to, "typing "+strconv.Itoa(to.ThreadID), typingLife, func(ctx context.Context, chat int64) error {
		_, err := o.api.SendChatAction(ctx, &tgbot.SendChatActionParams{
			ChatID: chat, MessageThreadID: to.ThreadID, Action: models.ChatActionTyping,
		})
		return err
	})
}

// Answer answers a tap on a button (the app shows a spinner until then), with a short notice (at most 200 characters)
// or, with alert, a dialog. to is where the button is. Best effort.
func (o *Outbox) Answer(ctx context.Context, to session.Conversation, queryID, text string, alert bool) {
	o.beside(ctx, to, "answer "+queryID, answerLife, func(ctx context.Context, _ int64) error {
		_, err := o.api.AnswerCallbackQuery(ctx, &tgbot.AnswerCallbackQueryParams{
			CallbackQueryID: queryID, Text: text, ShowAlert: alert,
		})
		return err
	})
}

func (o *Outbox) beside(ctx context.Context, to session.Conversation, key string, life time.Duration, call func(context.Context, int64) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Err() != nil || o.closed != nil {
		return
	}
	o.laneLocked(to.ChatID).put(&aside{key: key, expires: time.Now().Add(life), call: call})
	o.news()
}
