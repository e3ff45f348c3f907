package outbox

import (
	"context"
	"errors"
	"fmt"

	tgbot "github.com/go-telegram/bot"

	"ccbot/internal/logkey"
)

// Parked says whether a chat takes nothing from this bot (403: blocked, kicked, never started).
// Then nothing is sent there: posts stay files, callers of Send have their refusal at once, edits
// are dropped. A start tries each once.
func (o *Outbox) Parked(chat int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	l, ok := o.queues.lanes[chat]
	return ok && l.parked
}

// Unpark tries a chat again: somebody there has written, so it is in reach. That is also why what
// failed there is tried at once, and why its topics are taken to be there. It is quick.
func (o *Outbox) Unpark(chat int64) {
	o.with(func(q *queues) { q.unpark(chat) })
	o.notes.unpark(chat)
}

func errParked(chat int64) error { return &Refused{fmt.Errorf("%w (chat %d)", ErrBlocked, chat)} }

// TakesRich says whether the server is known to have rich messages, or may have them.
func (o *Outbox) TakesRich() bool { return o.notes.takesRich() }

// unknownMethod finds out what a 404 for a rich message means: the server does not know the method,
// or the token.
func (o *Outbox) unknownMethod(ctx context.Context, missing error) verdict {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := o.api.GetMe(ctx)
	switch {
	case err == nil:
		return verdict{answer: refused, err: fmt.Errorf("%w: %w", ErrNoRich, missing)}
	case errors.Is(err, tgbot.ErrorUnauthorized), errors.Is(err, tgbot.ErrorNotFound):
		return verdict{answer: revoked, err: fmt.Errorf("%w: %w", ErrRevoked, err)}
	}
	return verdict{answer: later}
}

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
		o.log.Error("group_move_not_kept", logkey.ChatID, from, logkey.NewChatID, to, logkey.Error, err)
		return verdict{answer: later} // nonsense, or a full disk: asking again is all there is
	}
	if o.OnMigrate != nil {
		o.OnMigrate()
	}
	return verdict{answer: moved}
}
