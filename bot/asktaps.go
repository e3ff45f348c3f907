package bot

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// tapAsk is a tap on the message of a permission request. It counts in the
// conversation where the request is shown, whoever of the allowed people taps.
func (b *Bot) tapAsk(ctx context.Context, t tapEvent) error {
	a := b.asks
	c, ok := a.tapped(t)
	if !ok || len(t.args) < 2 {
		return b.stale(ctx, t)
	}
	switch t.args[1] {
	case tapStray:
		return a.tapStray(ctx, t)
	case tapAnswerWith:
		return a.tapAnswerWith(ctx, t)
	}
	next, effect, err := a.take(ctx, t)
	if err == nil && effect == ask.SendDecision {
		defer a.unbusy(c.Request.ID)
	}
	if c.Message > 0 && c.Message != t.message { // it was sent twice, in a crash
		if err := b.spend(ctx, t); err != nil {
			return err
		}
	}
	switch {
	case err != nil:
		return a.notTaken(ctx, t, next, err)
	case effect == ask.SendDecision:
		return a.decided(ctx, t, next)
	case effect == ask.ShowAll:
		a.showAll(ctx, t, next)
		return nil
	case effect == ask.AskWhy:
		b.Sender.Answer(ctx, t.to, t.query, b.words.Say(i18n.AskWriteNow), false)
		return nil
	}
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	return nil
}

// tapped is the card of a button, if the tap is in its conversation.
func (a *asks) tapped(t tapEvent) (ask.Card, bool) {
	if len(t.args) == 0 {
		return ask.Card{}, false
	}
	c, ok := a.Asks.Get(t.args[0])
	return c, ok && c.Conversation == t.to
}

// take makes the card what the tap says, on disk and in the chat. The hook has
// not heard of it then.
func (a *asks) take(ctx context.Context, t tapEvent) (ask.Card, ask.Effect, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, _ := a.Asks.Get(t.args[0])
	next, effect, err := ask.Tap(c, t.from, t.args[1], t.args[2:], a.Now())
	if err != nil {
		a.showLocked(ctx, c) // as it is by now
		return c, effect, err
	}
	if c.Message == unseen {
		next.Message = t.message // the tap says which one it is
	}
	if c.Why != nil && c.Why.By != t.from && next.Why == nil {
		next = ask.Miss(next, c.Why.By, a.Now())
	}
	if effect == ask.AskWhy {
		if t.to.ChatID != t.from { // others read it, too
			next.Why.Name = t.name
		}
		if err := a.onlyFor(ctx, next, t.from); err != nil {
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
func (a *asks) notTaken(ctx context.Context, t tapEvent, c ask.Card, why error) error {
	switch {
	case errors.Is(why, ask.ErrOver), errors.Is(why, ask.ErrNotNow):
		text := a.viewer().Status(c) // what was decided, or is to be done first
		if text.Blank() {
			text = render.Plain(a.words.Say(i18n.AskShowFirst))
		}
		a.toast(ctx, t, text)
	case errors.Is(why, ask.ErrStale):
		a.Sender.Answer(ctx, t.to, t.query, a.words.Say(i18n.AskChanged), false)
	default:
		return why
	}
	return nil
}

// toast answers a tap with a text that goes away by itself.
func (a *asks) toast(ctx context.Context, t tapEvent, text render.Text) {
	if parts := text.Split(alertLimit); len(parts) > 0 {
		text = parts[0]
	}
	a.Sender.Answer(ctx, t.to, t.query, text.Text, false)
}

// decided gives the decision of a card, which is on disk, to its hook.
func (a *asks) decided(ctx context.Context, t tapEvent, c ask.Card) error {
	c, err := a.give(ctx, c)
	switch {
	case err != nil:
		return err
	case c.State == ask.StateSent && c.Given.IsZero(): // it goes out when the hook redials
		a.toast(ctx, t, a.viewer().Status(c))
	case c.Missed.By != 0 && c.Missed.By != t.from:
		a.toast(ctx, t, render.Plain(a.words.Say(i18n.AskWriterCut)))
	default:
		a.Sender.Answer(ctx, t.to, t.query, "", false)
	}
	a.look(c.Request.Session, false)
	return nil
}

// showAll lets everything that a request says be sent, one delivery at a time.
func (a *asks) showAll(ctx context.Context, t tapEvent, c ask.Card) {
	a.Sender.Answer(ctx, t.to, t.query, "", false)
	if !a.beginShow(c.Request.ID) {
		return
	}
	a.parts.add(t.to, func(ctx context.Context) {
		defer a.endShow(c.Request.ID)
		a.note(a.deliverAll(ctx, t, c), c.Request.ID)
	})
}

// deliverAll sends it while the request is open. Only when Telegram has taken all
// of it can the request be allowed; then its message comes again below, so that
// the buttons are where the reading ends.
func (a *asks) deliverAll(ctx context.Context, t tapEvent, c ask.Card) error {
	for _, part := range a.viewer().All(c) {
		if now, ok := a.Asks.Get(c.Request.ID); !ok || now.State != ask.StateOpen || ctx.Err() != nil {
			return nil
		}
		_, err := a.Sender.Send(ctx, outbox.Message{To: t.to, Text: part, ReplyTo: t.message, Silent: true, Session: c.Request.Session})
		if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
			a.Log.Warn("ask_not_shown", "request", c.Request.ID, "error", err.Error())
			return a.For(c.Request.Session).Say(ctx, t.to, a.words.Say(i18n.AskNotShown))
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
	return edited(a.Sender.Edit(ctx, old.Conversation, old.Message, outbox.Message{To: old.Conversation, Text: below}))
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
func (b *Bot) tapSendAfter(ctx context.Context, t tapEvent) error {
	e, err := b.unproven(t)
	if err != nil {
		return b.stale(ctx, t)
	}
	if err := b.asks.freeNotice(e.Session, e.Key); err != nil {
		return err
	}
	r, _ := b.Records.Get(e.Session)
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	return b.replace(ctx, t, b.words.Say(i18n.SendAfter, i18n.Args{"Name": r.Name}))
}

// unbusy lets others give a card's decision to its hook.
func (a *asks) unbusy(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, id)
}
