package bot

import (
	"context"
	"errors"

	"ccbot/bot/ask"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// strayKind is that of the cards which ask about a text that was written for something that is
// over. The key of a card is that of the text in the inbox.
const strayKind = "stray"

// The options of such a card.
const (
	straySend = "send"
	strayDrop = "drop"
)

// strayTexts are texts that were being written for a request when something else ended it: typed as a
// prompt such a text would say something that nobody asked. It is held until its writer says what it is.
type strayTexts struct {
	*Bot
	cards card.Kind[struct{}]
}

func newStrayTexts(b *Bot) *strayTexts {
	return &strayTexts{Bot: b, cards: card.NewKind[struct{}](b.Deps.Cards, strayKind, nil)}
}

// hearText offers a text to the requests.
func (s *strayTexts) hearText(ctx context.Context, in chat.Incoming, text string) (taken bool, err error) {
	taken, missed, err := s.asks.Hear(ctx, in, text)
	if missed == nil || taken || err != nil {
		return taken, err
	}
	r, ok, err := s.CurrentSession(in.To)
	typed, class, some := prompts.Normalise(text)
	if err != nil || !ok || !some || !r.Live {
		return false, err // it cannot be typed anyway, which is said
	}
	e, err := s.Entries.Load(in.Key)
	if err != nil {
		return false, err
	}
	e.Session, e.Conversation, e.MessageID = r.ID, in.To, in.MessageID
	e.Text, e.Class, e.State = typed, string(class), inbox.Unproven // never typed unasked
	if err := s.cards.Show(ctx, e.Key, s.look(e, r, *missed), struct{}{}); err != nil {
		return false, err
	}
	if err := s.Entries.Save(e); err != nil {
		return false, err
	}
	return true, s.asks.Caught(ctx, missed.Request.ID)
}

func (s *strayTexts) look(e inbox.Entry, r views.Session, missed ask.Card) card.Look {
	send := s.words.Say(i18n.ButtonSendTo, i18n.Args{"Name": chat.Head(glyph.Name(r.Name), 30)})
	return card.Look{To: e.Conversation, ReplyTo: e.MessageID, Session: r.ID,
		Text: render.Plain(s.words.Say(i18n.AskStray, i18n.Args{"Name": s.asks.NameOf(missed)})),
		Options: [][]card.Option{{{Text: send, Value: straySend, Style: outbox.Primary},
			{Text: s.words.Say(i18n.ButtonDrop), Value: strayDrop}}}}
}

// closeDone closes cards that a kill left open after their texts were decided. A text that is only
// accepted comes again.
func (s *strayTexts) closeDone(ctx context.Context) {
	for _, one := range s.cards.List() {
		e, err := s.Entries.Load(one.Key)
		if err != nil && !errors.Is(err, inbox.ErrNoEntry) || err == nil && (e.State == inbox.Accepted || isStray(e)) {
			continue
		}
		if err := s.cards.Close(ctx, one.Key, render.Text{}); err != nil {
			s.Log.Error("stray_not_closed", "key", one.Key, "error", err.Error())
		}
	}
}

// isStray says whether a text is still held until its writer says what it is.
func isStray(e inbox.Entry) bool { return e.State == inbox.Unproven && e.Typing == nil }

// tapStray types a text that was held after all, or gives it up.
func (s *strayTexts) tapStray(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	e, err := s.Entries.Load(t.Card.Key)
	if errors.Is(err, inbox.ErrNoEntry) || err == nil && (!isStray(e) || e.Conversation != t.To) {
		return chat.Answer{Text: s.words.Say(i18n.StaleButton)}, s.cards.Close(ctx, t.Card.Key, render.Text{})
	}
	if err != nil {
		return chat.Answer{}, err
	}
	r, ok := s.Book.Records.Get(e.Session)
	if t.Card.Option == strayDrop {
		return chat.Do(func(ctx context.Context) error { return s.drop(ctx, t, e, r) })
	}
	if !ok || !r.Live {
		return chat.Answer{Text: s.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name}), Alert: true}, nil
	}
	return chat.Do(func(ctx context.Context) error { return s.queue(ctx, t, e, r) })
}

func (s *strayTexts) queue(ctx context.Context, t chat.Tap, e inbox.Entry, r views.Session) error {
	if err := s.MoveTo(ctx, t.To, r); err != nil { // the answer comes to where the text came from
		return s.failed(ctx, t, r, err)
	}
	err := s.Entries.Change(e.Key, func(now *inbox.Entry) error {
		if !isStray(*now) {
			return inbox.ErrNoEntry
		}
		now.State, now.Told = inbox.Held, nil
		return nil
	})
	switch {
	case chat.IsGone(err): // another tap was quicker
		return s.stale(ctx, t)
	case err != nil:
		return err
	}
	if err := s.Sessions.Queue(ctx, r.ID, e.Key); err != nil {
		undo := s.Entries.Change(e.Key, func(now *inbox.Entry) error {
			if now.State == inbox.Held {
				now.State = inbox.Unproven
			}
			return nil
		})
		return errors.Join(undo, s.failed(ctx, t, r, err))
	}
	s.Sender.React(ctx, e.Conversation, e.MessageID, chat.ReactionStored)
	return s.cards.Close(ctx, e.Key, render.Plain(s.words.Say(i18n.SendAfter, i18n.Args{"Name": r.Name})))
}

func (s *strayTexts) drop(ctx context.Context, t chat.Tap, e inbox.Entry, r views.Session) error {
	switch err := s.Sessions.Drop(ctx, e.Session, e.Key); {
	case chat.IsGone(err):
		return s.stale(ctx, t)
	case err != nil:
		return s.failed(ctx, t, r, err)
	}
	s.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
	return s.cards.Close(ctx, e.Key, render.Plain(t.Text+"\n\n"+s.words.Say(i18n.Dropped, i18n.Args{"Name": r.Name})))
}

// stale says that a text is gone, or decided, and asks about it no more.
func (s *strayTexts) stale(ctx context.Context, t chat.Tap) error {
	return errors.Join(s.Tell(ctx, t, s.words.Say(i18n.StaleButton)), s.cards.Close(ctx, t.Card.Key, render.Text{}))
}

// failed says what a tap could not do; the text is asked about as before.
func (s *strayTexts) failed(ctx context.Context, t chat.Tap, r views.Session, err error) error {
	f := s.Failure(r, err)
	if f.Internal {
		return err
	}
	return s.Tell(ctx, t, f.Text.Text)
}
