package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/answer"
	"ccbot/bot/ask"
	"ccbot/bot/browse"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/dialog"
	"ccbot/bot/files"
	"ccbot/bot/health"
	"ccbot/bot/inbox"
	"ccbot/bot/loops"
	"ccbot/bot/modes"
	"ccbot/bot/offer"
	"ccbot/bot/outbox"
	"ccbot/bot/prompt"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/bot/report"
	"ccbot/bot/schedules"
	"ccbot/bot/sessions"
	"ccbot/bot/status"
	"ccbot/bot/writers"
	"ccbot/i18n"
	"ccbot/internal/cuttext"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/internal/sysfault"
	"ccbot/internal/typo"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// Handle does what one message asks for; rest are the other messages of its album or text. It is
// called at least once for each: a message may come again after a crash.
func (b *Bot) Handle(ctx context.Context, key string, u *models.Update, rest ...*models.Update) error {
	switch {
	case u == nil:
		return nil
	case u.MyChatMember != nil && b.IsAllowed(u.MyChatMember.From.ID):
		return later(b.NewGroups.Changed(ctx, key, u.MyChatMember))
	case u.Message == nil && u.EditedMessage == nil:
		return nil
	}
	m := cmp.Or(u.Message, u.EditedMessage)
	if taken, err := b.Moves.Take(m); taken {
		return later(err)
	}
	if place, _ := b.Inside(m); m.ForumTopicReopened != nil && b.InGroup(m.Chat.ID) {
		b.unpark(ctx, place.ChatID) // a fact, whoever has done it
	}
	if m.From == nil || !b.IsAuthorized(m.From.ID, m.Chat) {
		return nil
	}
	b.At("accepted")
	if m.LeftChatMember != nil {
		return later(b.NewGroups.PersonLeft(ctx, m))
	}
	if u.Message != nil && quotation.Refers(m, b.Username) {
		return later(b.refer(ctx, key, m, quotation.Meant(m)))
	}
	in, command, args, text, foreign := b.read(key, m)
	b.findQuestion(ctx, &in, m.ReplyToMessage)
	b.noteActivity(ctx, m.From, m, in.To.ChatID)
	b.noteWriter(u, in.To.ChatID)
	switch {
	case u.Message == nil:
		return later(b.Prompts.Edited(ctx, in, m, text, command.Run == nil && !foreign))
	case foreign:
		return nil
	case m.Text == "" && quotation.IsService(m):
		return later(b.Topics.Changed(ctx, in, m))
	case command.Run == nil:
		if m.Text != "" && len(rest) > 0 {
			text = cuttext.Join(append([]*models.Update{u}, rest...), quotation.Text)
		}
		return later(b.offer(ctx, in, text, append([]*models.Update{u}, rest...)))
	case command.Now:
		if reported, err := b.Prompts.TooLate(ctx, in, command.Name); reported || err != nil {
			return err
		}
	}
	return b.atBorder(ctx, in.From, command.Run(ctx, in, args))
}

// atBorder asks a person whose act would bring a session into a group whether its members may read it.
func (b *Bot) atBorder(ctx context.Context, by int64, err error) error {
	border, is := errors.AsType[*conversation.AtBorder](err)
	if !is {
		return err
	}
	return b.Resumer.AskBorder(ctx, chat.Resume{Session: border.Session, To: border.To, From: by})
}

// later returns an error that makes the inbox retry a text, a file or an edit while a fault of the
// chat's own machine lasts. The later messages of the conversation wait meanwhile, so no other
// machine may cause that. A failed command is reported and not retried: it is meant for now.
func later(err error) error {
	if sysfault.Of(err) == "" || refusal.MachineOf(err) != "" || errors.Is(err, inbox.ErrLater) {
		return err
	}
	return fmt.Errorf("%w: %w", inbox.ErrLater, err)
}

// noteActivity records activity of an allowed person: the chat takes messages again, and gets what
// it missed. In the person's private chat the bot speaks the language of the Telegram there.
func (b *Bot) noteActivity(ctx context.Context, who *models.User, m *models.Message, place int64) {
	b.unpark(ctx, place)
	b.Topics.Note(place, m)
	if err := b.NoteLanguage(m.Chat, who.LanguageCode); err != nil {
		b.Log.Warn("language_not_noted", logkey.ChatID, m.Chat.ID, logkey.Error, err)
	}
	if err := b.NoteName(place, who); err != nil {
		b.Log.Warn("name_not_noted", logkey.ChatID, m.Chat.ID, logkey.Error, err)
	}
}

// unpark is called when a chat takes messages again.
func (b *Bot) unpark(ctx context.Context, chatID int64) {
	if b.Sender.IsSuspended(chatID) {
		b.accepts(ctx, chatID)
	} else {
		b.Sender.Resume(chatID)
	}
}

// accepts lets a chat get messages again, beginning with those that have waited for it.
func (b *Bot) accepts(ctx context.Context, chatID int64) {
	b.Sender.Resume(chatID)
	_ = b.notifyAll("unparked", func(f chat.Feature) bool { return f.OnResumed != nil }, func(f chat.Feature) error { f.OnResumed(ctx, chatID); return nil })
}

// read reads a message: its place, sender and answered message; and its content: a ccbot command,
// without Run if there is none, something for another bot, or a text. A text may begin with a
// command that misspells a ccbot command by one letter.
func (b *Bot) read(key string, m *models.Message) (in chat.Incoming, c chat.Command, args, text string, foreign bool) {
	in = chat.Incoming{Key: key, From: m.From.ID, Sent: quotation.SentAt(m), Quoted: quotation.Source(m) != ""}
	in.Message, in.MessageID = b.Book.Read(m, b.Username)
	if to := m.ReplyToMessage; to != nil && to.From != nil && b.IsAllowed(to.From.ID) && quotation.Source(to) == "" {
		in.Answered = to.Text
	}
	in.Typed, args, text, foreign = quotation.Read(m, b.Username)
	c, ours := b.commands[in.Typed]
	if !ours {
		in.Near = typo.Of(in.Typed, slices.Sorted(maps.Keys(b.commands)))
	}
	return in, c, args, text, foreign
}

// findQuestion finds the question that a message replies to by the buttons that Telegram shows with
// it. The question may have no known id: the answer of the Bot API may be late or lost, also in a
// crash. A message without buttons asks nothing; of earlier forms only pages and questions ask.
func (b *Bot) findQuestion(ctx context.Context, in *chat.Incoming, to *models.Message) {
	if !in.OfBot || to.ReplyMarkup == nil {
		return
	}
	var buttons []string
	for _, button := range slices.Concat(to.ReplyMarkup.InlineKeyboard...) {
		buttons = append(buttons, button.CallbackData)
	}
	q, found := b.Cards.Reply(ctx, in.To, in.ReplyTo, buttons)
	in.Unclear = found && q.Message == 0 && slices.Contains([]string{chat.PageKind, prompt.CardKind}, q.Kind) || !found && !b.Knows(in.To, in.ReplyTo)
	if in.Unclear || !found {
		return
	}
	if in.ReplyTo = cmp.Or(q.Message, in.ReplyTo); b.Knows(in.To, in.ReplyTo) {
		return
	}
	if err := b.Sent(in.To, in.ReplyTo, q.Session); err != nil {
		b.Log.Warn("message_not_noted", logkey.ChatID, in.To.ChatID, logkey.Error, err)
	}
}

// run runs a command for a person who has tapped it, with the message that has misspelt it.
func (b *Bot) run(ctx context.Context, e inbox.Entry, by int64, command string) error {
	var u models.Update
	if err := json.Unmarshal(e.Update, &u); err != nil || u.Message == nil {
		return fmt.Errorf("run /%s for %s: %w", command, e.Key, cmp.Or(err, inbox.ErrNoEntry))
	}
	in, _, args, _, _ := b.read(e.Key, u.Message)
	in.To, in.From = e.Conversation, by
	return b.commands[command].Run(ctx, in, args)
}

// takers name the features that may take a text, in order: a reply to a page, the new name of a
// session, an answer to a request, the folder of a new session. All other texts are prompts, unless
// they are for a person.
var takers = [...]string{chat.PagesName, status.RenameName, ask.FeatureName, browse.FeatureName}

// offer offers a text to each feature until one takes it, and what is left for an agent to the
// prompts.
func (b *Bot) offer(ctx context.Context, in chat.Incoming, text string, us []*models.Update) error {
	in.First = b.Browser.IsFirst(in)
	files := us[0].Message.Text == ""
	for _, name := range takers {
		if take := b.named[name].Text; take != nil && !files {
			if taken, err := take(ctx, &in, text); taken || err != nil {
				return err
			}
		}
	}
	switch {
	case !isAwaited(in) && !b.isPrompt(ctx, in, us):
		return b.tellNotSent(ctx, in)
	case files:
		return b.Prompts.Files(ctx, in, us)
	}
	_, err := b.named[prompt.FeatureName].Text(ctx, &in, text)
	return err
}

// Unkept returns the answer to a message that the disk does not take: a command with an answer that
// needs no disk is answered, once. nil: no answer.
func (b *Bot) Unkept(u *models.Update) func(ctx context.Context) error {
	m := u.Message
	if m == nil || m.From == nil || !b.IsAuthorized(m.From.ID, m.Chat) || !b.Several.IsFor(m) {
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

// UpdateFailed reports to a person that their message was set aside, or has to wait.
func (b *Bot) UpdateFailed(ctx context.Context, f inbox.Failure) error {
	to, word, tell := f.Conversation, i18n.UpdateFailed, b.Fail
	switch {
	case !b.IsAllowed(f.From), !b.MayShow(to):
		return nil
	case f.Tap:
		text := b.In(to).Internal(f.Err).Text.Text
		if f.Late {
			text = b.In(to).Say(i18n.TapLate)
		}
		b.Sender.Answer(ctx, to, f.Update.CallbackQuery.ID, text, true)
		return nil
	case f.Waits:
		word, tell = i18n.PromptWaits, b.Warn
	case f.Unreadable:
		word = i18n.Unreadable
	case f.Update != nil && f.Update.EditedMessage != nil: // the message may be where it belongs
		tell = b.Warn
	}
	text := render.Plain(b.In(to).Say(word))
	if !f.Waits && sysfault.Of(f.Err) != "" {
		text = b.In(to).Internal(f.Err).Text
	}
	return tell(ctx, to, f.MessageID, text, nil)
}

// maxAnswer is Telegram's limit of the answer to a tap.
const maxAnswer = 200

// Tap answers a tap, and returns its action. No feature answers a tap itself.
func (b *Bot) Tap(ctx context.Context, u *models.Update) (func(context.Context) error, error) {
	q := u.CallbackQuery
	m, old := q.Message.Message, q.Message.InaccessibleMessage
	if old != nil { // Telegram no longer has its topic, so nothing is done
		m = &models.Message{Chat: old.Chat}
	}
	if m == nil || !b.IsAuthorized(q.From.ID, m.Chat) {
		return nil, nil
	}
	t := chat.Tap{From: q.From.ID}
	t.To, t.Message = b.Inside(m)
	a := chat.Answer{Text: b.In(t.To).Say(i18n.StaleButton), Alert: true}
	if old == nil && !b.Aliases.Lost(t.To.ChatID, t.Message) {
		b.noteActivity(ctx, &q.From, m, t.To.ChatID)
		var err error
		if a, err = b.decide(ctx, t, m.ReplyMarkup, q.Data); err != nil {
			return nil, err // the answer reports it
		}
	}
	b.Sender.Answer(ctx, t.To, q.ID, render.Plain(a.Text).Begin(maxAnswer).Text, a.Alert)
	return a.Then, nil
}

// decide lets the owner of the tapped card carry out the option. A tap on an earlier form of a card
// does nothing: the card was drawn again. A message without a card loses its buttons.
func (b *Bot) decide(ctx context.Context, t chat.Tap, shown *models.InlineKeyboardMarkup, data string) (a chat.Answer, err error) {
	a.Text = b.In(t.To).Say(i18n.StaleButton)
	// An app may send any data for any message of the bot's: the buttons that Telegram has count.
	sent := func(one models.InlineKeyboardButton) bool { return one.CallbackData == data }
	if shown == nil || !slices.ContainsFunc(slices.Concat(shown.InlineKeyboard...), sent) {
		return a, nil // a message that has other buttons now keeps them
	}
	tapped, drawn := b.Cards.Tap(ctx, t.To, t.Message, data)
	t.Card = tapped
	owner := b.owners[tapped.Kind]
	err = b.call(owner.Name, "tap", func() (err error) {
		switch on, late := owner.Cards[tapped.Kind], owner.Late[tapped.Kind]; {
		case tapped.Kind == "":
			a.Then = func(ctx context.Context) error { b.Sender.DropButtons(ctx, t.To, t.Message); return nil }
		case drawn && tapped.For != 0 && tapped.For != t.From:
			a.Text = b.In(t.To).Say(i18n.NotForYou)
		case drawn && tapped.Option == card.Forgotten:
			a.Text = b.In(t.To).Say(i18n.SessionGone)
		case drawn && tapped.Option == chat.NextQuestion:
			a, err = b.Asking.Next(t)
		case drawn && on != nil:
			a, err = on(ctx, t)
		case late != nil:
			a.Text = cmp.Or(late(t), a.Text)
		}
		return err
	})
	if then := a.Then; then != nil {
		a.Then = func(ctx context.Context) error {
			err := b.atBorder(ctx, t.From, b.call(owner.Name, "tap", func() error { return then(ctx) }))
			if err == nil || ctx.Err() != nil {
				return nil
			}
			if err := b.Explain(ctx, t.To, b.In(t.To).Internal(err)); err != nil { // the tap has its answer
				b.Log.Error("tap_not_explained", logkey.Error, err)
			}
			return nil
		}
	}
	return a, err
}

// Run shows answers and requests of agents until ctx ends. A feature that crashes is reported once,
// and runs again after a while; the others run on.
func (b *Bot) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, f := range b.Installed {
		if f.Run == nil {
			continue
		}
		tell := sync.OnceFunc(func() {
			if err := b.WarnAll(ctx, i18n.FeatureCrashed, nil); err != nil {
				b.Log.Warn("crash_not_told", logkey.Feature, f.Name, logkey.Error, err)
			}
		})
		run := func() error { return b.call(f.Name, "run", func() error { return f.Run(ctx) }) }
		g.Go(func() error { return guard.Keep(ctx, run, func(*guard.Panic) { tell() }) })
	}
	return g.Wait()
}

// forget takes away what is kept of a session that is about to be forgotten. Prompts that still
// wait are reported first.
func (b *Bot) forget(ctx context.Context, id uuid.UUID) error {
	if err := prompt.Forget(ctx, b.Prompts, id); err != nil {
		return err
	}
	return errors.Join(b.Book.Forget(id),
		b.notifyAll("forget", func(f chat.Feature) bool { return f.Forget != nil }, func(f chat.Feature) error { return f.Forget(ctx, id) }))
}

// notifyAll calls all features that listen, even if one fails.
func (b *Bot) notifyAll(where string, listens func(f chat.Feature) bool, tell func(f chat.Feature) error) (err error) {
	for _, f := range b.Installed {
		if listens(f) {
			err = errors.Join(err, b.call(f.Name, where, func() error { return tell(f) }))
		}
	}
	return err
}

// MachineChanged tells the features that another machine answers, or no longer.
func (b *Bot) MachineChanged(id string) {
	_ = b.notifyAll("machine", func(f chat.Feature) bool { return f.OnMachine != nil }, func(f chat.Feature) error { f.OnMachine(id); return nil })
}

// call calls a feature. A crash of it is logged with its stack, and is an error.
func (b *Bot) call(feature, where string, do func() error) error {
	err := guard.Call(do)
	if p, crashed := errors.AsType[*guard.Panic](err); crashed {
		b.Log.Error("feature_crashed", logkey.Feature, feature, logkey.Where, where,
			logkey.Panic, fmt.Sprint(p.Value), logkey.Stack, p.Stack)
	}
	return err
}

// teller names the feature that reports a piece of news to people. It gets the news last. Some news
// have no report: the messages about them are drawn again.
func teller(n news.News) (feature string, err error) {
	switch n.(type) {
	case news.Ready, news.Retrying, news.Ended, news.Failed, news.Lost, news.Stopped, news.Opened, news.Moved, news.Spared:
		return sessions.FeatureName, nil
	case news.Held, news.Unproven, news.Typed, news.Delivered, news.TakenBack, news.DraftCleared, news.Requeued:
		return prompt.FeatureName, nil
	case news.Dialog, news.NotReporting:
		return dialog.FeatureName, nil
	case news.OtherWriters, news.Transferred:
		return writers.FeatureName, nil
	case news.Transcript:
		return answer.FeatureName, nil
	case news.Looped:
		return loops.FeatureName, nil
	case news.Scheduled:
		return schedules.FeatureName, nil
	case news.Switched:
		return modes.FeatureName, nil
	case news.Requested, news.RequestLeft:
		return ask.FeatureName, nil
	case news.FileOffered, news.FilesDue:
		return files.FeatureName, nil
	case news.Start:
		return report.FeatureName, nil
	case news.TmuxSilence, news.FileUnread:
		return health.FeatureName, nil
	case news.DialogGone, news.Doing, news.Renamed, news.Forgotten:
		return "", nil
	}
	return "", fmt.Errorf("unknown news %T", n)
}

// SessionNews reports news of a session or a machine to the chat. A report is on disk when it
// returns. Kept news that the chat has already change nothing, and neither do news about a prompt
// of another machine. Kept news that are late are reported, and change no message: those are later.
// News that a feature crashes at are reported as an internal error: repeated, they would crash the
// feature again, and the session would wait for it.
func (b *Bot) SessionNews(ctx context.Context, s port.Session, n news.News) error {
	if p, is := n.(news.Progress); is {
		return prompt.Progress(ctx, b.Prompts, p)
	}
	last, err := teller(n)
	if err != nil {
		return err
	}
	if foreign, err := offer.IsForeign(b.Entries, s, n); foreign || err != nil {
		return err
	}
	features := append(slices.DeleteFunc(slices.Clone(b.Installed), func(f chat.Feature) bool { return f.Name == last }), b.named[last])
	features = slices.DeleteFunc(features, func(f chat.Feature) bool {
		return f.OnNews == nil || s.Late && news.IsKept(n) && f.Name != last
	})
	if _, is := n.(news.Forgotten); is {
		return b.forget(ctx, s.ID)
	}
	return conversation.News{In: b.Store}.Once(s, n, func() error {
		if news.IsKept(n) && b.Cards.Reports(chat.NewsOf(s)) {
			return nil // a kill came before their number was stored
		}
		for _, f := range features {
			err := b.call(f.Name, "news", func() error { return f.OnNews(ctx, s, n) })
			if _, crashed := errors.AsType[*guard.Panic](err); crashed && s.ID == uuid.Nil {
				err = b.WarnAll(ctx, i18n.FeatureCrashed, nil)
			} else if crashed {
				err = b.Post(ctx, card.Content{To: s.Conversation, Session: s.ID, Text: render.Plain(chat.Warning + b.In(s.Conversation).Say(i18n.InternalError))})
			}
			if err != nil {
				return err
			}
		}
		if s.ID != uuid.Nil {
			b.At("news-shown")
		}
		return nil
	})
}
