package bot

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/internal/logkey"
)

// Tap answers a tap, and gives what the tap asks for then. No feature answers a tap itself.
func (b *Bot) Tap(ctx context.Context, u *models.Update) (then func(context.Context) error, err error) {
	q := u.CallbackQuery
	m, old := q.Message.Message, q.Message.InaccessibleMessage
	if old != nil { // Telegram does not say any more in which topic the message stands, so nothing is done
		m = &models.Message{Chat: old.Chat}
	}
	if m == nil || !b.Hears(q.From.ID, m.Chat) {
		return nil, nil
	}
	to, message := b.inside(m)
	b.noteLanguage(&q.From, m.Chat)
	if old != nil || b.Chats.Aliases.Lost(to.ChatID, message) {
		b.Sender.Answer(ctx, to, q.ID, b.In(to).Say(i18n.StaleButton), true)
		return nil, nil
	}
	b.unpark(ctx, to.ChatID)
	b.Topics.Note(to.ChatID, m)
	t := chat.Tap{From: q.From.ID, To: to, Message: message}
	a := chat.Answer{Text: b.In(to).Say(i18n.StaleButton)} // a message that has other buttons by now keeps them
	var owner chat.Feature
	if hasButton(m, q.Data) {
		var ok bool
		t.Card, ok = b.Cards.Tap(ctx, t.To, t.Message, q.Data)
		owner = b.room(func(f chat.Feature) bool { return f.Cards[t.Card.Kind] != nil })
		err = b.call(owner.Name, "tap", func() (err error) { a, err = b.answerTap(ctx, owner, t, ok); return err })
	}
	if err != nil {
		return nil, err // which is told as the answer
	}
	b.Sender.Answer(ctx, t.To, q.ID, a.Fit().Text, a.Alert)
	if a.Then == nil {
		return nil, nil
	}
	return func(ctx context.Context) error {
		err := b.call(owner.Name, "tap", func() error { return a.Then(ctx) })
		if err != nil && ctx.Err() == nil { // the tap has its answer
			if err := b.Explain(ctx, t.To, b.In(t.To).Internal(err)); err != nil {
				b.Log.Error("tap_not_explained", logkey.Error, err.Error())
			}
		}
		return nil
	}, nil
}

// answerTap does what a tapped option says; ok says that the option is still drawn. A tap on what is
// not does nothing: the card was drawn again, and what is of no card loses its buttons.
func (b *Bot) answerTap(ctx context.Context, owner chat.Feature, t chat.Tap, ok bool) (chat.Answer, error) {
	stale := chat.Answer{Text: b.In(t.To).Say(i18n.StaleButton)}
	switch late := owner.Late[t.Card.Kind]; {
	case t.Card.Kind == "":
		stale.Then = func(ctx context.Context) error {
			if err := b.Sender.EditButtons(ctx, t.To, t.Message, nil); !chat.IsRefused(err) {
				return err
			}
			return nil // the message is gone, or too old to be edited
		}
	case ok && t.Card.For != 0 && t.Card.For != t.From:
		return chat.Answer{Text: b.In(t.To).Say(i18n.NotForYou)}, nil
	case ok && owner.Cards != nil:
		return owner.Cards[t.Card.Kind](ctx, t)
	case late != nil:
		stale.Text = cmp.Or(late(t), stale.Text)
	}
	return stale, nil
}

// hasButton reports whether a message has a button with these data, as Telegram has the message: an
// app may send any data for any message of the bot's.
func hasButton(m *models.Message, data string) bool {
	if m.ReplyMarkup == nil {
		return false
	}
	asked := func(one models.InlineKeyboardButton) bool { return one.CallbackData == data }
	return slices.ContainsFunc(slices.Concat(m.ReplyMarkup.InlineKeyboard...), asked)
}

// unpark hears that somebody in a chat has written or tapped: it takes messages again, and gets
// what it missed.
func (b *Bot) unpark(ctx context.Context, chatID int64) {
	parked := b.Sender.Parked(chatID)
	b.Sender.Unpark(chatID)
	if !parked {
		return
	}
	b.Cards.Reachable(ctx, chatID)
	_ = b.each("unparked", func(f chat.Feature) error {
		if f.Unparked != nil {
			f.Unparked(chatID)
		}
		return nil
	})
}
