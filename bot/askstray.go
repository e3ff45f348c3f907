package bot

import (
	"context"
	"errors"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// tapStray is the verb of [Send to …] under a text that was held.
const tapStray = "st"

// strayed takes a text that was being written for a card when something else ended
// it: typed as a prompt it would say something that nobody asked. It is held until
// its writer says what it is; the note in the inbox makes that outlast a restart.
func (a *asks) strayed(ctx context.Context, in chat.Incoming, text string) (taken bool, err error) {
	c, ok := a.missed(in)
	if !ok {
		return false, nil
	}
	r, ok, err := a.CurrentSession(in.To)
	typed, class, some := lifecycle.Normalise(text)
	if err != nil || !ok || !some || !r.State.Live() {
		return false, err // it cannot be typed anyway, which is said
	}
	e, err := a.Entries.Load(in.Key)
	if err != nil {
		return false, err
	}
	e.Session, e.Conversation, e.MessageID = r.ID, in.To, in.MessageID
	e.Text, e.Class, e.State = typed, string(class), inbox.Unproven // never typed unasked
	if err := a.PostMessage(ctx, outbox.Message{To: in.To, ReplyTo: in.MessageID, Session: r.ID,
		Text: render.Plain(a.words.Say(i18n.AskStray, i18n.Args{"Name": a.nameOf(c)})), Buttons: chat.Rows(2,
			outbox.Button{Text: a.words.Say(i18n.ButtonSendTo, i18n.Args{"Name": chat.Head(glyph.Name(r.Name), 30)}),
				Data: ask.Verb + ":" + c.Request.ID + ":" + tapStray + ":" + in.Key, Style: outbox.Primary},
			a.Button(i18n.ButtonDrop, "drop:"+in.Key, ""))}); err != nil {
		return false, err
	}
	if err := a.Entries.Save(e); err != nil {
		return false, err
	}
	next := ask.GiveUp(c)
	next.Missed = ask.Missed{} // the text after this one is a prompt again
	if c.IsOver() {
		return true, a.Asks.Save(next)
	}
	return true, a.becomeLocked(ctx, c, next)
}

// missed finds the card that a person was writing for when it ended.
func (a *asks) missed(in chat.Incoming) (ask.Card, bool) {
	for _, c := range a.Asks.List() {
		if c.Conversation == in.To && c.Misses(in.From, a.Now()) {
			return c, true
		}
	}
	return ask.Card{}, false
}

// tapStray types a text that was held after all.
func (a *asks) tapStray(t chat.Tap) (chat.Answer, error) {
	if len(t.Args) != 3 {
		return a.Stale(t)
	}
	e, err := a.Entries.Load(t.Args[2])
	if errors.Is(err, inbox.ErrNoEntry) || err == nil && (e.State != inbox.Unproven || e.Typing != nil || e.Conversation != t.To) {
		return a.Stale(t)
	}
	if err != nil {
		return chat.Answer{}, err
	}
	r, ok := a.Records.Get(e.Session)
	if !ok || !r.State.Live() {
		return a.alert(i18n.AlreadyEnded, i18n.Args{"Name": r.Name})
	}
	return chat.Do(func(ctx context.Context) error { return a.queueStray(ctx, t, e, r) })
}

func (a *asks) queueStray(ctx context.Context, t chat.Tap, e inbox.Entry, r session.Record) error {
	if err := a.MoveTo(ctx, t.To, r); err != nil { // the answer comes to where the text came from
		return err
	}
	e.State, e.Told = inbox.Held, nil
	if err := a.Entries.Save(e); err != nil {
		return err
	}
	if err := a.Sessions.Queue(ctx, r.ID, e.Key); err != nil {
		e.State = inbox.Unproven
		return errors.Join(err, a.Entries.Save(e))
	}
	a.Sender.React(ctx, e.Conversation, e.MessageID, chat.ReactionStored)
	return a.Replace(ctx, t, a.words.Say(i18n.SendAfter, i18n.Args{"Name": r.Name}))
}
