package ask

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/internal/pause"
)

// tap is a tap on the card of a request. It counts whoever of the allowed people taps. What it
// decides is on disk when it is answered; the request's goroutine gives it to the hook.
func (a *Requests) tap(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	r, open := a.find(t.Card.Key)
	if !open {
		return chat.Answer{Text: a.late(t.Card.Key)}, nil
	}
	old, next, err := r.change(ctx, func(c Card) (Card, error) {
		if c.Conversation != t.To {
			return c, ErrNotNow // it has moved
		}
		return Tap(c, t.From, t.Card.Option, a.Chat.Now())
	})
	switch {
	case errors.Is(err, ErrOver), errors.Is(err, ErrNotNow):
		return chat.Answer{Text: a.late(r.id)}, nil
	case err != nil:
		return chat.Answer{}, err
	case next.Why != nil:
		err = a.onlyFor(ctx, next, t.From)
	case t.Card.Option == verbAll:
		a.mu.Lock()
		r.startLocked(func(ctx context.Context) { r.showAll(ctx, t) })
		a.mu.Unlock()
	}
	return chat.Answer{Then: func(context.Context) error {
		r.free(old, next)
		pause.Poke(r.wake)
		return nil
	}}, err
}

func (a *Requests) lateTap(t chat.Tap) string { return a.late(t.Card.Key) }

// late says to a person whose tap changes nothing what was decided, or is to be done first.
func (a *Requests) late(id string) string {
	c, ok := a.Store.Get(id)
	if !ok {
		return a.Chat.Words.Say(i18n.StaleButton)
	}
	return cmp.Or(a.viewer().status(c, judge(c)).Text, a.Chat.Words.Say(i18n.AskChanged))
}

// Text is a text of a person that waits in the inbox.
type Text struct {
	By      int64 // who decides with it
	Words   string
	Key     string
	Message int
}

// TextTurn decides a request with a text that waits: DenyWith or AnswerWith.
type TextTurn func(c Card, by int64, text, prompt string, now time.Time) (Card, error)

// DecideWith decides a request with a text that waits behind it; the decision is on disk then. Of
// the answer, Then takes the text out of its queue before the hook hears of it. ErrLeft of Then:
// the text has left the queue, and nothing is decided. Other errors: ErrOver and ErrNotNow.
func (a *Requests) DecideWith(ctx context.Context, id string, text Text,
	turn TextTurn) (chat.Answer, error) {
	r, open := a.find(id)
	switch {
	case !open:
		return chat.Answer{}, ErrOver
	case !r.giving.CompareAndSwap(false, true):
		return chat.Answer{}, ErrNotNow
	}
	given := func() { r.giving.Store(false); pause.Poke(r.wake) }
	before, c, err := r.change(ctx, func(c Card) (Card, error) {
		next, err := turn(c, text.By, text.Words, text.Key, a.Chat.Now())
		next.Text = text.Message
		return next, err
	})
	if err != nil {
		given()
		return chat.Answer{}, err
	}
	a.Chat.At("ask-denied-with")
	return chat.Answer{Then: func(ctx context.Context) error {
		defer given()
		err := r.withdraw(ctx, c)
		if err == nil {
			return nil
		}
		return errors.Join(err, r.turn(ctx, func(now Card) Card { // as it was
			undone := before
			undone.AllShown, undone.Conversation = now.AllShown, now.Conversation
			return undone
		}))
	}}, nil
}

// LateText says why a request is not decided by a text that waited.
func (a *Requests) LateText(id string) string {
	return a.late(id) + "\n" + a.Chat.Words.Say(i18n.AskTooLate)
}
