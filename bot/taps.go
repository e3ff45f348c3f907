package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"ccbot/lifecycle"
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
	t.Card = tapped
	if do, known := b.cards[tapped.Kind]; ok && known {
		return do(ctx, t)
	}
	text := ""
	if late, known := b.late[tapped.Kind]; known {
		text = late(t)
	}
	return chat.Answer{Text: cmp.Or(text, b.words.Say(i18n.StaleButton))}, nil
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

// tell says under a tapped message what came of the tap.
func (b *Bot) tell(ctx context.Context, t chat.Tap, key i18n.Key, args ...i18n.Args) error {
	return b.Tell(ctx, t, b.words.Say(key, args...))
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

func (b *Bot) tapAgain(_ context.Context, t chat.Tap) (chat.Answer, error) {
	if e, err := b.entryOf(t); err == nil && e.State != inbox.Unproven { // a double tap
		return b.Stale(t)
	}
	return b.decide(t, func(ctx context.Context, e inbox.Entry) error {
		if e.State != inbox.Unproven {
			return fs.ErrNotExist
		}
		b.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionStored) // before: what comes of it marks it next
		err := b.Sessions.SendAgain(ctx, e.Session, e.Key)
		if err != nil {
			b.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
		}
		return err
	}, i18n.SentAgain)
}

// tapAnyway types a prompt although a person's draft is in the box. What stood there comes as news.
func (b *Bot) tapAnyway(_ context.Context, t chat.Tap) (chat.Answer, error) {
	return b.decide(t, func(ctx context.Context, e inbox.Entry) error {
		return b.Sessions.SendAnyway(ctx, e.Session, e.Key)
	}, i18n.SentAnyway)
}

func (b *Bot) tapDrop(_ context.Context, t chat.Tap) (chat.Answer, error) {
	return b.decide(t, func(ctx context.Context, e inbox.Entry) error {
		err := b.Sessions.Drop(ctx, e.Session, e.Key)
		if err == nil {
			b.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
		}
		return err
	}, i18n.Dropped)
}

// decide carries out a person's decision on a prompt that waits for one.
func (b *Bot) decide(t chat.Tap, do func(context.Context, inbox.Entry) error, said i18n.Key) (chat.Answer, error) {
	e, err := b.entryOf(t)
	switch {
	case isGone(err):
		return b.Stale(t)
	case err != nil:
		return chat.Answer{}, err
	}
	return chat.Do(func(ctx context.Context) error {
		r, _ := b.Records.Get(e.Session)
		name := i18n.Args{"Name": r.Name}
		switch err := do(ctx, e); {
		case isGone(err):
			return b.Overtaken(ctx, t)
		case errors.Is(err, lifecycle.ErrNoAgent):
			return b.tell(ctx, t, i18n.AlreadyEnded, name)
		case errors.Is(err, lifecycle.ErrBoxBusy):
			return b.tell(ctx, t, i18n.BoxBusy, name)
		case errors.Is(err, lifecycle.ErrDraftHidden):
			return b.tell(ctx, t, i18n.DraftHidden, name)
		case err != nil:
			return err
		}
		return b.Replace(ctx, t, fmt.Sprintf("%s\n\n%s", t.Text, b.words.Say(said, name)))
	})
}
