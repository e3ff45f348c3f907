package outbox

import (
	"ccbot/internal/address"
	"context"
	"errors"
	"fmt"
)

var errBlank = errors.New("there is nothing to see in the text")

// Send sends one message and waits for its id. Errors: *Refused when Telegram will never take it,
// with ErrBlocked inside as long as the chat is parked and ErrNoRich when the server has no rich
// messages; ErrRevoked or ErrClosed when nothing can be sent any more; ctx's when that ended first.
// A message that was still waiting when ctx ended is never sent. If a call was under way, or an
// earlier one broke, the error is also ErrUnsure: the message may or may not be in the chat, and no
// further attempt is made. The id is 0 when Telegram said yes in words the library cannot read.
func (o *Outbox) Send(ctx context.Context, m Message) (messageID int, err error) {
	if m.blank() {
		return 0, &Refused{errBlank}
	}
	id, err := o.ask(ctx, &job{kind: send, rank: m.Rank, to: m.To, change: change{message: m}})
	if err != nil {
		return 0, fmt.Errorf("send: %w", err)
	}
	return id, nil
}

// Delete removes a message and waits until Telegram did. One that is not there any more is deleted.
// Errors as in Send.
func (o *Outbox) Delete(ctx context.Context, to address.Conversation, messageID int) error {
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
	err := o.admitLocked(j)
	o.mu.Unlock()
	if err != nil {
		return 0, err
	}
	select {
	case r := <-j.done:
		return r.messageID, r.err
	case <-ctx.Done():
		return o.abandon(j, context.Cause(ctx))
	}
}

// admitLocked queues a job that a caller waits for, unless there is nothing to wait for.
func (o *Outbox) admitLocked(j *job) error {
	if o.Aliases.Lost(j.to.ChatID, j.messageID) {
		return &Refused{ErrMoved}
	}
	if l := o.laneLocked(j.to.ChatID); l.parked {
		return errParked(l.chat)
	}
	if j.kind == remove {
		j.rank = o.known.rank(j.ref(), Now)
		if e := o.edits[j.ref()]; e != nil && !e.flying { // there will be nothing to edit
			o.dropLocked(e)
		}
	}
	o.addLocked(j)
	return nil
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

// Edit replaces text and buttons of a message and does not wait: of the edits of a message that
// wait only the newest is sent, and none that changes nothing. When an earlier edit of this message
// was refused for good, Edit returns that
// *Refused once and queues nothing: the message is gone or cannot be edited, send a new one. Edits that wait are lost
// when the program ends; those of a parked chat are dropped. ctx counts only when it is over already.
func (o *Outbox) Edit(ctx context.Context, to address.Conversation, messageID int, m Message) error {
	switch {
	case m.blank():
		return &Refused{errBlank}
	case m.Rich != "" && !o.TakesRich():
		return &Refused{ErrNoRich}
	}
	return o.edit(ctx, to, messageID, change{message: m})
}

// EditButtons replaces only the buttons of a message, nil takes them away; else it is like Edit.
func (o *Outbox) EditButtons(ctx context.Context, to address.Conversation, messageID int, buttons [][]Button) error {
	return o.edit(ctx, to, messageID, change{message: Message{Buttons: buttons}, buttonsOnly: true})
}

func (o *Outbox) edit(ctx context.Context, to address.Conversation, messageID int, c change) error {
	if ctx.Err() != nil {
		return fmt.Errorf("edit: %w", context.Cause(ctx))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed != nil {
		return fmt.Errorf("edit: %w", o.closed)
	}
	if o.Aliases.Lost(to.ChatID, messageID) {
		return fmt.Errorf("edit: %w", &Refused{ErrMoved})
	}
	at := refOf(to, messageID)
	if err := o.known.takeRefusal(at); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	if !o.laneLocked(to.ChatID).parked {
		o.editLocked(to, at, c)
	}
	return nil
}

func (o *Outbox) editLocked(to address.Conversation, at ref, c change) {
	looks, rank := o.known.looks(at), o.known.rank(at, c.message.Rank)
	j := o.edits[at]
	switch {
	case j != nil && j.flying:
		j.follow(c, looks)
	case j != nil:
		j.change, j.plain, j.rank = j.change.then(c), false, max(j.rank, rank)
		if !j.unsure && !looks.changedBy(j.change) {
			o.dropLocked(j)
		}
	case looks.changedBy(c):
		j = &job{kind: edit, rank: rank, to: to, messageID: at.message, change: c}
		o.edits[at] = j
		o.addLocked(j)
	}
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
