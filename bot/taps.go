package bot

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// tap decides what a button says. Its data is "verb:argument:…".
type tap = chat.OnTap

// tapped answers a tap, and then does what the tap asks for. No feature answers a tap itself.
func (b *Bot) tapped(ctx context.Context, q *models.CallbackQuery) error {
	if old := q.Message.InaccessibleMessage; old != nil && b.Hears(q.From.ID, old.Chat) {
		// Telegram does not say any more in which topic the message stands, so nothing is done
		b.Sender.Answer(ctx, session.Conversation{ChatID: old.Chat.ID}, q.ID, b.words.Say(i18n.StaleButton), true)
		return nil
	}
	if q.Message.Message == nil || !b.Hears(q.From.ID, q.Message.Message.Chat) {
		return nil
	}
	m := q.Message.Message
	b.unpark(ctx, m.Chat.ID)
	t := chat.Tap{From: q.From.ID, Name: q.From.FirstName, To: inbox.ConversationOf(m), Message: m.ID, Text: m.Text,
		Buttons: buttonsOf(m)}
	var a chat.Answer
	err := guarded(func() (err error) { a, err = b.answerTap(ctx, t, q.Data); return err })
	if err != nil {
		b.logPanic(q.Data, "tap", err)
		return err // which is told as the answer
	}
	a = a.Fit()
	b.Sender.Answer(ctx, t.To, q.ID, a.Text, a.Alert)
	if a.Then == nil {
		return nil
	}
	if err := guarded(func() error { return a.Then(ctx) }); err != nil && ctx.Err() == nil { // the tap has its answer
		b.logPanic(q.Data, "tap", err)
		return b.Explain(ctx, t.To, b.Internal(err))
	}
	return nil
}

// answerTap finds what a button does. A message that has other buttons by now keeps them; data that
// no button of the message has were made up.
func (b *Bot) answerTap(ctx context.Context, t chat.Tap, data string) (chat.Answer, error) {
	if !hasButton(t.Buttons, data) {
		return chat.Answer{Text: b.words.Say(i18n.StaleButton)}, nil
	}
	if card.IsButton(data) {
		return b.answerCard(ctx, t, data)
	}
	parts := strings.Split(data, ":")
	t.Args = parts[1:]
	do, ok := b.taps[parts[0]]
	if !ok {
		return b.Stale(t)
	}
	return do(ctx, t)
}

// answerCard finds what an option of a card does. A tap on what is not drawn any more does nothing: the
// card is drawn again.
func (b *Bot) answerCard(ctx context.Context, t chat.Tap, data string) (chat.Answer, error) {
	if !b.Deps.Cards.Knows(data) {
		return b.Stale(t)
	}
	tapped, ok := b.Deps.Cards.Tap(ctx, t.To, t.Message, data)
	do, known := b.cards[tapped.Kind]
	if !ok || !known {
		return chat.Answer{Text: b.words.Say(i18n.StaleButton)}, nil
	}
	t.Card = tapped
	return do(ctx, t)
}

// hasButton reports whether a message has a button with these data, as Telegram has the message: an
// app may send any data for any message of the bot's.
func hasButton(rows [][]outbox.Button, data string) bool {
	return slices.ContainsFunc(rows, func(row []outbox.Button) bool {
		return slices.ContainsFunc(row, func(one outbox.Button) bool { return one.Data == data })
	})
}

// alert is an answer that the person has to close.
func (b *Bot) alert(key i18n.Key, args ...i18n.Args) (chat.Answer, error) {
	return chat.Answer{Text: b.words.Say(key, args...), Alert: true}, nil
}

// toast is an answer that goes away by itself.
func (b *Bot) toast(key i18n.Key, args ...i18n.Args) (chat.Answer, error) {
	return chat.Answer{Text: b.words.Say(key, args...)}, nil
}

// buttonsOf are the buttons that a message has.
func buttonsOf(m *models.Message) (rows [][]outbox.Button) {
	if m.ReplyMarkup == nil {
		return nil
	}
	for _, keys := range m.ReplyMarkup.InlineKeyboard {
		var row []outbox.Button
		for _, k := range keys {
			row = append(row, outbox.Button{Text: k.Text, Data: k.CallbackData, Style: outbox.Style(k.Style)})
		}
		rows = append(rows, row)
	}
	return rows
}

// entryOf finds the prompt that a question is about.
func (b *Bot) entryOf(t chat.Tap) (inbox.Entry, error) {
	if len(t.Args) == 0 {
		return inbox.Entry{}, fs.ErrNotExist
	}
	return b.Entries.Load(t.Args[0])
}
