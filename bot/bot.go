package bot

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/answer"
	"ccbot/bot/ask"
	"ccbot/bot/attachment"
	"ccbot/bot/browse"
	"ccbot/bot/budget"
	"ccbot/bot/card"
	"ccbot/bot/changes"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/dialog"
	"ccbot/bot/files"
	"ccbot/bot/groups"
	"ccbot/bot/health"
	"ccbot/bot/history"
	"ccbot/bot/hosts"
	"ccbot/bot/idle"
	"ccbot/bot/inbox"
	"ccbot/bot/inform"
	"ccbot/bot/limit"
	"ccbot/bot/longtext"
	"ccbot/bot/loops"
	"ccbot/bot/machine"
	"ccbot/bot/menu"
	"ccbot/bot/modes"
	"ccbot/bot/moves"
	"ccbot/bot/offer"
	"ccbot/bot/outbox"
	"ccbot/bot/prompt"
	"ccbot/bot/questions"
	"ccbot/bot/report"
	"ccbot/bot/schedules"
	"ccbot/bot/screenshot"
	"ccbot/bot/sessions"
	"ccbot/bot/settings"
	"ccbot/bot/several"
	"ccbot/bot/shell"
	"ccbot/bot/status"
	"ccbot/bot/textlist"
	"ccbot/bot/topics"
	"ccbot/bot/turn"
	"ccbot/bot/usage"
	"ccbot/bot/waiting"
	"ccbot/bot/why"
	"ccbot/bot/writers"
	measured "ccbot/internal/health"
	"ccbot/port"
	"ccbot/port/talk"
)

// Sender is the outbox as the chat uses it. Post is durable when it returns; Send returns when the
// Bot API took the message or refused it for good.
type Sender interface {
	card.Sender
	chat.Sender
	topics.Telegram
	groups.Leaver
	questions.Pins
	answer.Sender
	answer.Limits
	DropButtons(ctx context.Context, to outbox.Conversation, id int)
	Answer(ctx context.Context, to outbox.Conversation, queryID, text string, alert bool)
	Resume(chat int64)
}

// Entries is the inbox as the chat uses it.
type Entries interface {
	prompt.Entries
	prompt.Changes
	limit.Entries
	offer.Inbox
	offer.Stored
}

// Config has the allow lists, the names and the settings of a bot.
type Config struct {
	conversation.Lists
	Username      string  // of the bot, without @
	MachineName   string  // of the machine that the bot runs on, for groups with several bots
	Threaded      bool    // the bot has threaded mode: its private chats have topics
	StateDir      string  // ccbot's own files, which are never sent
	ResumeOnStart string  // of report.Deps
	DayBudget     float64 // dollars that all sessions may cost in a day; 0: no cap
	ContinueText  string  // of the prompt that continues an interrupted session; empty: a text in the chat's language
	Rich          bool    // rich messages where the server has them
	Thinking      bool    // an agent's thoughts are also shown
	VoiceConfirm  bool    // the words of a recording are shown before they are typed
	Steps         turn.Steps
	IdleAfter     time.Duration // after which an idle session is archived; 0: never
	HoldFor       time.Duration // the longest limit at whose end the texts that it holds are sent; 0: any
	RemindAfter   time.Duration // after which an unanswered question comes again; 0: never
}

// Deps holds the dependencies of a Bot.
type Deps struct {
	*machine.Machine // of the agents
	*chat.Chat
	Sender        Sender
	Entries       Entries
	Asks          *ask.Store
	AllowedGroups groups.List // nil: no group can be allowed
	Fleet         hosts.Fleet // nil: there is one machine only
	Downloader    attachment.Downloader
	Voice         attachment.Transcriber                     // nil: nothing writes recordings down
	Health        func(ctx context.Context) measured.Figures // measures how ccbot does
}

// Bot handles updates. Its exported features are also called by cmd/ccbot.
type Bot struct {
	Config
	Deps
	*conversation.Book
	*health.Computer
	Answers   *answer.Answers
	Changes   *changes.Changes
	Files     *files.Files
	NewGroups *groups.Groups
	Shut      *groups.Shut
	Hosts     *hosts.Hosts
	Idle      *idle.Idle
	Informer  *inform.Informer
	Loops     *loops.Loops
	Plans     *schedules.Schedules
	Budget    *budget.Budget
	Moves     *moves.Moves
	Prompts   *prompt.Prompts
	Asking    *questions.Questions
	Browser   *browse.Browser
	Reports   *report.Reports
	Requests  *ask.Requests
	Dialogs   *dialog.Dialogs
	Resumer   *sessions.Sessions
	Several   *several.Bots
	Topics    *topics.Topics
	hidden    chat.Cards[struct{}] // about sessions that nobody sees
	Installed []chat.Feature       // all that it can do
	commands  map[string]chat.Command
	named     map[string]chat.Feature // by their names
	owners    map[string]chat.Feature // of each kind of cards
}

// New returns a Bot; Run makes the answers of agents flow.
func New(c Config, d Deps) *Bot {
	b := &Bot{Config: c, Deps: d, Book: d.Chat.Book, hidden: chat.NewCards[struct{}](d.Chat, hiddenKind)}
	b.Admit(c.Lists)
	b.Book.DayBudget = c.DayBudget
	b.OnCurrent = func(ctx context.Context, to outbox.Conversation, id uuid.UUID) error {
		return b.notifyAll("current", func(f chat.Feature) bool { return f.OnCurrent != nil }, func(f chat.Feature) error { return f.OnCurrent(ctx, to, id) })
	}
	b.OnShown = func(r port.Session) error {
		return b.notifyAll("shown", func(f chat.Feature) bool { return f.OnShown != nil }, func(f chat.Feature) error { f.OnShown(r); return nil })
	}
	b.Refuses = d.Sender.Refuses
	b.OnLeft = func(ctx context.Context, r port.Session, to outbox.Conversation, by int64) error {
		return b.Resumer.Left(ctx, r, to, by)
	}
	b.Computer, b.Changed = health.NewComputer(b.Chat, d.Sender.Send, c.StateDir), func(_, _ conversation.Settings) { b.Informer.Wake(); b.Budget.Wake() }
	b.Install(b.Features())
	return b
}

// Install makes features all that the bot can do.
func (b *Bot) Install(features []chat.Feature) {
	b.Installed, b.commands = nil, make(map[string]chat.Command)
	b.named, b.owners = make(map[string]chat.Feature), make(map[string]chat.Feature)
	cards := chat.Feature{Name: "cards", Run: b.Cards.Run, OnResumed: b.Cards.Reachable, Forget: b.Cards.Forget}
	for _, f := range append([]chat.Feature{cards}, features...) {
		b.Installed, b.named[f.Name] = append(b.Installed, f), f
		maps.Copy(b.Pages.All, f.Pages)
		for _, c := range f.Commands {
			b.commands[c.Name] = c
		}
		for kind := range f.Cards {
			b.owners[kind] = f
		}
	}
}

// homeOf is the offer.Home of a prompt.
func (b *Bot) homeOf(to outbox.Conversation, r port.Session) (at outbox.Conversation, asks bool) {
	return b.Home(to, r), b.Book.Several()
}

// Features makes all features, and returns them in the order in which they receive events. A
// feature gets methods of those above it; a feature that is made later is looked up at the call.
func (b *Bot) Features() []chat.Feature {
	c, s, load := b.Chat, offer.New(b.Sessions, b.Entries, b.Records, b.homeOf), b.Entries.Load
	resume := func(ctx context.Context, q chat.Resume) (bool, error) { return b.Resumer.Resume(ctx, q) }
	asked := func(ctx context.Context, to outbox.Conversation, id uuid.UUID) error {
		return b.Prompts.ListWaiting(ctx, to, id)
	}
	kept := func(r port.Session) []string { return waiting.Lines(load, r) }
	b.Dialogs = dialog.New(c, s, func(id uuid.UUID) bool { return b.Requests.Floods(id) }, asked)
	b.Requests = ask.NewRequests(ask.Deps{Chat: c, Store: b.Asks, Hooks: b.Decisions, Entry: load, Queues: s, Dialogs: b.Dialogs,
		Opened: asked, OnEnd: func(ctx context.Context) { b.Prompts.Tidy(ctx) }})
	b.Asking = questions.New(questions.Deps{Chat: c, Pins: b.Sender, RemindAfter: b.RemindAfter, Halt: s.Halt,
		Kinds: map[string]questions.Kind{ask.CardKind: ask.Stops{Requests: b.Requests}, dialog.CardKind: b.Dialogs}})
	limits := limit.New(c, b.Entries, s, s.Brief, b.ContinueText, func() { b.Informer.Wake() },
		func(ctx context.Context) time.Duration { return b.Prompts.AfterLimits(ctx) })
	b.Idle = idle.New(c, s, s.Inspect, func(id uuid.UUID) bool { return limits.Planned(id) || b.Prompts.Holds(id) })
	texts := textlist.New(textlist.Deps{Chat: c, Queue: s, Entries: b.Entries, Changes: b.Entries, Requests: b.Requests,
		Chosen: b.Asking.Chosen, Resume: resume,
		SendOrHold: func(ctx context.Context, e inbox.Entry, r port.Session) error { return b.Prompts.SendOrHold(ctx, e, r) },
		IsLimited:  func(ctx context.Context, e inbox.Entry, r port.Session) bool { return b.Prompts.IsLimited(ctx, e, r) }})
	b.Hosts, b.Budget = hosts.New(c, b.Fleet, hosts.Texts{Count: func(machine string) int { return len(b.Prompts.For(machine)) },
		End: func(ctx context.Context, machine string) error { return b.Prompts.EndFor(ctx, machine) }}), budget.New(c, s, s)
	outputs, long := shell.New(c, s.Output, load, b.Machine.Files), longtext.New(c, b.Transcripts)
	b.Answers = answer.New(answer.Deps{Chat: c, Sender: b.Sender, Sessions: s, Outputs: outputs, Long: long, Transcripts: b.Transcripts,
		OnItem: b.onItem, Explain: b.Requests.Explain, Rich: b.Rich, Thinking: b.Thinking, Stops: texts,
		IsNext: func(r port.Session, end talk.Cursor) bool { return waiting.IsNext(c, load, r, end) },
		Signs:  func(to outbox.Conversation) bool { return b.Steps.In(c, to) != turn.OnCard }})
	others := writers.New(c, s, s, s, s, resume)
	b.Resumer = sessions.New(sessions.Deps{Chat: c, Agents: s, Others: others, Recall: b.Answers.Recall, Look: b.Answers.Look, Idle: b.Idle, Questions: b.Asking,
		GoOn: sessions.GoingOn{Add: b.Entries.Add, Text: b.ContinueText}, Stops: texts, Kept: kept,
		SendWaiting: func(ctx context.Context, chat int64, r port.Session) error {
			return b.Prompts.SendWaiting(ctx, chat, r)
		}})
	b.Reports = report.New(report.Deps{Chat: c, Reported: s.Reported, Resumer: b.Resumer, Windows: others, Notices: s,
		ResumeOnStart: b.ResumeOnStart, Together: b.Resumer.Together.Show})
	b.Prompts = prompt.New(prompt.Deps{Chat: c, Queue: s, Entries: b.Entries, Texts: texts, Sessions: b.Resumer, Lost: b.Reports,
		Attachments: &attachment.Attachments{Chat: c, Files: b.Received, Downloader: b.Downloader, Voice: b.Voice},
		Confirm:     b.VoiceConfirm, Chosen: b.Asking.Chosen, Planned: limits.Has, Run: b.run,
		Limits: limits, Work: s.Brief, HoldFor: b.HoldFor})
	queues := waiting.New(c, load, s, s.Inspect, b.Prompts.Discard, b.Asking.Again, texts.StopBegins)
	b.Topics = topics.New(topics.Deps{Chat: c, Telegram: b.Sender, Rename: s.Rename,
		Threaded: func() bool { return b.Threaded }, AskEnd: b.Resumer.AskEnd, KeepOpen: b.Resumer.KeepOpen})
	b.Place = b.Topics.Place
	b.Files = files.New(c, b.Machine.Files, b.Answers.Heading, files.Received{Files: b.Received, Entries: b.Entries})
	b.Several = several.New(c, b.MachineName, func() string { return b.Username })
	b.NewGroups = groups.New(c, b.AllowedGroups, b.Sender, b.Several.Rules)
	switches, plans := modes.New(c, s), schedules.New(c, b.Schedules, s.Brief)
	b.Plans = plans
	b.Moves, b.Changes = moves.New(c, b.onMoved, b.Topics.AskLost), changes.New(c, s)
	b.Shut = groups.NewShut(c, b.Moves.Bring)
	b.Loops = loops.New(loops.Deps{Chat: c, Loops: b.Machine.Loops, Templates: b.Machine.Templates, Diffs: s, Brief: s.Brief, Changes: b.Changes.Show})
	turns := turn.New(turn.Deps{Chat: c, Works: s, Transcripts: b.Transcripts, Diffs: s, InFront: b.Answers.InFull, Others: b.Resumer, Steps: b.Steps,
		QueuedLines: kept, Actions: map[turn.Button]chat.OnSession{turn.Stop: b.Resumer.Stop, turn.Queue: queues.Show, turn.Mode: switches.Show, turn.Ask: switches.AskAgain,
			turn.Changes: b.Changes.Show, turn.Compact: turn.Commanding(b.Entries, s, talk.Compact), turn.Rewind: turn.Commanding(b.Entries, s, talk.Rewind)}})
	b.Browser = browse.New(browse.Deps{Chat: c, Places: b.Places, Agents: s, First: b.Prompts, Start: b.Resumer.Begin, Resume: b.Resumer.Again, OfLoop: loops.OfLoop(b.Deps.Machine.Loops)})
	b.Informer = inform.New(c, b.Idle.TellLimits, plans.TellZones, b.TellPlanners)
	return slices.Concat(
		[]chat.Feature{b.Asking.Feature(), b.Resumer.Feature(), others.Feature(), b.Reports.Feature(), limits.Feature(), b.Budget.Feature(), b.Idle.Feature(), b.Hosts.Feature(), b.Informer.Feature(), b.Loops.Feature(), plans.Feature(),
			b.Answers.Feature(), outputs.Feature(), long.Feature(), b.Topics.Feature(),
			why.New(why.Deps{Chat: c, Resume: resume, Continue: b.Resumer.Continue, Retry: b.Resumer.Retry, Crash: sessions.Crash}), b.Pages.Feature()},
		status.New(c, s, s, s, load, b.Transcripts, why.Sentences, resume),
		[]chat.Feature{b.Requests.Feature(), turns.Feature(), b.Dialogs.Feature(), queues.Feature(), switches.Feature(), b.Changes.Feature(),
			b.Moves.Feature(), b.NewGroups.Feature(), b.Shut.Feature(), b.Several.Feature(), menu.New(menu.Deps{Chat: c, Questions: b.Asking, Folders: b.Browser.Offer, Machines: b.Hosts.Exist, Several: b.Several.Exist}), usage.New(c, s, b.Budget.Lines), b.Files.Feature(),
			history.New(c, b.Transcripts, b.Transcripts).Feature(), screenshot.New(c, s, b.Fonts), health.New(c, b.Health, b.Computer, b.Hosts.Lines),
			settings.New(c, s, settings.Configured{IdleAfter: b.IdleAfter, Steps: string(b.Steps)}),
			b.Browser.Feature(), texts.Feature(), b.Prompts.Feature()})
}

func (b *Bot) onItem(id uuid.UUID, item talk.Item) {
	_ = b.notifyAll("item", func(f chat.Feature) bool { return f.OnItem != nil }, func(f chat.Feature) error { f.OnItem(id, item); return nil })
}

func (b *Bot) onMoved(ctx context.Context, where chat.MoveFunc) error {
	return b.notifyAll("moved", func(f chat.Feature) bool { return f.OnMoved != nil }, func(f chat.Feature) error { return f.OnMoved(ctx, where) })
}

// Menus returns the lists of commands for Telegram.
func (b *Bot) Menus() []menu.List { return menu.Lists(b.Chat, b.commands) }
