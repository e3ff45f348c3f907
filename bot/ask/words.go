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

// Hear takes a text that a request waits for: the reason of a denial, or an answer in the person's
// own words. Commands go where they always go. The request notes the key of the text, because after
// a crash the text comes again. missed is the request that the text was written for when something
// else ended it; it is nil where there is none.
func (a *Requests) Hear(ctx context.Context, in chat.Incoming,
	text string) (taken bool, missed *Card, err error) {
	c, again := a.Store.ByPrompt(in.Key)
	if again && c.Conversation == in.To && a.Chat.Now().Sub(c.Request.Asked) < keep {
		a.Look(c.Request.Session, false)
		return true, nil, nil
	}
	if strings.HasPrefix(text, "/") {
		return false, nil, nil
	}
	c = a.awaits(in)
	r, open := a.find(c.Request.ID)
	s, answers, _ := a.Chat.Book.Answered(in.Message)
	switch {
	case answers && c.Request.Session != s.ID:
		return false, nil, nil // it says itself whose it is
	case !open: // none waits for it, or not any more
		return false, a.missed(in), nil
	case !answers && !a.isMeant(c):
		return false, nil, r.turn(ctx, GiveUp)
	}
	_, _, err = r.change(ctx, func(c Card) (Card, error) {
		next, err := Say(c, in.From, text, a.Chat.Now())
		next.Prompt, next.Text = in.Key, in.MessageID
		return next, err
	})
	switch {
	case errors.Is(err, ErrOver), errors.Is(err, ErrNotNow):
		return false, a.missed(in), nil
	case err != nil:
		return false, nil, err
	}
	a.Chat.At("ask-heard")
	a.Chat.Sender.React(ctx, in.To, in.MessageID, chat.ReactionStored)
	pause.Poke(r.wake) // which gives the decision to the hook
	return true, nil, nil
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

// missed finds the request that a person was writing for when it ended.
func (a *Requests) missed(in chat.Incoming) *Card {
	for _, c := range a.Store.List() {
		if c.Conversation == in.To && c.Misses(in.From, a.Chat.Now()) {
			return &c
		}
	}
	return nil
}

// Caught notes that the text which was meant for a request has come: the next one is a prompt.
func (a *Requests) Caught(ctx context.Context, id string) error {
	caught := func(c Card) Card {
		c.Missed = nil
		return GiveUp(c)
	}
	if r, open := a.find(id); open {
		return r.turn(ctx, caught)
	}
	c, ok := a.Store.Get(id)
	if !ok {
		return nil
	}
	return a.Store.Save(caught(c))
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
		return GiveUp(c)
	case c.Overdue(a.Chat.Now()):
		return c.unwait(0, a.Chat.Now())
	}
	return c
}

// onlyFor makes sure that a person's next text belongs to one request alone.
func (a *Requests) onlyFor(ctx context.Context, but Card, person int64) error {
	return a.giveUp(ctx, func(c Card) bool {
		return c.Why.By == person && c.Conversation == but.Conversation && c.Request.ID != but.Request.ID
	})
}

// Switched hears that another session is the current one of a conversation: what people write there
// is meant for that one.
func (a *Requests) Switched(ctx context.Context, to outbox.Conversation, id uuid.UUID) error {
	return a.giveUp(ctx, func(c Card) bool { return c.Conversation == to && c.Request.Session != id })
}

// giveUp ends the wait for a text of some of the requests that wait for one.
func (a *Requests) giveUp(ctx context.Context, which func(Card) bool) error {
	gives := func(c Card) Card {
		if c.Why != nil && which(c) {
			return GiveUp(c)
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
