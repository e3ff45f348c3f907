package bot

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/hooks"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// tapAsk is a tap on the message of a permission request. It counts in the
// conversation where the request is shown, whoever of the allowed people taps.
func (b *Bot) tapAsk(ctx context.Context, t tapEvent) error {
	a := b.asks
	c, ok := a.tapped(t)
	if !ok || len(t.args) < 2 {
		return b.stale(ctx, t)
	}
	defer a.unbusy(c.Request.ID)
	next, effect, err := a.take(ctx, t)
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
		return a.showAll(ctx, t, next)
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
	if effect == ask.AskWhy {
		if err := a.forgetWhy(ctx, next, t.from); err != nil {
			return c, ask.None, err
		}
	}
	a.busy[c.Request.ID] = effect == ask.SendDecision
	return next, effect, a.becomeLocked(ctx, c, next)
}

// forgetWhy makes sure that a person's next text belongs to one card alone.
func (a *asks) forgetWhy(ctx context.Context, but ask.Card, person int64) error {
	for _, c := range a.unsettled() {
		if c.Why == nil || c.Why.By != person || c.Conversation != but.Conversation || c.Request.ID == but.Request.ID {
			continue
		}
		next := c
		next.Why = nil
		if err := a.becomeLocked(ctx, c, next); err != nil {
			return err
		}
	}
	return nil
}

// notTaken says why a tap changes nothing.
func (a *asks) notTaken(ctx context.Context, t tapEvent, c ask.Card, why error) error {
	switch {
	case errors.Is(why, ask.ErrOver), errors.Is(why, ask.ErrNotNow):
		text := a.viewer().Status(c) // what was decided, or is to be done first
		if text.Blank() {
			text = plain(a.words.Say(i18n.AskShowFirst))
		}
		a.alertText(ctx, t, text)
	case errors.Is(why, ask.ErrStale):
		a.Sender.Answer(ctx, t.to, t.query, a.words.Say(i18n.AskChanged), false)
	default:
		return why
	}
	return nil
}

// decided gives the decision of a card, which is on disk, to its hook.
func (a *asks) decided(ctx context.Context, t tapEvent, c ask.Card) error {
	err := a.give(c)
	switch {
	case err == nil:
		a.Sender.Answer(ctx, t.to, t.query, "", false)
	case errors.Is(err, hooks.ErrNotWaiting): // it goes out when the hook redials
		a.alert(ctx, t, i18n.AskOnItsWay)
	default:
		return err
	}
	a.look(c.Request.Session, false)
	return nil
}

// showAll sends everything that a request says. Only when Telegram has taken all
// of it can the request be allowed.
func (a *asks) showAll(ctx context.Context, t tapEvent, c ask.Card) error {
	a.Sender.Answer(ctx, t.to, t.query, "", false)
	for _, part := range a.viewer().All(c) {
		_, err := a.Sender.Send(ctx, outbox.Message{To: t.to, Text: part, ReplyTo: t.message, Silent: true})
		if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
			a.Log.Warn("ask_not_shown", "request", c.Request.ID, "error", err.Error())
			return a.say(ctx, t.to, a.words.Say(i18n.AskNotShown))
		}
		if err != nil {
			return err
		}
	}
	return a.become(ctx, c.Request.ID, func(c ask.Card) ask.Card {
		c.AllShown = true
		return c
	})
}

// hear takes a text that a card waits for: the reason of a denial, or an answer
// in the person's own words. Commands go where they always go. The card notes
// the text's key, because after a crash the text comes again.
func (a *asks) hear(ctx context.Context, in incoming, text string) (taken bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok, again := a.waitsFor(in)
	if again {
		a.lookLocked(c.Request.Session, false)
		return true, nil
	}
	if !ok || strings.HasPrefix(text, "/") {
		return false, nil
	}
	next, effect := ask.Say(c, in.from, text, a.Now())
	if effect == ask.None {
		return false, nil
	}
	next.Prompt = in.key
	if err := a.becomeLocked(ctx, c, next); err != nil {
		return false, err
	}
	a.at("ask-heard")
	a.Sender.React(ctx, in.to, in.message, reactionStored)
	a.lookLocked(c.Request.Session, false) // which gives the decision to the hook
	return true, nil
}

// waitsFor finds the card that a person's text belongs to; again says that it
// was heard already.
func (a *asks) waitsFor(in incoming) (c ask.Card, ok, again bool) {
	for _, one := range a.Asks.List() {
		if one.Conversation != in.to {
			continue
		}
		if one.Prompt == in.key && a.Now().Sub(one.Request.Asked) < askKeep {
			return one, true, true
		}
		if !ok && one.Awaits(in.from) {
			c, ok = one, true
		}
	}
	return c, ok, false
}

// openAsk is the newest request of a session that a person may decide in a
// conversation.
func (b *Bot) openAsk(id uuid.UUID, to session.Conversation) (ask.Card, bool) {
	cards := b.asks.cardsOf(id)
	for _, c := range slices.Backward(cards) {
		if c.State == ask.StateOpen && c.Conversation == to {
			return c, true
		}
	}
	return ask.Card{}, false
}

// tellHeldDialog says that a prompt waits behind a dialog. Behind a request that
// the chat shows it may as well be the reason to deny it.
func (b *Bot) tellHeldDialog(ctx context.Context, n lifecycle.Note) error {
	e, err := b.Entries.Load(n.Prompt.Key)
	if err != nil {
		return err
	}
	c, ok := b.behind(e)
	if !ok {
		return b.reply(ctx, n, b.words.Say(i18n.HeldDialog, i18n.Args{"Name": n.Session.Name}))
	}
	return b.offer(ctx, e, n.Session.Name, c)
}

// behind is the request that a prompt waits behind, and that it may be the reason
// to deny.
func (b *Bot) behind(e inbox.Entry) (ask.Card, bool) {
	if e.Class != string(lifecycle.ClassPrompt) {
		return ask.Card{}, false
	}
	return b.openAsk(e.Session, e.Conversation)
}

// offer says that a prompt waits behind a request, under it.
func (b *Bot) offer(ctx context.Context, e inbox.Entry, name string, c ask.Card) error {
	text := b.words.Say(i18n.HeldAsk, i18n.Args{"Name": name, "Tool": clipEnd(visible(c.Request.Tool), 60)})
	return b.postUnder(ctx, outbox.Message{To: e.Conversation, Text: plain(text), ReplyTo: e.MessageID, Silent: true, Buttons: rows(2,
		b.button(i18n.ButtonDenyWith, "dw:"+c.Request.ID+":"+e.Key, outbox.Danger),
		b.button(i18n.ButtonSendAfter, "sa:"+e.Key, ""))})
}

// tapSendAfter lets a prompt wait, as it does anyway.
func (b *Bot) tapSendAfter(ctx context.Context, t tapEvent) error {
	_, id, err := b.unproven(t)
	if err != nil {
		return b.stale(ctx, t)
	}
	r, _ := b.Records.Get(id)
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	return b.replace(ctx, t, b.words.Say(i18n.SendAfter, i18n.Args{"Name": r.Name}))
}

// tapDenyWith denies a request with a prompt that waits behind it. The prompt
// leaves the queue before the hook hears of it. One that has left already was
// typed: then nothing is denied.
func (b *Bot) tapDenyWith(ctx context.Context, t tapEvent) error {
	a := b.asks
	before, ok := a.tapped(t)
	if !ok || len(t.args) != 2 {
		return b.stale(ctx, t)
	}
	e, err := b.Entries.Load(t.args[1])
	if errors.Is(err, inbox.ErrNoEntry) || err == nil && (e.State != inbox.Held || e.Session != before.Request.Session) {
		return b.stale(ctx, t)
	}
	if err != nil {
		return err
	}
	defer a.unbusy(before.Request.ID)
	c, err := a.denyWith(ctx, t, e)
	if errors.Is(err, ask.ErrOver) || errors.Is(err, ask.ErrNotNow) || errors.Is(err, ask.ErrStale) || isGone(err) {
		b.alert(ctx, t, i18n.AskTooLate)
		return b.spend(ctx, t)
	}
	if err != nil {
		return err
	}
	if err := a.decided(ctx, t, c); err != nil {
		return err
	}
	return b.replace(ctx, t, b.words.Say(i18n.DeniedWith, i18n.Args{"Name": a.nameOf(c)}))
}

// denyWith puts the denial on disk, then takes the prompt out of the queue. Where
// that cannot be done, the request is as it was.
func (a *asks) denyWith(ctx context.Context, t tapEvent, e inbox.Entry) (ask.Card, error) {
	before, c, err := a.denial(ctx, t, e)
	if err != nil {
		return c, err
	}
	a.at("ask-denied-with")
	if err := a.withdraw(ctx, c); err != nil {
		undone := a.become(ctx, c.Request.ID, func(now ask.Card) ask.Card {
			undo := before
			undo.Message, undo.AllShown = now.Message, now.AllShown
			return undo
		})
		return c, errors.Join(err, undone)
	}
	return c, nil
}

// denial is the first half of denyWith. The card is busy from then on.
func (a *asks) denial(ctx context.Context, t tapEvent, e inbox.Entry) (before, c ask.Card, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, _ = a.Asks.Get(t.args[0])
	c, _, err = ask.DenyWith(before, t.from, e.Text, e.Key, a.Now())
	if err != nil {
		return before, before, err
	}
	if err := a.becomeLocked(ctx, before, c); err != nil {
		return before, before, err
	}
	a.busy[c.Request.ID] = true
	return before, c, nil
}

// unbusy lets others give a card's decision to its hook.
func (a *asks) unbusy(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, id)
}

// dialogGone hears that the terminal does not ask any more what it asked.
func (b *Bot) dialogGone(ctx context.Context, n lifecycle.Note) error {
	return errors.Join(b.asks.dialogGone(ctx, n.Session.ID), b.dialogs.close(ctx, n.Session.ID))
}

// closeOver ends what waits for an answer of a session that is over.
func (b *Bot) closeOver(ctx context.Context, n lifecycle.Note) error {
	switch n.Kind {
	case lifecycle.NoteReady: // what was shown of its start is not there any more
		return b.dialogs.close(ctx, n.Session.ID)
	case lifecycle.NoteEnded, lifecycle.NoteLost, lifecycle.NoteStopped, lifecycle.NoteFailed:
		b.asks.look(n.Session.ID, true)
		return b.dialogs.close(ctx, n.Session.ID)
	}
	return nil
}
