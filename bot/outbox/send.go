package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"ccbot/bot/render"
	"ccbot/internal/address"
)

var errBlank = errors.New("there is nothing to see in the text")

// Send sends one message and waits for its id. It returns *Refused if Telegram will never take the
// message, with ErrBlocked inside as long as the chat is suspended and ErrNoRich inside if the
// server has no rich messages; ErrClosed if the outbox is closed; and the error of ctx if ctx ended
// first. A message that was still waiting when ctx ended is never sent. If a call was under way, or
// an earlier one broke, the error is also ErrUnsure: it is unknown whether the message is in the
// chat, and no further attempt is made. The id is 0 if the library cannot read Telegram's positive
// answer. See PostIfClosed for the other such case.
func (o *Outbox) Send(ctx context.Context, m Message) (messageID int, err error) {
	j := &job{kind: send, rank: m.Rank, to: m.To, session: m.Session, message: m, since: time.Now()}
	messageID, err = o.ask(ctx, j)
	if !errors.Is(err, ErrShutOut) || j.isRich() {
		return messageID, err
	}
	m, m.ReplyTo = j.message, j.reply // it may have grown
	return 0, o.Post(ctx, m)
}

// Edit replaces text and buttons of a message and does not wait. Of the edits of a message that
// wait only the newest is sent, and an edit that changes nothing is not sent. The outcome is
// reported to the owner of the message's name, if it has one. Edits that wait are lost when the
// program ends; edits in a suspended chat are dropped. ctx matters only if it has ended before the
// call.
func (o *Outbox) Edit(ctx context.Context, to address.Conversation, messageID int, m Message) error {
	err := context.Cause(ctx)
	if err == nil {
		o.with(func(q *queues) {
			j := &job{kind: edit, to: to, messageID: messageID, message: m}
			j.rank = q.known.rank(j.ref(), m.Rank)
			err = o.admit(q, j)
		})
	}
	if err != nil && !errors.Is(err, ErrBlocked) {
		return fmt.Errorf("edit: %w", err)
	}
	return nil
}

// EditNow is Edit for a caller that must know that the chat has the change. It waits until Telegram
// has changed the message, or the message looked like that already, or Telegram has made a still
// newer edit. Its errors are those of Send; after an error that is ErrUnsure the message may have
// changed.
func (o *Outbox) EditNow(ctx context.Context, to address.Conversation, messageID int, m Message) error {
	_, err := o.ask(ctx, &job{kind: edit, rank: m.Rank, to: to, messageID: messageID, message: m})
	return err
}

// ask queues a job and waits for its result.
func (o *Outbox) ask(ctx context.Context, j *job) (messageID int, err error) {
	defer func() {
		if err != nil {
			messageID, err = 0, fmt.Errorf("%s: %w", j.kind, err)
		}
	}()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err := o.Load(); err != nil {
		return 0, err
	}
	done := make(chan result, 1)
	j.done = []chan result{done}
	o.with(func(q *queues) { err = o.admit(q, j) })
	if err != nil {
		return 0, err
	}
	select {
	case r := <-done:
		return r.messageID, r.err
	case <-ctx.Done():
	}
	o.with(func(q *queues) {
		select {
		case r := <-done: // the result came at the same moment
			messageID, err = r.messageID, r.err
			return
		default:
		}
		err = j.doubt(context.Cause(ctx))
		switch {
		case j.kind == edit: // other callers may also wait for this edit
		case j.flying:
			j.abandoned = true
		default:
			q.drop(j)
		}
	})
	return messageID, err
}

func (o *Outbox) admit(q *queues, j *job) error {
	switch {
	case q.closed != nil:
		return q.closed
	case j.kind != upload && render.Plain(cmp.Or(j.message.Rich, j.message.Text.Text)).Blank():
		return &Refused{errBlank}
	case j.kind == edit && j.isRich():
		return &Refused{ErrNoRich}
	case o.Aliases.Lost(j.to.ChatID, j.messageID):
		return &Refused{ErrMoved}
	case q.chatQueue(j.to.ChatID).suspended:
		return errSuspended(j.to.ChatID)
	case j.kind == edit && q.edits[j.ref()] != nil: // callers that wait for that one get its result
		q.merge(q.chatQueue(j.to.ChatID), q.edits[j.ref()], j)
	default:
		q.add(j)
	}
	return nil
}
