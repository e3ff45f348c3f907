package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/internal/address"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/logkey"
)

// sideCall is a best-effort call outside the queue. A newer one with the same key replaces it.
type sideCall struct {
	key     string
	kind    sideKind
	to      address.Conversation
	since   time.Time
	after   time.Time // not before, because the last try failed
	expires time.Time
	tries   int
	call    func(ctx context.Context, to address.Conversation) error
	done    chan error // of Call: the result, once
}

// sideKind is the subject of a side call; the zero value is typing.
type sideKind int

const (
	typing sideKind = iota
	reaction
	tapAnswer
	awaited // the caller waits
)

// lives are how long a side call of each kind is of use.
var lives = [...]time.Duration{typing: typingLife, reaction: reactLife, tapAnswer: answerLife, awaited: awaitedLife}

func (a *sideCall) class(now time.Time) class {
	switch {
	case a.kind == typing:
		return signs
	case a.kind == reaction && now.Sub(a.since) < reactTimeout:
		return receipts
	}
	return urgent
}

// put adds a side call. If there are too many, the oldest of the least important kind is dropped.
func (q *chatQueue) put(a *sideCall) {
	least := a
	for i, old := range q.sideCalls {
		if old.key == a.key {
			q.sideCalls[i] = a
			return
		}
		if least == a && old.kind <= a.kind || old.kind < least.kind {
			least = old
		}
	}
	q.sideCalls = append(q.sideCalls, a)
	if len(q.sideCalls) > maxAsides {
		q.sideCalls = without(q.sideCalls, least)
	}
}

// putBack adds a side call that failed and is worth another try, unless a newer one has come.
func (q *chatQueue) putBack(a *sideCall) {
	if !slices.ContainsFunc(q.sideCalls, func(newer *sideCall) bool { return newer.key == a.key }) {
		q.sideCalls = slices.Insert(q.sideCalls, 0, a)
	}
}

// reactionsAgain is the time after which a chat that has refused a reaction is tried again: its people may have allowed them.
const reactionsAgain = 24 * time.Hour

// reactionRefused is Telegram's text if the people of a group have restricted its reactions.
var reactionRefused = lazyregexp.New(`(?i)\breaction_(invalid|not_allowed)\b`)

// TakesReactions reports whether a reaction in a chat is worth a try.
func (o *Outbox) TakesReactions(chat int64) bool {
	at, noted := o.notes.reactions.Get(key(chat))
	age := time.Since(at)
	return !noted || age < 0 || age >= reactionsAgain
}

// Unreacted returns the chats that take no reactions.
func (o *Outbox) Unreacted() (all []int64) {
	for _, k := range o.notes.reactions.Keys() {
		if chat, err := strconv.ParseInt(k, 10, 64); err == nil && !o.TakesReactions(chat) {
			all = append(all, chat)
		}
	}
	return all
}

// reacted notes whether a group takes reactions. Its people are told the first time that it refuses one: a group may allow
// others. That a reaction was taken away proves nothing.
func (o *Outbox) reacted(chat int64, emoji string, err error) {
	at, told := o.notes.reactions.Get(key(chat))
	switch {
	case err == nil && emoji != "" && !at.IsZero():
		o.notes.reactions.Change(func(all map[string]time.Time) bool { all[key(chat)] = time.Time{}; return true })
	case chat < 0 && errors.Is(err, tgbot.ErrorBadRequest) && reactionRefused.MatchString(err.Error()):
		if !told && o.OnNoReactions != nil && o.OnNoReactions(chat) != nil {
			return // said at the next refusal
		}
		o.notes.reactions.Change(func(all map[string]time.Time) bool {
			all[key(chat)] = time.Now().UTC().Truncate(time.Second)
			return true
		})
	}
}

// React puts an emoji on a message; the emoji "" takes the reaction away. React is best effort: it
// does not wait, and the reaction is dropped when the chat cannot be reached within a day, or has refused one within the last
// day. Only the newest reaction to a message is sent.
func (o *Outbox) React(ctx context.Context, to address.Conversation, messageID int, emoji string) {
	if !o.TakesReactions(to.ChatID) {
		return
	}
	var list []models.ReactionType
	if emoji != "" {
		one := &models.ReactionTypeEmoji{Emoji: emoji}
		list = []models.ReactionType{{Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: one}}
	}
	o.addSideCall(ctx, to, reaction, strconv.Itoa(messageID), func(ctx context.Context, _ address.Conversation) error {
		chat, id := o.Aliases.Out(to.ChatID, messageID)
		if id == 0 || !o.TakesReactions(to.ChatID) {
			return nil // the message is in an earlier chat, or an earlier reaction was refused meanwhile
		}
		_, err := o.api.SetMessageReaction(ctx, &tgbot.SetMessageReactionParams{ChatID: chat, MessageID: id, Reaction: list})
		o.reacted(to.ChatID, emoji, err)
		return err
	})
}

// Typing shows "typing…" for five seconds or until the next message. It is best effort.
func (o *Outbox) Typing(ctx context.Context, to address.Conversation) {
	o.addSideCall(ctx, to, typing, strconv.Itoa(to.ThreadID), func(ctx context.Context, to address.Conversation) error {
		typing := &tgbot.SendChatActionParams{ChatID: to.ChatID, MessageThreadID: to.ThreadID, Action: models.ChatActionTyping}
		_, err := o.api.SendChatAction(ctx, typing)
		return err
	})
}

// Answer answers a tap on a button; until then the app shows a spinner. The answer is a short
// notice (at most 200 characters) or, with alert, a dialog. to is the place of the button. Answer
// is best effort.
func (o *Outbox) Answer(ctx context.Context, to address.Conversation, queryID, text string, alert bool) {
	o.addSideCall(ctx, to, tapAnswer, queryID, func(ctx context.Context, _ address.Conversation) error {
		answer := &tgbot.AnswerCallbackQueryParams{CallbackQueryID: queryID, Text: text, ShowAlert: alert}
		_, err := o.api.AnswerCallbackQuery(ctx, answer)
		return err
	})
}

// DropButtons takes the buttons off a message. It is best effort, as React is.
func (o *Outbox) DropButtons(ctx context.Context, to address.Conversation, messageID int) {
	o.addSideCall(ctx, to, reaction, "buttons "+strconv.Itoa(messageID), func(ctx context.Context, _ address.Conversation) error {
		chat, id := o.Aliases.Out(to.ChatID, messageID)
		if id == 0 {
			return nil
		}
		_, err := o.api.EditMessageReplyMarkup(ctx, &tgbot.EditMessageReplyMarkupParams{ChatID: chat, MessageID: id})
		return err
	})
}

// addSideCall adds a call outside the queue. about names its subject: a newer call of the same kind
// about the same subject replaces it.
func (o *Outbox) addSideCall(ctx context.Context, to address.Conversation, k sideKind, about string,
	call func(context.Context, address.Conversation) error) {
	if ctx.Err() == nil {
		_ = o.putSide(&sideCall{key: fmt.Sprint(k, about), kind: k, to: to, call: call})
	}
}

// putSide queues a side call, or returns why it cannot be done.
func (o *Outbox) putSide(a *sideCall) (err error) {
	o.with(func(q *queues) {
		switch l := q.chatQueue(a.to.ChatID); {
		case q.closed != nil:
			err = q.closed
		case l.suspended:
			err = errSuspended(a.to.ChatID)
		default:
			a.since = time.Now()
			a.expires = a.since.Add(lives[a.kind])
			l.put(a)
		}
	})
	return err
}

// Call makes a call outside the queue of a chat, in Telegram's terms, and waits for its result. It
// is repeated only if Telegram surely has not carried it out: it must wait, or the group has become
// another chat. Its errors are those of Send, ErrUnsure if the connection broke; if ctx ends first,
// a call that has not begun is not made. ErrNoTopic: the topic of the call does not exist.
func (o *Outbox) Call(ctx context.Context, to address.Conversation,
	call func(ctx context.Context, to address.Conversation) error) (err error) {
	done := make(chan error, 1)
	err = o.putSide(&sideCall{key: fmt.Sprintf("%p", done), kind: awaited, to: to, done: done,
		call: func(made context.Context, to address.Conversation) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return call(made, to)
		}})
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave makes a call that leaves a chat, in Telegram's terms: also a chat that may not be shown
// anything. Its errors are those of Call.
func (o *Outbox) Leave(ctx context.Context, chat int64, call func(ctx context.Context, to address.Conversation) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	to := address.Conversation{ChatID: chat}
	err := call(ctx, o.outward(job{to: to}).to)
	if v := judge(err, &job{kind: send, to: to}); v.answer != paused && v.answer != denied && v.answer != moved {
		return v.outcome(err)
	}
	return err
}

// outcome is the error of Call after the final answer.
func (v verdict) outcome(err error) error {
	switch v.answer {
	case taken:
		return nil
	case topicGone:
		return &Refused{ErrNoTopic}
	case later, lost:
		return fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return &Refused{err}
}

func (o *Outbox) deliverSide(calls context.Context, l *chatQueue, a *sideCall, to address.Conversation) {
	timeout := callTimeout
	if a.done == nil {
		timeout = signTimeout
	}
	ctx, cancel := context.WithTimeout(calls, timeout)
	defer cancel()
	out := o.outward(job{to: to}).to
	err := a.call(ctx, out)
	about := &job{kind: edit} // of a message, which may be gone or may look so already
	if a.done != nil {
		about = &job{kind: send, to: to}
	}
	v := judge(err, about)
	switch {
	case v.answer == blocked && a.kind == tapAnswer:
		v.answer = refused // a refusal of the tap, not of the chat
	case v.answer == moved:
		v = o.migrate(out.ChatID, v.chat)
	}
	o.with(func(q *queues) { q.count(l, v, err) })
	shut := o.note(l, &job{to: to}, v)
	gone := false
	o.with(func(q *queues) { gone = q.resolveSide(l, a, v, again(o)) })
	o.tell(shut, to, gone)
	if a.done != nil && v.answer != paused && v.answer != denied && v.answer != moved {
		a.done <- v.outcome(err)
	}
	if err != nil && calls.Err() == nil {
		o.log.Debug("best_effort_call_failed", logkey.ChatID, to.ChatID, logkey.Error, err)
	}
}
