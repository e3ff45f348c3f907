package ask

import (
	"context"
	"errors"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// tap is a tap on the card of a request. It counts whoever of the allowed people taps.
func (a *Requests) tap(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	r, open := a.find(t.Card.Key)
	if !open {
		return chat.Answer{Text: a.late(t.Card.Key)}, nil
	}
	next, effect, err := r.take(ctx, t)
	switch {
	case errors.Is(err, ErrStale):
		return chat.Answer{Text: a.Chat.Words.Say(i18n.AskChanged)}, nil
	case errors.Is(err, ErrOver), errors.Is(err, ErrNotNow):
		return chat.Answer{Text: a.late(r.id)}, nil
	case err != nil:
		return chat.Answer{}, err
	case effect == SendDecision:
		return chat.Answer{Text: a.cutText(next, t.From), Then: func(ctx context.Context) error {
			defer r.end(&r.giving)
			return r.hand(ctx, next)
		}}, nil
	case effect == ShowAll && r.begin(&r.reading):
		r.tell(func(n *pending) { n.all = &t })
	}
	if next.State == StateAway {
		return chat.Do(func(context.Context) error { r.free(next); return nil })
	}
	return chat.Answer{}, nil
}

// hand gives a decision to its hook, and has the goroutine look what comes of it.
func (r *request) hand(ctx context.Context, c Card) error {
	if err := r.give(ctx, c); err != nil {
		return err
	}
	r.tell(func(n *pending) { n.look = true })
	return nil
}

// begin says whether something that is done once at a time begins now.
func (r *request) begin(what *bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	began := !*what
	*what = true
	return began
}

func (r *request) end(what *bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*what = false
}

// late says to a person whose tap changes nothing what was decided, or is to be done first.
func (a *Requests) late(id string) string {
	c, ok := a.Store.Get(id)
	if !ok {
		return a.Chat.Words.Say(i18n.StaleButton)
	}
	if text := a.viewer().Status(c); !text.Blank() {
		return text.Text
	}
	return a.Chat.Words.Say(i18n.AskChanged)
}

// cutText is what a person is told who has ended another's writing.
func (a *Requests) cutText(c Card, by int64) string {
	if c.Missed.By == 0 || c.Missed.By == by {
		return ""
	}
	return a.Chat.Words.Say(i18n.AskWriterCut)
}

// take makes the request what the tap says, on disk and in the chat. The hook has not heard of it then.
func (r *request) take(ctx context.Context, t chat.Tap) (Card, Effect, error) {
	verb, rest, some := strings.Cut(t.Card.Option, ":")
	var args []string
	if some {
		args = strings.Split(rest, ":")
	}
	now := r.of.Chat.Now()
	next, effect, err := r.decide(ctx, t.From, func(c Card) (Card, Effect, error) {
		if c.Conversation != t.To {
			return c, None, ErrStale // it has moved
		}
		next, effect, err := Tap(c, t.From, verb, args, now)
		if effect == AskWhy && t.To.ChatID != t.From { // others read it, too
			next.Why.Name = t.Name
		}
		return next, effect, err
	})
	if err == nil && effect == AskWhy {
		err = r.of.onlyFor(ctx, next, t.From)
	}
	return next, effect, err
}

// decide changes the request by what a person does. A decision is on disk then, and shown when it
// is known whether a hook takes it; while r.giving nobody else gives it to the hook.
func (r *request) decide(ctx context.Context, by int64, turn func(Card) (Card, Effect, error)) (Card, Effect, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, open := r.get()
	if !open {
		return c, None, ErrOver
	}
	next, effect, err := turn(c)
	if err != nil {
		r.showLocked(ctx, c) // as it is by now
		return c, effect, err
	}
	if c.Why != nil && c.Why.By != by && next.Why == nil {
		next = Miss(next, c.Why.By, r.of.Chat.Now())
	}
	if effect != SendDecision {
		next, err = r.becomeLocked(ctx, c, next)
		return next, effect, err
	}
	if err := r.of.Store.Save(next); err != nil {
		return c, None, err
	}
	r.giving, r.due = true, true
	return next, effect, nil
}

// TextTurn decides a request with a text that waits: DenyWith or AnswerWith.
type TextTurn func(c Card, by int64, text, prompt string, now time.Time) (Card, Effect, error)

// DecideWith decides a request with a text that waits behind it: the decision is on disk, then the
// text leaves its queue, then the hook hears of it. chat.IsGone of the error: the request is over,
// or the text has left its queue, and nothing is decided with it.
func (a *Requests) DecideWith(ctx context.Context, id string, by int64, text inbox.Entry,
	turn TextTurn) error {
	r, open := a.find(id)
	if !open {
		return errors.Join(ErrOver, inbox.ErrNoEntry)
	}
	var before Card
	c, _, err := r.decide(ctx, by, func(c Card) (Card, Effect, error) {
		before = c
		next, effect, err := turn(c, by, text.Text, text.Key, a.Chat.Now())
		next.Text = text.MessageID
		return next, effect, err
	})
	switch {
	case errors.Is(err, ErrOver), errors.Is(err, ErrNotNow):
		return errors.Join(err, inbox.ErrNoEntry)
	case err != nil:
		return err
	}
	a.Chat.At("ask-denied-with")
	defer r.end(&r.giving)
	if err := r.withdraw(ctx, c); err != nil {
		return errors.Join(err, r.turn(ctx, func(now Card) Card { // as it was
			undone := before
			undone.AllShown, undone.Conversation = now.AllShown, now.Conversation
			return undone
		}))
	}
	return r.hand(ctx, c)
}

// showAll sends everything that a request says while it is open. Only when Telegram has taken all
// of it can the request be allowed; then its message comes again below, so that the buttons are
// where the reading ends.
func (f *follower) showAll(ctx context.Context, t chat.Tap) {
	defer f.end(&f.reading)
	c, _ := f.get()
	for _, part := range f.of.viewer().All(c) {
		if now, open := f.get(); !open || now.State != StateOpen || ctx.Err() != nil {
			return
		}
		_, err := f.of.Send(ctx, outbox.Message{To: t.To, Text: part, ReplyTo: t.Message, Silent: true, Session: f.session})
		if err == nil {
			continue
		}
		if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
			f.of.Chat.Log.Warn("ask_not_shown", "request", f.id, "error", err.Error())
			err = f.of.Chat.For(f.session).Say(ctx, t.To, f.of.Chat.Words.Say(i18n.AskNotShown))
		}
		if ctx.Err() == nil {
			f.note(err)
		}
		return
	}
	f.note(f.shownAll(ctx, t.To))
}

// shownAll closes the message above what was shown, and has it come again below.
func (f *follower) shownAll(ctx context.Context, to outbox.Conversation) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, open := f.get()
	if !open || c.State != StateOpen || c.Conversation != to {
		return nil
	}
	c.AllShown = true
	if err := f.of.Store.Save(c); err != nil {
		return err
	}
	below := render.Plain(f.of.Chat.Words.Say(i18n.AskSeeBelow, i18n.Args{"Name": f.of.NameOf(c)}))
	if err := f.of.cards.Close(ctx, f.id, below); err != nil {
		return err
	}
	f.showLocked(ctx, c)
	return nil
}
