package outbox

import (
	"context"
	"fmt"
	"time"

	"ccbot/internal/address"
	"ccbot/internal/logkey"
)

// IsSuspended reports whether a chat accepts nothing from this bot, see ErrBlocked, or may not be
// shown anything. While a chat is suspended nothing is sent to it: posts stay files, callers of Send get their refusal at once, and
// edits are dropped. After a start each suspended chat is tried once.
func (o *Outbox) IsSuspended(chat int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if l, ok := o.queues.chats[chat]; ok && l.suspended {
		return true
	}
	return o.MayShow != nil && !o.MayShow(address.Conversation{ChatID: chat})
}

// Refuses reports whether a chat is suspended, or has refused a message in an earlier run and taken
// none since.
func (o *Outbox) Refuses(chat int64) bool {
	_, noted := o.notes.suspended.Get(key(chat))
	return noted || o.IsSuspended(chat)
}

// Resume tries a chat again after a message from it, because the chat can be reached. For the same
// reason a job that failed there is tried at once, one whose answer was lost only the first time, and
// the topics of the chat are assumed to exist and to be open: people open a closed topic again by a
// message. Resume returns quickly.
func (o *Outbox) Resume(chat int64) {
	o.with(func(q *queues) { q.resume(time.Now(), chat) })
	if o.notes.resume(chat) && o.OnShut != nil {
		o.OnShut()
	}
}

func errSuspended(chat int64) error { return &Refused{fmt.Errorf("%w (chat %d)", ErrBlocked, chat)} }

// TakesRich reports whether rich messages are worth a try: the server is known to have them, or it
// is unknown whether it has them.
func (o *Outbox) TakesRich() bool {
	f, known := o.notes.servers.Get(o.notes.server)
	age := time.Since(f.At)
	return !known || f.Has || age < 0 || age >= richAgain
}

// unknownMethod finds out the meaning of a 404 for a rich message. The server does not know the
// method if two tries in a row got a 404 and getMe was answered after each; otherwise the 404 may
// pass.
func (o *Outbox) unknownMethod(ctx context.Context, j *job, missing error) verdict {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := o.api.GetMe(ctx)
	if err == nil && j.missing {
		return verdict{answer: refused, err: fmt.Errorf("%w: %w", ErrNoRich, missing)}
	}
	return verdict{answer: denied, known: err == nil}
}

// outward is a job in Telegram's current terms: the number of the chat, and the ids of its
// messages. A message that is in an earlier chat gets the id 0.
func (o *Outbox) outward(j job) job {
	place := j.to.ChatID
	j.to.ChatID, j.messageID = o.Aliases.Out(place, j.messageID)
	_, j.message.ReplyTo = o.Aliases.Out(place, j.message.ReplyTo)
	return j
}

// migrate records that a group has become another chat. The record is on disk before anything is
// sent to the new chat.
func (o *Outbox) migrate(from, to int64) verdict {
	if now, _ := o.Aliases.Out(from, 0); now != from {
		return verdict{answer: moved} // another call has recorded it already
	}
	err := o.Aliases.Note(from, to)
	if now, _ := o.Aliases.Out(from, 0); now == from {
		o.log.Error("group_move_not_kept", logkey.ChatID, from, logkey.NewChatID, to, logkey.Error, err)
		return verdict{answer: later} // nonsense, or a full disk: all that can be done is to ask again
	}
	if o.OnMigrate != nil {
		o.OnMigrate()
	}
	return verdict{answer: moved}
}
