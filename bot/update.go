package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
)

// Handle does what one message asks for; rest are the other messages of its album. It is called at
// least once for each: a message may come again after a crash.
func (b *Bot) Handle(ctx context.Context, key string, u *models.Update, rest ...*models.Update) error {
	if u == nil || u.Message == nil && u.EditedMessage == nil {
		return nil
	}
	m := cmp.Or(u.Message, u.EditedMessage)
	if taken, err := b.Moves.Take(m); taken {
		return err
	}
	if place, _ := b.inside(m); m.ForumTopicReopened != nil && b.InGroup(m.Chat.ID) {
		b.unpark(ctx, place.ChatID) // a fact, whoever has done it
	}
	if m.From == nil || !b.Hears(m.From.ID, m.Chat) {
		return nil
	}
	b.At("accepted")
	b.noteLanguage(m.From, m.Chat)
	in := b.incomingOf(key, m)
	b.unpark(ctx, in.To.ChatID)
	b.Topics.Note(in.To.ChatID, m)
	command, args, text, foreign := b.parse(in, m)
	switch {
	case u.Message == nil:
		return b.Prompts.Edited(ctx, in, m, text, command.Run == nil && !foreign)
	case foreign:
		return nil
	case m.Text == "" && quotation.IsService(m):
		return b.Topics.Changed(ctx, in, m)
	case m.Text == "":
		b.Browser.Note(&in)
		return b.Prompts.Files(ctx, in, append([]*models.Update{u}, rest...))
	case command.Run == nil:
		return b.offer(ctx, in, text)
	case command.Now:
		if told, err := b.Prompts.TooLate(ctx, in, command.Name); told || err != nil {
			return err
		}
	}
	return command.Run(ctx, in, args)
}

// noteLanguage keeps in which language a person has Telegram: in the person's own chat the bot speaks
// it. A group has no language of one person's.
func (b *Bot) noteLanguage(from *models.User, in models.Chat) {
	if from.LanguageCode == "" || in.Type != models.ChatTypePrivate || b.Settings(in.ID).Telegram == from.LanguageCode {
		return
	}
	if err := b.Chats.Set(in.ID, func(s *conversation.Settings) { s.Telegram = from.LanguageCode }); err != nil {
		b.Log.Warn("language_not_noted", logkey.ChatID, in.ID, logkey.Error, err.Error())
		return
	}
	b.Spoken()
}

// inside gives the place of a message, and the number that the message has there.
func (b *Bot) inside(m *models.Message) (to address.Conversation, message int) {
	to = inbox.ConversationOf(m)
	to.ChatID, message = b.Chats.Aliases.In(m.Chat.ID, m.ID)
	return to, message
}

func (b *Bot) incomingOf(key string, m *models.Message) chat.Incoming {
	place, message := b.inside(m)
	in := chat.Incoming{Message: conversation.Message{To: place}, Key: key, From: m.From.ID,
		MessageID: message, Sent: time.Unix(int64(m.Date), 0), Quoted: quotation.Source(m) != ""}
	if to := m.ReplyToMessage; to != nil {
		_, in.ReplyTo = b.Chats.Aliases.In(cmp.Or(to.Chat.ID, m.Chat.ID), to.ID)
		// what opens a topic is "answered" by all messages of the topic
		in.OfBot = to.From != nil && to.From.IsBot && to.ForumTopicCreated == nil && strings.EqualFold(to.From.Username, b.Username)
	}
	return in
}

// parse reads a message: a command of ours, without Run where there is none, or something for another
// bot, or a text for the agent, with nothing changed but our own name cut out. The words of others are
// no command, and so is a caption.
func (b *Bot) parse(in chat.Incoming, m *models.Message) (c chat.Command, args, text string, foreign bool) {
	text = quotation.Text(m)
	if in.Quoted || m.Text == "" {
		return c, "", text, false
	}
	name, to, rest := quotation.Command(text)
	if ours := to == "" || strings.EqualFold(to, b.Username); !ours {
		return c, "", text, in.To.ChatID != in.From && quotation.IsForBot(name, to)
	}
	if to != "" {
		text = "/" + name + rest
	}
	return b.commands[name], strings.TrimSpace(rest), text, false
}

// offer gives a text to the first feature that takes it.
func (b *Bot) offer(ctx context.Context, in chat.Incoming, text string) error {
	for _, f := range b.Rooms {
		if f.Text == nil {
			continue
		}
		if taken, err := f.Text(ctx, &in, text); taken || err != nil {
			return err
		}
	}
	return nil
}

// Unkept gives what can be done about a message that the disk does not take: a command that has an
// answer without the disk is answered, once. nil: nothing.
func (b *Bot) Unkept(u *models.Update) func(ctx context.Context) error {
	m := u.Message
	if m == nil || m.From == nil || !b.Hears(m.From.ID, m.Chat) {
		return nil
	}
	in := b.incomingOf("", m)
	c, _, _, _ := b.parse(in, m)
	if c.Unkept == nil {
		return nil
	}
	return func(ctx context.Context) error {
		for _, part := range outbox.Parts(outbox.Message{To: in.To, Text: c.Unkept(ctx, in.To)}) {
			if _, err := b.Sender.Send(ctx, part); err != nil {
				return err
			}
		}
		return nil
	}
}

// UpdateFailed tells a person that a message of theirs was set aside, or has to wait.
func (b *Bot) UpdateFailed(ctx context.Context, f inbox.Failure) error {
	if !b.IsAllowed(f.From) || !b.MayShow(f.Conversation) {
		return nil
	}
	word, tell := i18n.UpdateFailed, b.Fail
	if f.Update != nil && f.Update.EditedMessage != nil { // the message itself may be where it belongs
		tell = b.Warn
	}
	switch {
	case f.Tap:
		if word = i18n.InternalError; f.Late {
			word = i18n.TapLate
		}
		if f.Update != nil && f.Update.CallbackQuery != nil {
			b.Sender.Answer(ctx, f.Conversation, f.Update.CallbackQuery.ID, b.In(f.Conversation).Say(word), true)
		}
		return nil
	case f.Waits:
		word, tell = i18n.PromptWaits, b.Warn
	case f.Unreadable:
		word = i18n.Unreadable
	}
	return tell(ctx, f.Conversation, f.MessageID, render.Plain(b.In(f.Conversation).Say(word)), nil)
}

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
	// An app may send any data for any message of the bot's: what counts are the buttons as Telegram has the message.
	sent := func(one models.InlineKeyboardButton) bool { return one.CallbackData == q.Data }
	if m.ReplyMarkup != nil && slices.ContainsFunc(slices.Concat(m.ReplyMarkup.InlineKeyboard...), sent) {
		var ok bool
		t.Card, ok = b.Cards.Tap(ctx, t.To, t.Message, q.Data)
		if i := slices.IndexFunc(b.Rooms, func(f chat.Feature) bool { return f.Cards[t.Card.Kind] != nil }); i >= 0 {
			owner = b.Rooms[i]
		}
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
