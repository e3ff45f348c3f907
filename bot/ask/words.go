package ask

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/internal/pause"
)

// text takes a text that a request waits for: the reason of a denial, or an answer in the person's
// own words. Commands go where they always go, and the words of others answer nothing. The request
// notes the key of the text, because after a crash the text comes again. A text that was written for
// a request which something else has ended is marked as such.
func (a *Requests) text(ctx context.Context, in *chat.Incoming, text string) (taken bool, err error) {
	if in.Quoted {
		return false, nil
	}
	c, again := a.Store.ByPrompt(in.Key)
	if again && c.Conversation == in.To && a.Chat.Now().Sub(c.Request.Asked) < keep {
		a.Look(c.Request.Session, false)
		return true, nil
	}
	if strings.HasPrefix(text, "/") {
		return false, nil
	}
	c = a.awaits(*in)
	r, open := a.find(c.Request.ID)
	s, answers, _ := a.Chat.Book.Answered(in.Message)
	switch {
	case answers && c.Request.Session != s.ID:
		return false, nil // it says itself whose it is
	case !open: // none waits for it, or not any more
		return false, a.catch(ctx, in)
	case !answers && !a.isMeant(c):
		return false, r.turn(ctx, giveUp)
	}
	_, _, err = r.change(ctx, func(c Card) (Card, error) {
		next, err := say(c, in.From, text, a.Chat.Now())
		next.Prompt, next.Text = in.Key, in.MessageID
		return next, err
	})
	switch {
	case errors.Is(err, errOver), errors.Is(err, errNotNow):
		return false, a.catch(ctx, in)
	case err != nil:
		return false, err
	}
	a.Chat.At("ask-heard")
	a.Chat.Sender.React(ctx, in.To, in.MessageID, chat.ReactionStored)
	pause.Poke(r.wake) // which gives the decision to the hook
	return true, nil
}

// awaits finds the request that waits for a person's text, if one does.
func (a *Requests) awaits(in chat.Incoming) Card {
	for _, c := range a.Store.Unsettled() {
		if c.Conversation == in.To && c.Awaits(in.From, a.Chat.Now()) {
			return c
		}
	}
	return Card{}
}

// catch marks a text that a person was writing for a request when that ended. The request notes the
// key of the text: the next text is a prompt, and this one is marked again when it comes again.
func (a *Requests) catch(ctx context.Context, in *chat.Incoming) error {
	for _, c := range a.Store.List() {
		again := c.Caught == in.Key
		if c.Conversation != in.To || !again && !c.Misses(in.From, a.Chat.Now()) {
			continue
		}
		in.Missed = true
		caught := func(c Card) Card {
			c.Missed, c.Caught = nil, in.Key
			return giveUp(c)
		}
		switch r, open := a.find(c.Request.ID); {
		case again:
			return nil
		case open:
			return r.turn(ctx, caught)
		}
		return a.Store.Save(caught(c))
	}
	return nil
}

// isMeant says whether a text in a request's conversation may be meant for it: its session is the
// current one there, or the only one that is shown there.
func (a *Requests) isMeant(c Card) bool {
	s, ok := a.Chat.Book.Records.Get(c.Request.Session)
	alone := c.Conversation.ThreadID != 0 && s.Conversation == c.Conversation
	return ok && (alone || a.Chat.Book.IsCurrent(c.Conversation, s))
}

// heed ends the wait for a text that came too late, or is not meant for the request any more.
func (r *request) heed(c Card) Card {
	a := r.of
	switch {
	case c.Why == nil:
		return c
	case !a.isMeant(c):
		return giveUp(c)
	case c.Overdue(a.Chat.Now()):
		return c.unwait(0, a.Chat.Now())
	}
	return c
}

// switched hears that another session is the current one of a conversation: what people write there
// is meant for that one.
func (a *Requests) switched(ctx context.Context, to outbox.Conversation, id uuid.UUID) error {
	return a.giveUp(ctx, func(c Card) bool { return c.Conversation == to && c.Request.Session != id })
}

// giveUp ends the wait for a text of some of the requests that wait for one.
func (a *Requests) giveUp(ctx context.Context, which func(Card) bool) error {
	gives := func(c Card) Card {
		if c.Why != nil && which(c) {
			return giveUp(c)
		}
		return c
	}
	for _, c := range a.Store.Unsettled() {
		if r, open := a.find(c.Request.ID); open && gives(c).Why != c.Why {
			if err := r.turn(ctx, gives); err != nil {
				return err
			}
		}
	}
	return nil
}
