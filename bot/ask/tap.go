package ask

import (
	"cmp"
	"context"
	"errors"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/pause"
)

// tap is a tap on the card of a request. It counts whoever of the allowed people taps. What it
// decides is on disk when it is answered; the request's goroutine gives it to the hook.
func (a *Requests) tap(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	r, open := a.find(t.Card.Key)
	if !open {
		return chat.Answer{Text: a.late(t)}, nil
	}
	old, next, err := r.change(ctx, func(c Card) (Card, error) {
		if c.Conversation != t.To {
			return c, errNotNow // it has moved
		}
		return Tap(c, t.From, t.Card.Option, a.Chat.Now())
	})
	said := ""
	switch {
	case errors.Is(err, errOver), errors.Is(err, errNotNow):
		return chat.Answer{Text: a.late(t)}, nil
	case err != nil:
		return chat.Answer{}, err
	case next.Why != nil:
		err = a.giveUp(ctx, func(c Card) bool { // the next text belongs to one request alone
			return c.Why.By == t.From && c.Conversation == next.Conversation && c.Request.ID != next.Request.ID
		})
		if err == nil && !a.isMeant(next) { // what is written next is for this session
			said = "→ " + glyph.Name(a.NameOf(next))
			err = a.Chat.Book.MakeCurrent(ctx, t.To, r.session)
		}
	case t.Card.Option == verbAll:
		a.mu.Lock()
		r.startLocked(func(ctx context.Context) { r.showAll(ctx, t) })
		a.mu.Unlock()
	}
	return chat.Answer{Text: said, Then: func(ctx context.Context) error {
		r.free(ctx, old, next)
		pause.Poke(r.wake)
		return nil
	}}, err
}

// late says to a person whose tap changes nothing what was decided, or is to be done first.
func (a *Requests) late(t chat.Tap) string {
	c, ok := a.Store.Get(t.Card.Key)
	if !ok {
		return a.Chat.In(t.To).Say(i18n.StaleButton)
	}
	return cmp.Or(a.viewer(t.To).status(c, judge(c)).Text, a.Chat.In(t.To).Say(i18n.AskChanged))
}

// DecideWith answers a request with a text that waits behind it, or denies the request with the text
// as the reason: the decision is on disk, then the text leaves its queue, then the hook hears of it.
// chat.IsGone of the error: the request is over, or the text has left its queue, and nothing is
// decided with it.
func (a *Requests) DecideWith(ctx context.Context, id string, text inbox.Entry, by int64,
	answer bool) error {
	turn := denyWith
	if answer {
		turn = answerWith
	}
	r, open := a.find(id)
	if !open || !r.giving.CompareAndSwap(false, true) {
		return errors.Join(errOver, inbox.ErrNoEntry)
	}
	given := func() { r.giving.Store(false); pause.Poke(r.wake) }
	before, c, err := r.change(ctx, func(c Card) (Card, error) {
		next, err := turn(c, by, text.Text, text.Key, a.Chat.Now())
		next.Text = text.MessageID
		return next, err
	})
	if err != nil {
		given()
		if errors.Is(err, errOver) || errors.Is(err, errNotNow) {
			err = errors.Join(err, inbox.ErrNoEntry)
		}
		return err
	}
	a.Chat.At("ask-denied-with")
	defer given()
	if err := r.withdraw(ctx, c); err != nil {
		return errors.Join(err, r.turn(ctx, func(now Card) Card { // as it was
			undone := before
			undone.AllShown, undone.Conversation = now.AllShown, now.Conversation
			return undone
		}))
	}
	return nil
}
