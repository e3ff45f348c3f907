package running

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/bot"
	"ccbot/bot/ask"
	"ccbot/bot/attachment"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	ports "ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/bot/turn"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/metrics"
	"ccbot/cmd/ccbot/servicemanager"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/cmd/ccbot/voice"
	"ccbot/fleet/center"
	"ccbot/fleet/join"
	"ccbot/fleet/router"
	"ccbot/fleet/rpc"
	fleetwire "ccbot/fleet/wire"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/systemfont"
	"ccbot/recovery"
)

// sender is all that the chat asks of Telegram.
type sender struct {
	*outbox.Outbox
	telegram.Topics
	files fetching
}

// system is every part of a running ccbot: the engine and the chat.
type system struct {
	*engine.Engine
	inbox    *inbox.Store
	api      *tgbot.Bot
	outbox   *outbox.Outbox
	fleet    fleet
	machines *router.Router // all that the chat has
	bot      *bot.Bot
	room     *statefolder.DiskSpace
	prompts  *prompts
	asks     *ask.Store
	cards    *card.Board
	// recoveredFor is the recovery for one verb without a bot; nil: this is the bot.
	recoveredFor *recovery.Report
	version      string // of this program
	// The first of ALLOWED_USERS: the owner of sessions that begin in a terminal.
	owner     atomic.Int64
	metrics   *metrics.Metrics
	service   *servicemanager.Service
	refused   refusals
	reloading sync.Mutex     // held while the settings are read again
	level     *slog.LevelVar // of the log
	began     time.Time      // by a clock that cannot be set
	menus     *telegram.Menus
	start     func(ctx context.Context) (me *models.User, err error)
	end       func() // releases the lock
}

// wire makes the parts and connects them; nothing runs yet. ctx is the context of the run.
func wire(ctx context.Context, settings engine.Settings) (*system, error) {
	c, log := settings.Config, settings.Log
	s := &system{began: time.Now(), service: servicemanager.New(settings.Environ, log)}
	s.metrics = metrics.New(func() map[session.State]int { return s.States() })
	settings.Counts = s.metrics
	if err := s.openStores(c, log); err != nil {
		return nil, err
	}
	s.prompts.held.Failpoint = engine.Failpoint(settings.Environ)
	settings.Prompts, settings.Planned = s.prompts.held, s.prompts
	var err error
	if s.Engine, err = engine.Open(ctx, settings); err != nil {
		return nil, err
	}
	s.owner.Store(firstOf(s.AllowedUsers))
	if s.api, err = telegram.New(c.Token, c.APIURL, c.Proxy(), log); err != nil {
		return nil, err
	}
	s.outbox = outbox.New(s.api, c.APIURL, filepath.Join(c.Dir, "outbox"), log)
	if err := s.wireChat(); err != nil {
		return nil, err
	}
	s.inbox.Clock, s.inbox.Failpoint = process.Clock{Table: s.Table}, engine.Failpoint(s.Environ)
	s.outbox.Named, s.outbox.Aliases, s.inbox.Inside = s.cards, s.bot.Aliases, s.bot.Aliases.In
	s.outbox.OnMigrate, s.outbox.OnTopicGone = s.bot.Moves.Migrated, s.bot.Moves.TopicGone
	s.outbox.MayShow = s.bot.MayShow
	s.outbox.OnClosed = func() { ask.WakeAll(s.bot.Requests) }
	s.outbox.OnShut, s.outbox.OnNoReactions = s.bot.Shut.Look, s.bot.Shut.NoReactions
	s.outbox.Elsewhere, s.outbox.Repeated = s.bot.Answers.Elsewhere, s.bot.Answers.Repeated
	s.outbox.OnSent = func(m outbox.Message, id int) {
		s.metrics.Delivered(m.Written)
		if err := s.bot.SentPart(m.To, id, m.Session, m.Cursor); err != nil {
			log.Warn("message_not_noted", logkey.ChatID, m.To.ChatID, logkey.Error, err)
		}
	}
	reports := metrics.News{Chat: reader(s.Environ, s.bot), Inbox: s.inbox, Metrics: s.metrics}
	s.Connect(context.WithoutCancel(ctx), reports)
	s.inbox.TakeBack = takeBackFrom(ctx, s.machines.Machine().Sessions)
	s.fleet.settings = center.Settings{Folder: FleetFolder(c.Dir), Name: c.Machine, Now: time.Now, Log: log, Machines: s.machines,
		OnCandidate: s.bot.Hosts.OnCandidate,
		News:        func(h join.Host) fleetwire.Chat { return s.machines.Chat(h.ID, reports) }}
	s.fleet.load()
	s.Socket.Scripts = s.scripts()
	s.metrics.Measure(s.inbox, s.outbox, s.service.Pulse, func() uint64 { return s.AgentsMemory(ctx) })
	s.start = func(ctx context.Context) (*models.User, error) {
		return telegram.Connect(ctx, telegram.Client(c.Token, c.APIURL, c.Proxy()), c.APIURL, s.service.Tried, log)
	}
	s.menus = telegram.NewMenus(s.api, s.Dir, s.bot.Menus, log)
	followSettings(s)
	return s, nil
}

// followSettings replaces the lists of commands of a chat whose language has changed.
func followSettings(s *system) {
	changed := s.bot.Changed
	s.bot.Changed = func(was, now conversation.Settings) {
		changed(was, now)
		if now.Language != was.Language || now.Telegram != was.Telegram {
			s.menus.Changed()
		}
	}
}

// firstOf returns the first of ALLOWED_USERS, and 0 on a machine whose chat is elsewhere.
func firstOf(people []int64) int64 {
	if len(people) == 0 {
		return 0
	}
	return people[0]
}

// openStores opens the files of the chat about messages and requests, and the engine's prompts.
func (s *system) openStores(c config.Config, log *slog.Logger) (err error) {
	if s.prompts, err = openPrompts(c.Dir, log); err != nil {
		return err
	}
	s.inbox = s.prompts.inbox
	s.asks, err = ask.Open(filepath.Join(c.Dir, "asks"), filepath.Join(c.Dir, "quarantine"), log)
	return err
}

// openPrompts opens the messages of people, and the engine's prompts.
func openPrompts(dir string, log *slog.Logger) (*prompts, error) {
	in, err := inbox.OpenStore(filepath.Join(dir, "inbox"), log)
	if err != nil {
		return nil, err
	}
	held, err := engine.OpenPrompts(dir, log)
	return &prompts{inbox: in, held: held, log: log}, err
}

// machineOf returns the ports of an engine.
func machineOf(e *engine.Engine) *ports.Machine {
	said := struct {
		*host.Transcripts
		host.Conversations
	}{e.Transcripts, e.Conversations}
	return &ports.Machine{Sessions: e.Sessions, Records: e.Views(), Loops: e.Loops, Schedules: e.Schedules, Templates: e.Templates(),
		Decisions: e.Decisions(), Places: e.Places, Files: e.Places, Bodies: e.Places.Tickets, Received: e.Places, Transcripts: said,
		Fonts: systemfont.System()}
}

// wireChat makes the chat.
func (s *system) wireChat() error {
	chats, err := conversation.Open(filepath.Join(s.Dir, "chats"), filepath.Join(s.Dir, "quarantine"), s.Log)
	if err != nil {
		return err
	}
	chats.Zone = s.TimeZone
	mayShow := func(to session.Conversation) bool { return s.bot.MayShow(to) }
	s.cards, err = card.Open(filepath.Join(s.Dir, "cards"), filepath.Join(s.Dir, "quarantine"), s.outbox, mayShow, s.Log)
	if err != nil {
		return err
	}
	s.cards.Failpoint = engine.Failpoint(s.Environ)
	s.fleet.settings.Folder = FleetFolder(s.Dir)
	s.fleet.own = func(ctx context.Context) rpc.Beat { return beatOf(ctx, s.Engine, s.version) }
	s.machines = router.New(s.Machine, reached(s.Environ, machineOf(s.Engine)))
	number := func(at session.Conversation, message int) int {
		_, id := chats.Aliases.Out(at.ChatID, message)
		return id
	}
	speaks := sender{s.outbox, telegram.Topics{API: s.api, Call: s.outbox.Call, Leave: s.outbox.Leave, Out: number}, s.fetching(filepath.Join(s.Dir, "exports"))}
	c := chat.New(chat.Deps{Machine: s.machines.Machine(), Sender: speaks, Chats: chats, Cards: s.cards, Speech: i18n.Load(glyph.Name), Lang: s.Lang,
		Host: s.Machine, Machines: s.machines.Machines, Dir: s.Dir, Now: time.Now, Log: s.Log, Failpoint: engine.Failpoint(s.Environ)})
	var transcriber attachment.Transcriber // nil: VOICE_COMMAND is not set
	if len(s.VoiceWords) > 0 {
		transcriber = voice.New(s.VoiceWords, environment.Server(s.Environ), s.Home, s.Table)
	}
	s.bot = bot.New(
		bot.Config{Lists: listsOf(s.Config), MachineName: s.Machine, StateDir: s.Dir, ResumeOnStart: s.ResumeOnStart, ContinueText: s.ContinueText, DayBudget: float64(s.BudgetDay),
			Rich: s.Rich == "auto", Thinking: bool(s.Thinking), VoiceConfirm: s.VoiceConfirm == "on", Steps: turn.Steps(s.ShowSteps), IdleAfter: s.IdleAfter, HoldFor: s.ResumeStale, RemindAfter: s.RemindAfter},
		bot.Deps{Machine: s.machines.Machine(), Chat: c, Sender: speaks, Entries: s.inbox, Asks: s.asks, AllowedGroups: allowedGroups{s},
			Downloader: telegram.NewDownloads(s.Token, s.APIURL, s.Proxy()), Voice: transcriber, Health: s.health, Fleet: &s.fleet})
	s.bot.Computer.ReadAgain = s.ReadAgain
	s.machines.OnChange = s.bot.MachineChanged
	s.room = statefolder.NewDiskSpace(s.Dir, s.bot, s.Log)
	return nil
}
