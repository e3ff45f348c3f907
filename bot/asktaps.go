package bot

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// tapAsk is a tap on the message of a permission request. It counts in the
// conversation where the request is shown, whoever of the allowed people taps.
func (b *Bot) tapAsk(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	a := b.asks
	c, ok := a.tapped(t)
	if !ok || len(t.Args) < 2 {
		return b.Stale(t)
	}
	switch t.Args[1] {
	case tapStray:
		return a.tapStray(t)
	case tapAnswerWith:
		return a.tapAnswerWith(ctx, t)
	}
	next, effect, err := a.take(ctx, t)
	answer := chat.Answer{}
	switch {
	case err != nil:
		if answer, err = a.notTaken(next, err); err != nil {
			return answer, err
		}
	case effect == ask.SendDecision:
		answer = a.decided(t, next)
	case effect == ask.ShowAll:
		answer.Then = func(context.Context) error { a.showAll(t, next); return nil }
	case effect == ask.AskWhy:
		answer.Text = b.words.Say(i18n.AskWriteNow)
	}
	if c.Message > 0 && c.Message != t.Message { // it was sent twice, in a crash
		if err := b.Spend(ctx, t); err != nil {
			a.Log.Debug("edit_failed", "error", err.Error())
		}
	}
	return answer, nil
}

// tapped is the card of a button, if the tap is in its conversation.
func (a *asks) tapped(t chat.Tap) (ask.Card, bool) {
	if len(t.Args) == 0 {
		return ask.Card{}, false
	}
	c, ok := a.Asks.Get(t.Args[0])
	return c, ok && c.Conversation == t.To
}

// take makes the card what the tap says, on disk and in the chat. The hook has
// not heard of it then.
func (a *asks) take(ctx context.Context, t chat.Tap) (ask.Card, ask.Effect, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, _ := a.Asks.Get(t.Args[0])
	next, effect, err := ask.Tap(c, t.From, t.Args[1], t.Args[2:], a.Now())
	if err != nil {
		a.showLocked(ctx, c) // as it is by now
		return c, effect, err
	}
	if c.Message == unseen {
		next.Message = t.Message // the tap says which one it is
	}
	if c.Why != nil && c.Why.By != t.From && next.Why == nil {
		next = ask.Miss(next, c.Why.By, a.Now())
	}
	if effect == ask.AskWhy {
		if t.To.ChatID != t.From { // others read it, too
			next.Why.Name = t.Name
		}
		if err := a.onlyFor(ctx, next, t.From); err != nil {
			return c, ask.None, err
		}
	}
	if err := a.putLocked(ctx, c, next, effect); err != nil {
		return c, ask.None, err
	}
	if effect == ask.SendDecision {
		a.busy[c.Request.ID] = true
	}
	return next, effect, nil
}

// notTaken says why a tap changes nothing.
func (a *asks) notTaken(c ask.Card, why error) (chat.Answer, error) {
	switch {
	case errors.Is(why, ask.ErrOver), errors.Is(why, ask.ErrNotNow):
		text := a.viewer().Status(c) // what was decided, or is to be done first
		if text.Blank() {
			return a.toast(i18n.AskShowFirst)
		}
		return chat.Answer{Text: text.Text}, nil
	case errors.Is(why, ask.ErrStale):
		return a.toast(i18n.AskChanged)
	}
	return chat.Answer{}, why
}

// decided gives the decision of a card, which is on disk, to its hook. Until that is done nobody else
// does it.
func (a *asks) decided(t chat.Tap, c ask.Card) chat.Answer {
	answer := chat.Answer{Then: func(ctx context.Context) error {
		defer a.unbusy(c.Request.ID)
		if _, err := a.give(ctx, c); err != nil {
			return err
		}
		a.look(c.Request.Session, false)
		return nil
	}}
	if c.Missed.By != 0 && c.Missed.By != t.From {
		answer.Text = a.words.Say(i18n.AskWriterCut)
	}
	return answer
}

// showAll lets everything that a request says be sent, one delivery at a time.
func (a *asks) showAll(t chat.Tap, c ask.Card) {
	if !a.beginShow(c.Request.ID) {
		return
	}
	a.parts.add(t.To, func(ctx context.Context) {
		defer a.endShow(c.Request.ID)
		a.note(a.deliverAll(ctx, t, c), c.Request.ID)
	})
}

// deliverAll sends it while the request is open. Only when Telegram has taken all
// of it can the request be allowed; then its message comes again below, so that
// the buttons are where the reading ends.
func (a *asks) deliverAll(ctx context.Context, t chat.Tap, c ask.Card) error {
	for _, part := range a.viewer().All(c) {
		if now, ok := a.Asks.Get(c.Request.ID); !ok || now.State != ask.StateOpen || ctx.Err() != nil {
			return nil
		}
		_, err := a.Sender.Send(ctx, outbox.Message{To: t.To, Text: part, ReplyTo: t.Message, Silent: true, Session: c.Request.Session})
		if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
			a.Log.Warn("ask_not_shown", "request", c.Request.ID, "error", err.Error())
			return a.For(c.Request.Session).Say(ctx, t.To, a.words.Say(i18n.AskNotShown))
		}
		if err != nil {
			return ignoringEnd(ctx, err)
		}
	}
	return a.shownAll(ctx, c.Request.ID)
}

// ignoringEnd is err, unless the program ends.
func ignoringEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (a *asks) shownAll(ctx context.Context, id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	old, ok := a.Asks.Get(id)
	if !ok || old.State != ask.StateOpen {
		return nil
	}
	next := old
	next.AllShown, next.Message = true, 0
	if err := a.becomeLocked(ctx, old, next); err != nil || old.Message <= 0 {
		return err
	}
	below := render.Plain(a.words.Say(i18n.AskSeeBelow, i18n.Args{"Name": a.nameOf(old)}))
	return chat.IgnoreRefused(a.Sender.Edit(ctx, old.Conversation, old.Message, outbox.Message{To: old.Conversation, Text: below}))
}

func (a *asks) beginShow(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shows[id] {
		return false
	}
	a.shows[id] = true
	return true
}

func (a *asks) endShow(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.shows, id)
}

// openAsk is the newest request of a session that a person may decide in a
// conversation. A subagent's holds up nothing but the subagent.
func (b *Bot) openAsk(id uuid.UUID, to session.Conversation) (ask.Card, bool) {
	cards := b.asks.cardsOf(id)
	for _, c := range slices.Backward(cards) {
		if c.State == ask.StateOpen && c.Conversation == to && c.Request.SubagentID == "" {
			return c, true
		}
	}
	return ask.Card{}, false
}

// tapSendAfter lets a prompt wait, as it does anyway.
func (b *Bot) tapSendAfter(_ context.Context, t chat.Tap) (chat.Answer, error) {
	e, err := b.entryOf(t)
	if err != nil {
		return b.Stale(t)
	}
	if err := b.asks.freeNotice(e.Session, e.Key); err != nil {
		return chat.Answer{}, err
	}
	r, _ := b.Records.Get(e.Session)
	return chat.Do(func(ctx context.Context) error {
		return b.Replace(ctx, t, b.words.Say(i18n.SendAfter, i18n.Args{"Name": r.Name}))
	})
}

// unbusy lets others give a card's decision to its hook.
func (a *asks) unbusy(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, id)
}
