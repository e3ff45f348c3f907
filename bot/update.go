package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
)

// Handle does what one message asks for; rest are the other messages of its album. It is called at
// least once for each: a message may come again after a crash.
func (b *Bot) Handle(ctx context.Context, key string, u *models.Update, rest ...*models.Update,
) error {
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
	in, command, args, text, foreign := b.read(key, m)
	b.heardFrom(ctx, m.From, m, in.To.ChatID)
	switch {
	case u.Message == nil:
		return b.Prompts.Edited(ctx, in, m, text, command.Run == nil && !foreign)
	case foreign:
		return nil
	case m.Text == "" && quotation.IsService(m):
		return b.Topics.Changed(ctx, in, m)
	case command.Run == nil:
		return b.offer(ctx, in, text, append([]*models.Update{u}, rest...))
	case command.Now:
		if told, err := b.Prompts.TooLate(ctx, in, command.Name); told || err != nil {
			return err
		}
	}
	return command.Run(ctx, in, args)
}

// heardFrom hears that an allowed person has written or tapped: the chat takes messages again, and
// gets what it missed. In the person's own chat the bot speaks the language of the Telegram there.
func (b *Bot) heardFrom(ctx context.Context, who *models.User, m *models.Message, place int64) {
	b.unpark(ctx, place)
	b.Topics.Note(place, m)
	if err := b.NoteLanguage(m.Chat, who.LanguageCode); err != nil {
		b.Log.Warn("language_not_noted", logkey.ChatID, m.Chat.ID, logkey.Error, err.Error())
	}
}

// unpark hears that a chat takes messages again.
func (b *Bot) unpark(ctx context.Context, chatID int64) {
	parked := b.Sender.Parked(chatID)
	if b.Sender.Unpark(chatID); parked {
		b.Cards.Reachable(ctx, chatID)
		_ = b.each("unparked", func(f chat.Feature) error { f.Unparked(chatID); return nil })
	}
}

// inside gives the place of a message, and the number that the message has there.
func (b *Bot) inside(m *models.Message) (to outbox.Conversation, message int) {
	to = inbox.ConversationOf(m)
	to.ChatID, message = b.Aliases.In(m.Chat.ID, m.ID)
	return to, message
}

// read reads a message: where it is, who has written it and what it answers; a command of ours,
// without Run where there is none, or something for another bot, or a text for the agent, with
// nothing changed but our own name cut out. Words of others are no command, and so is a caption.
func (b *Bot) read(key string, m *models.Message) (
	in chat.Incoming, c chat.Command, args, text string, foreign bool) {
	in = chat.Incoming{Key: key, From: m.From.ID, Sent: time.Unix(int64(m.Date), 0),
		Quoted: quotation.Source(m) != ""}
	in.To, in.MessageID = b.inside(m)
	if to := m.ReplyToMessage; to != nil {
		_, in.ReplyTo = b.Aliases.In(cmp.Or(to.Chat.ID, m.Chat.ID), to.ID)
		// what opens a topic is "answered" by all messages of the topic
		in.OfBot = to.From != nil && to.From.IsBot && to.ForumTopicCreated == nil &&
			strings.EqualFold(to.From.Username, b.Username)
	}
	text = quotation.Text(m)
	if in.Quoted || m.Text == "" {
		return in, c, "", text, false
	}
	name, to, rest := quotation.Command(text)
	if ours := to == "" || strings.EqualFold(to, b.Username); !ours {
		return in, c, "", text, in.To.ChatID != in.From && quotation.IsForBot(name, to)
	}
	if to != "" {
		text = "/" + name + rest
	}
	return in, b.commands[name], strings.TrimSpace(rest), text, false
}

// offer gives a text to the first feature that takes it, and files to the prompts.
func (b *Bot) offer(ctx context.Context, in chat.Incoming, text string, us []*models.Update) error {
	for _, f := range b.Rooms {
		f.Note(&in)
	}
	if us[0].Message.Text == "" {
		return b.Prompts.Files(ctx, in, us)
	}
	for _, f := range b.Rooms {
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
	in, c, _, _, _ := b.read("", m)
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
	to, word, tell := f.Conversation, i18n.UpdateFailed, b.Fail
	switch {
	case !b.IsAllowed(f.From), !b.MayShow(to):
		return nil
	case f.Tap:
		if word = i18n.InternalError; f.Late {
			word = i18n.TapLate
		}
		b.Sender.Answer(ctx, to, f.Update.CallbackQuery.ID, b.In(to).Say(word), true)
		return nil
	case f.Waits:
		word, tell = i18n.PromptWaits, b.Warn
	case f.Unreadable:
		word = i18n.Unreadable
	case f.Update != nil && f.Update.EditedMessage != nil: // the message may be where it belongs
		tell = b.Warn
	}
	return tell(ctx, to, f.MessageID, render.Plain(b.In(to).Say(word)), nil)
}

// maxAnswer is Telegram's limit of the answer to a tap.
const maxAnswer = 200

// Tap answers a tap, and gives what the tap asks for then. No feature answers a tap itself.
func (b *Bot) Tap(ctx context.Context, u *models.Update) (func(context.Context) error, error) {
	q := u.CallbackQuery
	m, old := q.Message.Message, q.Message.InaccessibleMessage
	if old != nil { // Telegram does not say any more in which topic it stands, so nothing is done
		m = &models.Message{Chat: old.Chat}
	}
	if m == nil || !b.Hears(q.From.ID, m.Chat) {
		return nil, nil
	}
	t := chat.Tap{From: q.From.ID}
	t.To, t.Message = b.inside(m)
	var owner chat.Feature
	a := chat.Answer{Text: b.In(t.To).Say(i18n.StaleButton), Alert: true}
	if old == nil && !b.Aliases.Lost(t.To.ChatID, t.Message) {
		b.heardFrom(ctx, &q.From, m, t.To.ChatID)
		var err error
		if owner, a, err = b.decide(ctx, &t, m, q.Data); err != nil {
			return nil, err // which is told as the answer
		}
	}
	b.Sender.Answer(ctx, t.To, q.ID, render.Plain(a.Text).Begin(maxAnswer).Text, a.Alert)
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

// decide has the owner of the tapped card decide what the option says. A tap on what is not drawn
// any more does nothing: the card was drawn again, and what is of no card loses its buttons.
func (b *Bot) decide(ctx context.Context, t *chat.Tap, m *models.Message, data string) (
	owner chat.Feature, a chat.Answer, err error) {
	a.Text = b.In(t.To).Say(i18n.StaleButton)
	// An app may send any data for any message of the bot's: the buttons that Telegram has count.
	sent := func(one models.InlineKeyboardButton) bool { return one.CallbackData == data }
	if k := m.ReplyMarkup; k == nil || !slices.ContainsFunc(slices.Concat(k.InlineKeyboard...), sent) {
		return owner, a, nil // a message that has other buttons by now keeps them
	}
	var drawn bool
	t.Card, drawn = b.Cards.Tap(ctx, t.To, t.Message, data)
	kind := t.Card.Kind
	for _, f := range b.Rooms {
		if f.Cards[kind] != nil {
			owner = f
		}
	}
	err = b.call(owner.Name, "tap", func() (err error) {
		switch late := owner.Late[kind]; {
		case kind == "":
			a.Then = func(ctx context.Context) error {
				b.Sender.DropButtons(ctx, t.To, t.Message)
				return nil
			}
		case drawn && t.Card.For != 0 && t.Card.For != t.From:
			a.Text = b.In(t.To).Say(i18n.NotForYou)
		case drawn && owner.Cards != nil:
			a, err = owner.Cards[kind](ctx, *t)
		case late != nil:
			a.Text = cmp.Or(late(*t), a.Text)
		}
		return err
	})
	return owner, a, err
}

// Run shows what agents answer and ask until ctx ends. A feature that crashes is told once, and
// runs again after a while; the others run on.
func (b *Bot) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, f := range append([]chat.Feature{{Name: "cards", Run: b.Cards.Run}}, b.Rooms...) {
		tell := sync.OnceFunc(func() {
			if err := b.WarnAll(ctx, i18n.FeatureCrashed, i18n.Args{"Feature": f.Name}); err != nil {
				b.Log.Warn("crash_not_told", logkey.Feature, f.Name, logkey.Error, err.Error())
			}
		})
		g.Go(func() error {
			return guard.Keep(ctx, func() error { return f.Run(ctx) }, func(p *guard.Panic) {
				b.logPanic(f.Name, "run", p)
				tell()
			})
		})
	}
	return g.Wait()
}

// Forget takes away what is kept of a session that is itself forgotten.
func (b *Bot) Forget(ctx context.Context, id uuid.UUID) error {
	return errors.Join(b.Cards.Forget(ctx, id), b.Book.Forget(id),
		b.each("forget", func(f chat.Feature) error { return f.Forget(ctx, id) }))
}

// each tells all features, whatever becomes of one.
func (b *Bot) each(where string, tell func(f chat.Feature) error) (err error) {
	for _, f := range b.Rooms {
		err = errors.Join(err, b.call(f.Name, where, func() error { return tell(f) }))
	}
	return err
}

// call calls a feature. A crash of it is logged with its stack, and is an error.
func (b *Bot) call(feature, where string, do func() error) error {
	err := guard.Call(do)
	if p, crashed := errors.AsType[*guard.Panic](err); crashed {
		b.logPanic(feature, where, p)
	}
	return err
}

func (b *Bot) logPanic(feature, where string, p *guard.Panic) {
	b.Log.Error("feature_crashed", logkey.Feature, feature, logkey.Where, where,
		logkey.Panic, fmt.Sprint(p.Value), logkey.Stack, p.Stack)
}

// SessionNews tells the chat what happened to a session. What it tells is on disk when it returns.
// News that a feature crashes at are told as an error of ours: told again, the feature would crash
// again, and the session would wait for it.
func (b *Bot) SessionNews(ctx context.Context, s views.Session, n news.News) error {
	teller, known := b.tellers[reflect.TypeOf(n)]
	if !known {
		return fmt.Errorf("unknown news %T", n)
	}
	for _, f := range append(slices.Clone(b.Rooms), teller) {
		err := b.call(f.Name, "news", func() error { return f.Heard(ctx, s, n) })
		if _, crashed := errors.AsType[*guard.Panic](err); crashed {
			to := s.Conversation
			err = b.Post(ctx, card.Look{To: to, Session: s.ID, Text: render.Plain(chat.Warning + b.In(to).Say(i18n.InternalError))})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Sent hears which message the chat has, of a session or of none. One that has waited since before
// its session was forgotten names it no more.
func (b *Bot) Sent(m outbox.Message, id int) {
	if _, known := b.Records.Get(m.Session); !known && m.Session != uuid.Nil {
		m.Session = uuid.Max
	}
	if err := b.NoteMessage(m.To, id, m.Session); err != nil {
		b.Log.Warn("message_not_noted", logkey.ChatID, m.To.ChatID, logkey.Error, err.Error())
	}
}
