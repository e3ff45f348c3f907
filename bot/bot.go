package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/answer"
	"ccbot/bot/ask"
	"ccbot/bot/browse"
	"ccbot/bot/card"
	"ccbot/bot/changes"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/files"
	roomhealth "ccbot/bot/health"
	"ccbot/bot/inbox"
	"ccbot/bot/limit"
	"ccbot/bot/menu"
	"ccbot/bot/moves"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/decisions"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/diffs"
	portfiles "ccbot/bot/port/files"
	"ccbot/bot/port/history"
	"ccbot/bot/port/modes"
	"ccbot/bot/port/news"
	"ccbot/bot/port/places"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/spending"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/prompt"
	"ccbot/bot/report"
	"ccbot/bot/sessions"
	"ccbot/bot/topics"
	"ccbot/bot/turn"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/guard"
	"ccbot/internal/health"
	"ccbot/internal/logkey"
)

// Sessions are the ports of a machine about its sessions and windows.
type Sessions interface {
	control.Starter
	control.Ender
	control.Keeper
	control.Namer
	prompts.Queue
	prompts.Decisions
	prompts.Edits
	prompts.Order
	views.Works
	views.Successors
	desk.Keys
	desk.Panes
	desk.Screens
	desk.Neighbours
	desk.Windows
	desk.Notices
	modes.Switches
	talk.Shown
	diffs.Diffs
	spending.Spending
}

// Places are the ports of a machine about its folders.
type Places interface {
	places.Places
	places.Folders
	places.Worktrees
	places.Beside
}

// Decisions are the ports of a machine about what agents ask for.
type Decisions interface {
	decisions.Waiters
	decisions.Records
}

// Transcripts are the ports of a machine about what was said, as it is written and from any place.
type Transcripts interface {
	talk.Transcripts
	history.Conversations
	history.Exports
	history.Asked
}

// Sender is the outbox as the chat uses it. Post is durable when it returns; Send returns when the
// Bot API took the message or refused it for good.
type Sender interface {
	card.Sender
	chat.Sender
	topics.Telegram
	answer.Sender
	answer.Limits
	EditButtons(ctx context.Context, to address.Conversation, message int, buttons [][]outbox.Button) error
	Answer(ctx context.Context, to address.Conversation, queryID, text string, alert bool)
	Unpark(chat int64)
}

// Entries is the inbox as the chat uses it.
type Entries interface {
	prompt.Entries
	prompt.Changes
	limit.Entries
	Save(e inbox.Entry) error
}

// Config is who may speak, and how they are spoken to.
type Config struct {
	Allowed  map[int64]bool // people
	Groups   map[int64]bool // groups in which they may speak; private chats need none
	Username string         // of the bot, without @
	Threaded bool           // the bot has threaded mode: its private chats have topics
	Lang     string
	StateDir string // ccbot's own files, of which none is ever sent
	// ResumeOnStart says what becomes of sessions that were lost with the machine: report.ResumeAll,
	// report.ResumeContinue, report.ResumeNever, or anything else to ask.
	ResumeOnStart string
	ContinueText  string // of the prompt after which an interrupted session goes on
	Rich          bool   // rich messages where the server has them
	Thinking      bool   // what an agent thinks is shown, too
	VoiceConfirm  bool   // what is said in a recording is shown before it is typed
	Steps         turn.Steps
	IdleAfter     time.Duration // after which an idle session is archived; 0: never
}

// Deps are what a Bot works with. The chat touches the agents' machine through the first of them
// alone, with plain values, so that it may be another machine than the chat's.
type Deps struct {
	Sessions    Sessions
	Records     views.Views
	Decisions   Decisions
	Places      Places
	Files       portfiles.Files
	Received    portfiles.Received
	Transcripts Transcripts

	Sender     Sender
	Entries    Entries
	Chats      *conversation.Store
	Asks       *ask.Store
	Cards      *card.Board
	Downloader prompt.Downloader
	Voice      prompt.Transcriber // nil: nothing writes recordings down
	Words      *i18n.Catalog
	Now        func() time.Time
	Log        *slog.Logger
	// Failpoint is called at each persisted step with its name. It is nil but in programs built to
	// die there.
	Failpoint func(name string)
}

// kernel is what every feature may use: how to speak, and what is known of conversations.
type kernel struct {
	*chat.Chat
	*conversation.Book
}

// Bot answers people. The rooms among its fields are called by the program itself, too.
type Bot struct {
	Config
	Deps
	kernel
	*roomhealth.Disk
	Prompts *prompt.Prompts
	Browser *browse.Browser
	Resumer *sessions.Sessions
	Reports *report.Reports
	Moves   *moves.Moves
	Topics  *topics.Topics
	Changes *changes.Changes
	Answers *answer.Answers
	Rooms   []chat.Feature // all that it can do
	// IdleIn is how long a session of a place is idle before it is archived; see idle.Idle.After.
	IdleIn func(at address.Conversation, session uuid.UUID) time.Duration
	// Health, set before Run, measures how ccbot does.
	Health   func(ctx context.Context) health.Figures
	Spoken   func() // told that a chat may have another language than before
	asks     *ask.Requests
	files    *files.Files
	commands map[string]chat.Command
}

// New returns a Bot; Run makes the answers of agents flow.
func New(c Config, d Deps) *Bot {
	b := &Bot{Config: c, Deps: d, Spoken: func() {}}
	b.Book = &conversation.Book{Store: d.Chats, Records: d.Records, Successors: d.Sessions, Move: d.Sessions.Move}
	b.Admit(conversation.Lists{People: c.Allowed, Groups: c.Groups})
	b.Chat = &chat.Chat{Sender: d.Sender, Book: b.Book, Cards: d.Cards, Speech: d.Words, Lang: c.Lang, Log: d.Log,
		Failpoint: func(point string) {
			if b.Failpoint != nil {
				b.Failpoint(point)
			}
		},
		Facts: chat.Facts{Places: d.Places, Now: func() time.Time { return b.Now() }, Attach: d.Sessions.Attach}}
	b.Disk = roomhealth.NewDisk(b.Chat, func(ctx context.Context, m outbox.Message) (int, error) { return b.Sender.Send(ctx, m) }, c.StateDir)
	b.Pages = chat.NewPages(b.Chat)
	b.Install(b.Features())
	return b
}

// Install makes features all that the bot can do.
func (b *Bot) Install(rooms []chat.Feature) {
	b.Rooms, b.commands, b.Events = rooms, make(map[string]chat.Command), conversation.Events{}
	for _, f := range rooms {
		maps.Copy(b.Pages.All, f.Pages)
		for _, c := range f.Commands {
			b.commands[c.Name] = c
		}
		if f.Current != nil {
			b.Events.Current = append(b.Events.Current, f.Current)
		}
		if f.Shown != nil {
			b.Events.Shown = append(b.Events.Shown, f.Shown)
		}
	}
}

// Menus are the lists of commands that Telegram is to show.
func (b *Bot) Menus() []menu.List { return menu.Lists(b.Chat, b.commands) }

// Run shows what agents answer and ask until ctx ends. A feature that crashes is told once, and runs
// again after a while; the others run on.
func (b *Bot) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, f := range append([]chat.Feature{{Name: "cards", Run: b.Cards.Run}}, b.Rooms...) {
		if f.Run == nil {
			continue
		}
		var once sync.Once
		tell := func() {
			err := b.WarnAll(ctx, i18n.FeatureCrashed, i18n.Args{"Feature": f.Name})
			if err != nil {
				b.Log.Warn("crash_not_told", logkey.Feature, f.Name, logkey.Error, err.Error())
			}
		}
		g.Go(func() error {
			return guard.Keep(ctx, func() error { return f.Run(ctx) }, func(p *guard.Panic) {
				b.logPanic(f.Name, "run", p)
				once.Do(tell)
			})
		})
	}
	return g.Wait()
}

// Forget takes away what is kept of a session that is itself forgotten.
func (b *Bot) Forget(ctx context.Context, id uuid.UUID) error {
	return errors.Join(b.Cards.Forget(ctx, id), b.Chats.Forget(id), b.each("forget", func(f chat.Feature) error {
		if f.Forget == nil {
			return nil
		}
		return f.Forget(ctx, id)
	}))
}

// item tells the features what a transcript has, before the chat has it.
func (b *Bot) item(session uuid.UUID, item talk.Item) {
	_ = b.each("item", func(f chat.Feature) error {
		if f.Item != nil {
			f.Item(session, item)
		}
		return nil
	})
}

// moved tells the features what places have become.
func (b *Bot) moved(ctx context.Context, where chat.Where) error {
	return b.each("moved", func(f chat.Feature) error {
		if f.Moved == nil {
			return nil
		}
		return f.Moved(ctx, where)
	})
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
	hearers := slices.Clone(b.Rooms)
	for _, f := range b.Rooms {
		if i := slices.IndexFunc(f.News, func(t chat.Teller) bool { return t.Of == reflect.TypeOf(n) }); i >= 0 {
			hearers = append(hearers, chat.Feature{Name: f.Name, Heard: f.News[i].Tell})
		}
	}
	if len(hearers) == len(b.Rooms) {
		return fmt.Errorf("unknown news %T", n)
	}
	for _, f := range hearers {
		if f.Heard == nil {
			continue
		}
		err := b.call(f.Name, "news", func() error { return f.Heard(ctx, s, n) })
		if _, crashed := errors.AsType[*guard.Panic](err); crashed {
			text := chat.Warning + b.In(s.Conversation).Say(i18n.InternalError)
			err = b.For(s.ID).Say(ctx, s.Conversation, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Asked takes a request that waits, or that waits again after its hook has redialled; see
// ask.Requests.Asked.
func (b *Bot) Asked(ctx context.Context, q decisions.Request) error { return b.asks.Asked(ctx, q) }

// Left hears that a request's hook is gone without an answer.
func (b *Bot) Left(_ context.Context, q decisions.Request) { b.asks.Left(q) }

// Sent hears which message the chat has, of a session or of none. One that has waited since before
// its session was forgotten names it no more.
func (b *Bot) Sent(m outbox.Message, id int) {
	if _, known := b.Book.Records.Get(m.Session); !known && m.Session != uuid.Nil {
		m.Session = uuid.Max
	}
	if err := b.Chats.NoteMessage(m.To, id, m.Session); err != nil {
		b.Log.Warn("message_not_noted", logkey.ChatID, m.To.ChatID, logkey.Error, err.Error())
	}
}

// SendFile sends a file of a session's folder into its chat; see files.Files.
func (b *Bot) SendFile(ctx context.Context, id uuid.UUID, path, caption string) error {
	return b.files.Send(ctx, id, path, caption)
}
