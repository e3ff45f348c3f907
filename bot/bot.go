package bot

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/answer"
	"ccbot/bot/ask"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/moves"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/decisions"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/files"
	"ccbot/bot/port/places"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/prompt"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/bot/report"
	"ccbot/bot/shell"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/guard"
)

// Sessions are the ports of a machine about its sessions and windows.
type Sessions interface {
	control.Starter
	control.Ender
	control.Keeper
	prompts.Queue
	prompts.Decisions
	prompts.Edits
	desk.Keys
	desk.Screens
	desk.Neighbours
	desk.Windows
	desk.Notices
	talk.Shown
}

// Decisions are the ports of a machine about what agents ask for.
type Decisions interface {
	decisions.Waiters
	decisions.Records
}

// Machine is the machine that the agents run on. The chat touches it through these ports alone,
// with plain values, so that it may be another machine than the chat's.
type Machine struct {
	Sessions    Sessions
	Records     views.Views
	Decisions   Decisions
	Places      places.Places
	Files       files.Files
	Transcripts talk.Transcripts
}

// Sender is the outbox as the chat uses it. Post is durable when it returns; Send returns when the
// Bot API took the message or refused it for good.
type Sender interface {
	Send(ctx context.Context, m outbox.Message) (int, error)
	SendFile(ctx context.Context, f outbox.File) (int, error)
	Post(ctx context.Context, m outbox.Message) error
	Edit(ctx context.Context, to address.Conversation, messageID int, m outbox.Message) error
	EditNow(ctx context.Context, to address.Conversation, messageID int, m outbox.Message) error
	EditButtons(ctx context.Context, to address.Conversation, messageID int, buttons [][]outbox.Button) error
	React(ctx context.Context, to address.Conversation, messageID int, emoji string)
	Typing(ctx context.Context, to address.Conversation)
	Answer(ctx context.Context, to address.Conversation, queryID, text string, alert bool)
	Parked(chat int64) bool
	Unpark(chat int64)
	TakesRich() bool
}

// Entries is the inbox as the chat uses it.
type Entries interface {
	Load(key string) (inbox.Entry, error)
	Find(to address.Conversation, message int) (inbox.Entry, error)
	List() ([]inbox.Entry, error)
	Save(e inbox.Entry) error
	Change(key string, change func(e *inbox.Entry) error) error
	Finish(key string) error
	FinishIn(key string, state inbox.State) error
}

// Config is who may speak, and how they are spoken to.
type Config struct {
	Allowed  map[int64]bool // people
	Groups   map[int64]bool // groups in which they may speak; private chats need none
	Username string         // of the bot, without @
	Lang     string
	StateDir string // ccbot's own files, of which none is ever sent
	// ResumeOnStart says what becomes of sessions that were lost with the machine: ResumeAll,
	// ResumeNever, or anything else to ask.
	ResumeOnStart string
	Rich          bool // rich messages where the server has them
	Thinking      bool // what an agent thinks is shown, too
}

// What Config.ResumeOnStart may be.
const (
	ResumeAsk   = report.ResumeAsk
	ResumeAll   = report.ResumeAll
	ResumeNever = report.ResumeNever
)

// Kept is what the chat keeps on its own disk.
type Kept struct {
	Entries Entries
	Chats   *conversation.Store
	Asks    *ask.Store
	Cards   *card.Board
}

// Media takes what people send beside text.
type Media struct {
	Downloader prompt.Downloader
	Voice      prompt.Transcriber // nil: nothing writes recordings down
}

// Deps are what a Bot works with.
type Deps struct {
	Machine
	Kept
	Media
	Sender Sender
	Words  *i18n.Catalog
	Now    func() time.Time
	Log    *slog.Logger
	// Failpoint is called at each persisted step with its name. It is nil but in programs built to
	// die there.
	Failpoint func(name string)
}

// kernel is what every feature may use: how to speak, and what is known of conversations.
type kernel struct {
	*chat.Chat
	*conversation.Book
}

// Bot answers people.
type Bot struct {
	Config
	Deps
	kernel
	life
	rooms    []chat.Feature
	commands map[string]chat.Command
	taps     taps
	cards    taps // by the kind of a card
	late     map[string]func(chat.Tap) string
	news     newsTable
	words    i18n.Words
	answers  *answer.Answers
	asks     *ask.Requests
	outputs  *shell.Outputs
	moves    *moves.Moves
}

// New returns a Bot; Run makes the answers of agents flow.
func New(c Config, d Deps) *Bot {
	b := &Bot{Config: c, Deps: d, words: d.Words.For(c.Lang)}
	b.Book = &conversation.Book{Store: d.Chats, Records: d.Records, Mover: d.Sessions,
		Access: conversation.Access{People: c.Allowed, Groups: c.Groups}}
	b.Chat = &chat.Chat{Sender: d.Sender, Editor: d.Sender, Book: b.Book, Cards: d.Cards, Log: d.Log,
		Failpoint: func(point string) {
			if b.Failpoint != nil {
				b.Failpoint(point)
			}
		},
		Phrases: chat.Phrases{Words: b.words, Places: d.Places, Now: func() time.Time { return b.Now() },
			Attach: d.Sessions.Attach}}
	b.asks = ask.NewRequests(ask.Deps{Chat: b.Chat, Store: d.Asks, Hooks: d.Decisions, Sessions: d.Sessions,
		Records: d.Decisions, Send: d.Sender.Send,
		Over: func(ctx context.Context, _ ask.Card) { b.prompts.Tidy(ctx) }})
	b.moves = moves.New(b.Chat, d.Entries, b.asks)
	b.outputs = shell.New(b.Chat, d.Sessions.Output, d.Entries, d.Files)
	b.answers = answer.New(answer.Deps{Chat: b.Chat, Sender: d.Sender, Limits: d.Sender, Sessions: d.Sessions, Prompts: d.Entries,
		Outputs: b.outputs, Transcripts: d.Transcripts, Items: []func(uuid.UUID, talk.Item){b.heardItem},
		Rich: c.Rich, Thinking: c.Thinking})
	b.Events = conversation.Events{
		Current: []func(context.Context, address.Conversation, uuid.UUID) error{
			func(_ context.Context, _ address.Conversation, id uuid.UUID) error { b.answers.Nudge(id); return nil },
			b.asks.Switched,
		},
		Shown: []func(views.Session){b.answers.Follow}, // it may have waited for a place where it may be shown
	}
	b.life = newLife(b)
	b.asks.Prompts = b.prompts
	b.install(b.features())
	return b
}

// heardItem looks at the requests of a session whose transcript may say what became of them.
func (b *Bot) heardItem(session uuid.UUID, item talk.Item) {
	switch item.Kind {
	case talk.ToolResult, talk.PermissionDecision, talk.Interrupt, talk.TurnEnd:
		b.asks.Look(session, false)
	}
}

// install builds the tables of what the features do.
func (b *Bot) install(rooms []chat.Feature) {
	b.rooms, b.commands, b.news = rooms, make(map[string]chat.Command), make(newsTable)
	b.taps, b.cards, b.late = make(taps), make(taps), make(map[string]func(chat.Tap) string)
	for _, f := range rooms {
		for _, c := range f.Commands {
			b.commands[c.Name] = c
		}
		maps.Copy(b.taps, f.Taps)
		maps.Copy(b.cards, f.Cards)
		maps.Copy(b.late, f.Late)
		maps.Copy(b.news, f.News)
	}
}

// Asked takes a request that waits, or that waits again after its hook has redialled; see
// ask.Requests.Asked.
func (b *Bot) Asked(ctx context.Context, q decisions.Request) error { return b.asks.Asked(ctx, q) }

// Left hears that a request's hook is gone without an answer.
func (b *Bot) Left(_ context.Context, q decisions.Request) { b.asks.Left(q) }

// Forget takes away what is kept of a session that is itself forgotten.
func (b *Bot) Forget(ctx context.Context, id uuid.UUID) error {
	errs := []error{b.Deps.Cards.Forget(ctx, id)}
	for _, f := range b.rooms {
		if f.Forget != nil {
			err := guard.Call(func() error { return f.Forget(ctx, id) })
			b.logPanic(f.Name, "forget", err)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Run shows what agents answer and ask until ctx ends.
func (b *Bot) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, f := range append([]chat.Feature{{Name: "cards", Run: b.Deps.Cards.Run}}, b.rooms...) {
		if f.Run != nil {
			g.Go(func() error { return b.runs(ctx, f) })
		}
	}
	return g.Wait()
}

// Handle does what one message asks for; rest are the other messages of its album. It is called at
// least once for each: a message may come again after a crash.
func (b *Bot) Handle(ctx context.Context, key string, u *models.Update, rest ...*models.Update) error {
	if u == nil {
		return nil
	}
	m, edited := u.Message, false
	if m == nil {
		m, edited = u.EditedMessage, true
	}
	if m == nil {
		return nil
	}
	if taken, err := b.moves.Take(m); taken {
		return err
	}
	if m.From == nil || !b.Hears(m.From.ID, m.Chat) {
		return nil
	}
	b.At("accepted")
	in := b.incomingOf(key, m)
	b.unpark(ctx, in.To.ChatID)
	switch {
	case edited:
		text, ok := b.editedText(in, m)
		return b.prompts.Edited(ctx, in, m, text, ok)
	case m.Text == "" && isService(m):
		return nil
	case m.Text == "":
		return b.prompts.Files(ctx, in, append([]*models.Update{u}, rest...))
	}
	return b.text(ctx, in, quotation.Text(m))
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

// isService says whether nobody wrote a message: Telegram tells of a change of the chat. Where a
// kind is missing here, the chat is told once too often.
func isService(m *models.Message) bool {
	return len(m.NewChatMembers) > 0 || m.LeftChatMember != nil || m.NewChatTitle != "" || len(m.NewChatPhoto) > 0 ||
		m.DeleteChatPhoto || m.GroupChatCreated || m.SupergroupChatCreated || m.MessageAutoDeleteTimerChanged != nil ||
		m.MigrateToChatID != 0 || m.MigrateFromChatID != 0 || m.PinnedMessage != nil || m.ChatBackgroundSet != nil ||
		m.ForumTopicCreated != nil || m.ForumTopicEdited != nil || m.ForumTopicClosed != nil || m.ForumTopicReopened != nil ||
		m.GeneralForumTopicHidden != nil || m.GeneralForumTopicUnhidden != nil || m.BoostAdded != nil ||
		m.VideoChatScheduled != nil || m.VideoChatStarted != nil || m.VideoChatEnded != nil || m.VideoChatParticipantsInvited != nil
}

// text runs a command of ours or passes the text on to the agent, with nothing changed but our own
// name cut out. The words of others run no command, and answer no request.
func (b *Bot) text(ctx context.Context, in chat.Incoming, text string) error {
	if in.Quoted {
		return b.prompts.Take(ctx, in, text)
	}
	name, to, rest := splitCommand(text)
	ours := to == "" || strings.EqualFold(to, b.Username)
	if !ours && in.To.ChatID != in.From && addressed.MatchString(name+"@"+to) {
		return nil // a command for another bot of the group
	}
	if c, ok := b.commands[name]; ok && ours {
		return b.command(ctx, in, c, strings.TrimSpace(rest))
	}
	if to != "" && ours {
		text = "/" + name + rest
	}
	for _, f := range b.rooms {
		if f.Text == nil {
			continue
		}
		if taken, err := f.Text(ctx, in, text); taken || err != nil {
			return err
		}
	}
	return b.prompts.Take(ctx, in, text)
}

// Sent hears which message the chat has, of a session or of none.
func (b *Bot) Sent(m outbox.Message, id int) {
	if err := b.Chats.NoteSent(m.To, id, m.Session); err != nil {
		b.Log.Warn("message_not_noted", "chat_id", m.To.ChatID, "error", err.Error())
	}
}

// addressed is a command with the name of a bot, which ends in "bot"; a path with an @ in it is
// none.
var addressed = regexp.MustCompile(`(?i)^\w{1,32}@[a-z]\w*bot$`)

// splitCommand splits "/name@bot rest"; rest begins with the blank or line break that ends the
// name. Without a command all of it is empty; "//name" is the agent's own.
func splitCommand(text string) (name, to, rest string) {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return "", "", ""
	}
	head := text[1:]
	if i := strings.IndexAny(head, " \n\t"); i >= 0 {
		head, rest = head[:i], head[i:]
	}
	name, to, _ = strings.Cut(head, "@")
	return name, to, rest
}

// editedText is the text that an edit gives a prompt. It is false where the message is none any
// more: a command, or nothing.
func (b *Bot) editedText(in chat.Incoming, m *models.Message) (text string, ok bool) {
	text = quotation.Text(m)
	if m.Text == "" {
		return text, true // a caption is no command
	}
	name, to, rest := splitCommand(text)
	ours := to == "" || strings.EqualFold(to, b.Username)
	if !ours && in.To.ChatID != in.From && addressed.MatchString(name+"@"+to) {
		return "", false
	}
	if _, command := b.commands[name]; command && ours {
		return "", false
	}
	if to != "" && ours {
		text = "/" + name + rest
	}
	return text, true
}

// UpdateFailed tells a person that a message of theirs was set aside, or has to wait.
func (b *Bot) UpdateFailed(ctx context.Context, f inbox.Failure) error {
	if !b.Allowed[f.From] || !b.MayShow(f.Conversation) {
		return nil
	}
	if f.Tap {
		word := i18n.InternalError
		if f.Late {
			word = i18n.TapLate
		}
		if f.Update != nil && f.Update.CallbackQuery != nil {
			b.Sender.Answer(ctx, f.Conversation, f.Update.CallbackQuery.ID, b.words.Say(word), true)
		}
		return nil
	}
	if f.Waits {
		return b.Warn(ctx, f.Conversation, f.MessageID, render.Plain(b.words.Say(i18n.PromptWaits)), nil)
	}
	key := i18n.UpdateFailed
	if f.Unreadable {
		key = i18n.Unreadable
	}
	if f.Update != nil && f.Update.EditedMessage != nil { // the message itself may be where it belongs
		return b.Warn(ctx, f.Conversation, f.MessageID, render.Plain(b.words.Say(key)), nil)
	}
	return b.Fail(ctx, f.Conversation, f.MessageID, render.Plain(b.words.Say(key)), nil)
}
