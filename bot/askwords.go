package bot

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/internal/session"
)

// hear takes a text that a card waits for: the reason of a denial, or an answer
// in the person's own words. Commands go where they always go. The card notes
// the text's key, because after a crash the text comes again.
func (a *asks) hear(ctx context.Context, in chat.Incoming, text string) (taken bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, again := a.Asks.ByPrompt(in.Key); again && c.Conversation == in.To && a.Now().Sub(c.Request.Asked) < askKeep {
		a.lookLocked(c.Request.Session, false)
		return true, nil
	}
	if strings.HasPrefix(text, "/") {
		return false, nil
	}
	c, ok := a.awaits(in)
	r, answers, _ := a.Answered(in.Message)
	switch {
	case answers && (!ok || c.Request.Session != r.ID):
		return false, nil // it says itself whose it is
	case !ok:
		return a.strayed(ctx, in, text)
	case !answers && !a.isMeant(c):
		return false, a.becomeLocked(ctx, c, ask.GiveUp(c))
	}
	next, effect := ask.Say(c, in.From, text, a.Now())
	if effect == ask.None {
		return false, nil
	}
	next.Prompt, next.Text = in.Key, in.MessageID
	if err := a.putLocked(ctx, c, next, effect); err != nil {
		return false, err
	}
	a.At("ask-heard")
	a.Sender.React(ctx, in.To, in.MessageID, chat.ReactionStored)
	a.lookLocked(c.Request.Session, false) // which gives the decision to the hook
	return true, nil
}

// awaits finds the card that waits for a person's text.
func (a *asks) awaits(in chat.Incoming) (ask.Card, bool) {
	for _, c := range a.Asks.Unsettled() {
		if c.Conversation == in.To && c.Awaits(in.From, a.Now()) {
			return c, true
		}
	}
	return ask.Card{}, false
}

// isMeant says whether a text in a card's conversation may be meant for it: its
// session is the current one there, or the only one that is shown there.
func (a *asks) isMeant(c ask.Card) bool {
	r, ok := a.Records.Get(c.Request.Session)
	if !ok {
		return false
	}
	return a.IsCurrent(c.Conversation, r) || c.Conversation.ThreadID != 0 && r.Conversation == c.Conversation
}

// heed ends the wait for a text that came too late, or is not meant for the card
// any more.
func (a *asks) heed(c ask.Card) ask.Card {
	switch {
	case c.Why == nil:
		return c
	case !a.isMeant(c):
		return ask.GiveUp(c)
	case c.Overdue(a.Now()):
		return ask.Miss(ask.GiveUp(c), c.Why.By, a.Now())
	}
	return c
}

// onlyFor makes sure that a person's next text belongs to one card alone.
func (a *asks) onlyFor(ctx context.Context, but ask.Card, person int64) error {
	return a.giveUpLocked(ctx, func(c ask.Card) bool {
		return c.Why.By == person && c.Conversation == but.Conversation && c.Request.ID != but.Request.ID
	})
}

// switched hears that another session is the current one of a conversation: what
// people write there is meant for that one.
func (a *asks) switched(ctx context.Context, to session.Conversation, id uuid.UUID) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.giveUpLocked(ctx, func(c ask.Card) bool { return c.Conversation == to && c.Request.Session != id })
}

// giveUpLocked ends the wait for a text of some of the cards that wait for one.
func (a *asks) giveUpLocked(ctx context.Context, which func(ask.Card) bool) error {
	for _, c := range a.Asks.Unsettled() {
		if c.Why == nil || !which(c) {
			continue
		}
		if err := a.becomeLocked(ctx, c, ask.GiveUp(c)); err != nil {
			return err
		}
	}
	return nil
}
