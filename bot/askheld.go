package bot

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/lifecycle"
)

// tapAnswerWith is the verb of [Answer with this].
const tapAnswerWith = "aw"

// behind is the request that a prompt waits behind, and that it may be the reason
// to deny.
func (b *Bot) behind(e inbox.Entry) (ask.Card, bool) {
	if e.Class != string(lifecycle.ClassPrompt) {
		return ask.Card{}, false
	}
	return b.openAsk(e.Session, e.Conversation)
}

// offer says that a prompt waits behind a request, under it. Until a person has
// decided about it this is said once: the other prompts wait, too.
func (a *asks) offer(e inbox.Entry, id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.Asks.Get(id)
	if !ok || c.State != ask.StateOpen || c.Notice.Prompt != "" {
		return nil
	}
	c.Notice = ask.Notice{Prompt: e.Key, Under: e.MessageID}
	if err := a.Asks.Save(c); err != nil {
		return err
	}
	a.sendNotice(c)
	return nil
}

// sendNotice sends what offer says, if that is not in the chat yet.
func (a *asks) sendNotice(c ask.Card) {
	if c.Notice.Prompt != "" && c.Notice.Message == 0 {
		a.lanes.add(c.Conversation, func(ctx context.Context) { a.deliverNotice(ctx, c.Request.ID) })
	}
}

func (a *asks) deliverNotice(ctx context.Context, id string) {
	c, ok := a.Asks.Get(id)
	if !ok || c.State != ask.StateOpen || c.Notice.Message != 0 {
		return
	}
	sent, err := a.deliverMessage(ctx, a.notice(c))
	if err != nil {
		a.Log.Warn("notice_not_sent", "request", id, "error", err.Error())
	}
	if sent == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok = a.Asks.Get(id); !ok {
		return
	}
	c.Notice.Message = sent
	if err := a.Asks.Save(c); err != nil {
		a.Log.Error("ask_not_saved", "request", id, "error", err.Error())
	}
	if c.IsOver() {
		a.closeNotice(ctx, c)
	}
}

func (a *asks) notice(c ask.Card) outbox.Message {
	id, key := c.Request.ID, c.Notice.Prompt
	what := a.words.Say(i18n.HeldAskPermission, i18n.Args{"Tool": chat.Head(glyph.Name(c.Request.Tool), 60)})
	switch {
	case c.Request.IsQuestion():
		what = a.words.Say(i18n.HeldAskQuestion)
	case c.Request.IsPlan():
		what = a.words.Say(i18n.HeldAskPlan)
	}
	var buttons []outbox.Button
	if c.OneLeft() {
		buttons = append(buttons, a.Button(i18n.ButtonAnswerWith, ask.Verb+":"+id+":"+tapAnswerWith+":"+key, outbox.Success))
	}
	buttons = append(buttons, a.Button(i18n.ButtonDenyWith, "dw:"+id+":"+key, outbox.Danger), a.Button(i18n.ButtonSendAfter, "sa:"+key, ""))
	return outbox.Message{To: c.Conversation, Text: render.Plain(a.words.Say(i18n.HeldAsk, i18n.Args{"Name": a.nameOf(c), "What": what})),
		ReplyTo: c.Notice.Under, Silent: true, Session: c.Request.Session, Buttons: chat.Rows(2, buttons...)}
}

// closeNotice says under a text that it waits no more, once its request is over.
// One that became the reason, or the answer, has been told so.
func (a *asks) closeNotice(ctx context.Context, c ask.Card) {
	n := c.Notice
	if n.Message <= 0 || n.Prompt == c.Prompt || !a.MayShow(c.Conversation) {
		return
	}
	key := i18n.HeldAskOver
	if c.Outcome.What == ask.Ended {
		key = i18n.HeldAskEnded
	}
	if e, err := a.Entries.Load(n.Prompt); err != nil || e.State != inbox.Held {
		key = i18n.HeldAskGone
	}
	m := outbox.Message{To: c.Conversation, Text: render.Plain(a.words.Say(key))}
	if err := a.Sender.Edit(ctx, c.Conversation, n.Message, m); err != nil {
		a.Log.Debug("edit_failed", "error", err.Error())
	}
}

// freeNotice lets the next text be offered: a person has decided about this one.
func (a *asks) freeNotice(session uuid.UUID, key string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.cardsOf(session) {
		if c.Notice.Prompt != key {
			continue
		}
		c.Notice = ask.Notice{}
		if err := a.Asks.Save(c); err != nil {
			return err
		}
	}
	return nil
}

// tapDenyWith denies a request with a prompt that waits behind it. The prompt
// leaves the queue before the hook hears of it. One that has left already was
// typed: then nothing is denied.
func (b *Bot) tapDenyWith(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	if len(t.Args) != 2 {
		return b.Stale(t)
	}
	return b.asks.tapWith(ctx, t, t.Args[1], i18n.DeniedWith, ask.DenyWith)
}

// tapAnswerWith answers a question with a prompt that waits behind it.
func (a *asks) tapAnswerWith(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	if len(t.Args) != 3 {
		return a.Stale(t)
	}
	return a.tapWith(ctx, t, t.Args[2], i18n.AnsweredWith, ask.AnswerWith)
}

func (a *asks) tapWith(ctx context.Context, t chat.Tap, key string, said i18n.Key, turn textTurn) (chat.Answer, error) {
	card, ok := a.tapped(t)
	if !ok {
		return a.Stale(t)
	}
	e, err := a.Entries.Load(key)
	if errors.Is(err, inbox.ErrNoEntry) || err == nil && (e.State != inbox.Held || e.Session != card.Request.Session) {
		return a.Stale(t)
	}
	if err != nil {
		return chat.Answer{}, err
	}
	before, c, err := a.noteDecision(ctx, t, e, turn)
	switch {
	case errors.Is(err, ask.ErrOver), errors.Is(err, ask.ErrNotNow):
		text := render.Join(a.viewer().Status(c), render.Plain("\n"+a.words.Say(i18n.AskTooLate)))
		return chat.Answer{Text: text.Text, Alert: true, Then: func(ctx context.Context) error { return a.Spend(ctx, t) }}, nil
	case err != nil:
		return chat.Answer{}, err
	}
	a.At("ask-denied-with")
	answer := a.decided(t, c)
	give := answer.Then
	answer.Then = func(ctx context.Context) error {
		defer a.unbusy(c.Request.ID)
		switch err := a.withdrawFor(ctx, before, c); {
		case isGone(err): // the prompt was typed
			return a.Overtaken(ctx, t)
		case err != nil:
			return err
		}
		if err := give(ctx); err != nil {
			return err
		}
		return a.Replace(ctx, t, a.words.Say(said, i18n.Args{"Name": a.nameOf(c)}))
	}
	return answer, nil
}

// textTurn decides a card with a text that waits.
type textTurn func(c ask.Card, by int64, text, prompt string, now time.Time) (ask.Card, ask.Effect, error)

// withdrawFor takes the prompt that became a reason out of the queue. Where that cannot be done, the
// request is as it was.
func (a *asks) withdrawFor(ctx context.Context, before, c ask.Card) error {
	err := a.withdraw(ctx, c)
	if err == nil {
		return nil
	}
	defer a.unbusy(c.Request.ID)
	return errors.Join(err, a.become(ctx, c.Request.ID, func(now ask.Card) ask.Card {
		undo := before
		undo.Message, undo.AllShown, undo.Notice = now.Message, now.AllShown, now.Notice
		return undo
	}))
}

// noteDecision puts a decision with a text on disk. Where it succeeds, the card is busy from then on.
func (a *asks) noteDecision(ctx context.Context, t chat.Tap, e inbox.Entry, turn textTurn) (before, c ask.Card, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, _ = a.Asks.Get(t.Args[0])
	c, effect, err := turn(before, t.From, e.Text, e.Key, a.Now())
	if err != nil {
		return before, before, err
	}
	c.Text = e.MessageID
	if w := before.Why; w != nil && w.By != t.From {
		c = ask.Miss(c, w.By, a.Now())
	}
	if err := a.putLocked(ctx, before, c, effect); err != nil {
		return before, before, err
	}
	a.busy[c.Request.ID] = true
	return before, c, nil
}
