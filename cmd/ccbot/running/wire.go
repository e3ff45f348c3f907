package running

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caarlos0/env/v11"
	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/agent"
	"ccbot/agent/claude/claudeask"
	"ccbot/agent/claude/claudesettings"
	"ccbot/agent/claude/transcript"
	"ccbot/archive"
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
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/metrics"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/servicemanager"
	"ccbot/cmd/ccbot/socket"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/cmd/ccbot/voice"
	"ccbot/fleet/router"
	"ccbot/hooks"
	"ccbot/host"
	"ccbot/host/received"
	"ccbot/i18n"
	"ccbot/internal/gauge"
	"ccbot/internal/git"
	"ccbot/internal/glyph"
	"ccbot/internal/ledger"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	engine "ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/internal/suspect"
	"ccbot/internal/systemfont"
	"ccbot/internal/watch"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/loop"
	"ccbot/recovery"
	"ccbot/schedule"
	"ccbot/tmux"
)

// sender is all that the chat asks of Telegram.
type sender struct {
	*outbox.Outbox
	telegram.Topics
}

// system is every part of a running ccbot.
type system struct {
	config.Config
	coding    agent.Agents
	log       *slog.Logger
	tmux      *tmux.Client
	suspects  *suspect.Files
	store     *session.Store
	inbox     *inbox.Store
	api       *tgbot.Bot
	outbox    *outbox.Outbox
	evidence  *evidence.Sources
	observer  *view.Observer
	lifecycle *lifecycle.Service
	losses    losses
	recovery  *recovery.Recovery
	events    *hooks.Events
	hook      *offline.Hook
	watch     *watch.Watcher
	presences func(ctx context.Context) error // follows the presence files
	keeper    *archive.Keeper
	loops     *loop.Keeper
	fleet     fleet
	schedules *schedule.Keeper
	woken     chan struct{}  // wakes keeper
	machine   *host.Machine  // as the chat sees it
	machines  *router.Router // all that the chat has
	sessions  *host.Sessions // of the machine
	spending  *host.Spending
	talk      *host.Transcripts
	bot       *bot.Bot
	room      *statefolder.DiskSpace
	held      *statefolder.Held
	prompts   *prompts
	asks      *ask.Store
	cards     *card.Board
	table     *process.Table
	relay     *hooks.Relay
	socket    socket.Socket
	// recoveredFor is the recovery for one verb without a bot; nil: this is the bot.
	recoveredFor *recovery.Report
	version      string // of this program
	// The first of ALLOWED_USERS: the owner of sessions that begin in a terminal.
	owner     atomic.Int64
	receipts  *receipts
	claude    *claudesettings.Binary
	metrics   *metrics.Metrics
	service   *servicemanager.Service
	refused   refusals
	reloading sync.Mutex        // held while the settings are read again
	environ   []string          // of the process
	level     *slog.LevelVar    // of the log
	ready     func(line string) // shows a first line at the terminal
	began     time.Time         // by a clock that cannot be set
	away      time.Duration     // how long no ccbot was there before this one
	seen      time.Time         // since when; zero: not known
	menus     *telegram.Menus
	start     func(ctx context.Context) (me *models.User, err error)
	end       func() // releases the lock
	stop      func() // asks the running bot to stop

	// lasting makes a context that outlives the client which has asked for something, and ends with
	// the run.
	lasting    func(ctx context.Context) (context.Context, context.CancelFunc)
	recovering sync.Mutex // held by a recovery while the bot runs
}

// wire makes the parts and connects them; nothing runs yet. ctx is the context of the run.
func wire(ctx context.Context, c config.Config, coding agent.Agents, environ []string, hook *offline.Hook, table *process.Table, log *slog.Logger) (*system, error) {
	s := &system{Config: c, coding: coding, hook: hook, log: log, table: table, losses: make(losses, 1), relay: hooks.NewRelay(time.Now, log), watch: watch.New(log), began: time.Now()}
	s.metrics, s.service = metrics.New(s.states), servicemanager.New(environ, log)
	s.watch.Busy = s.expectsChanges
	s.away, s.seen = statefolder.Absence(c.Dir, process.Clock{Table: table}, time.Now())
	s.lasting = lastingIn(ctx)
	instance, err := statefolder.MakeInstance(c.Dir)
	if err != nil {
		return nil, err
	}
	if err := s.openStores(); err != nil {
		return nil, err
	}
	s.owner.Store(firstOf(s.AllowedUsers))
	s.suspects = noteReads(ctx, c.Dir, environ, table, log)
	s.tmux, err = tmux.New(tmux.Config{Socket: c.TmuxSocket, Session: c.TmuxSession, Instance: instance,
		Env: environment.Server(environ), Log: log, Start: offline.StartOf(table)})
	if err != nil {
		return nil, offline.TmuxError(c, err)
	}
	api, err := telegram.New(c.Token, c.APIURL, c.Proxy(), log)
	if err != nil {
		return nil, err
	}
	s.api = api
	s.outbox = outbox.New(api, c.APIURL, filepath.Join(c.Dir, "outbox"), log)
	if err := s.wireChat(environ); err != nil {
		return nil, err
	}
	if err := s.wireSessions(instance, environ); err != nil {
		return nil, err
	}
	s.inbox.Clock, s.inbox.Failpoint, s.prompts.Failpoint = process.Clock{Table: table}, Failpoint(environ), Failpoint(environ)
	s.outbox.Named, s.outbox.Aliases, s.inbox.Inside = s.cards, s.bot.Aliases, s.bot.Aliases.In
	s.outbox.OnMigrate, s.outbox.OnTopicGone = s.bot.Moves.Migrated, s.bot.Moves.TopicGone
	s.outbox.Elsewhere = s.bot.Answers.Elsewhere
	s.outbox.OnSent = func(m outbox.Message, id int) {
		s.metrics.Delivered(m.Written)
		if err := s.bot.SentPart(m.To, id, m.Session, m.Cursor); err != nil {
			s.log.Warn("message_not_noted", logkey.ChatID, m.To.ChatID, logkey.Error, err)
		}
	}
	s.wireRecovery(instance, environ)
	if s.recovery.Booted, err = gauge.Booted(ctx); err != nil {
		log.Debug("boot_time_unknown", logkey.Error, err)
	}
	s.wireSocket()
	s.metrics.Measure(s.inbox, s.outbox, s.service.Pulse, func() uint64 { return s.agentsMemory(ctx) })
	s.start = func(ctx context.Context) (*models.User, error) {
		return telegram.Connect(ctx, telegram.Client(c.Token, c.APIURL, c.Proxy()), c.APIURL, s.service.Tried, log)
	}
	s.menus = telegram.NewMenus(api, s.Dir, s.bot.Menus, log)
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

// noteReads makes all reads of transcripts note on disk what they read.
func noteReads(ctx context.Context, dir string, environ []string, table *process.Table, log *slog.Logger) *suspect.Files {
	wait := func(d time.Duration) error { return pause.For(ctx, d) }
	files := suspect.Open(filepath.Join(dir, suspect.Name), table.Self().Boot, wait, log)
	files.Failpoint = Failpoint(environ)
	transcript.Note(files)
	return files
}

func (s *system) openStores() (err error) {
	s.store, err = session.Open(filepath.Join(s.Dir, "sessions"), filepath.Join(s.Dir, "quarantine"), time.Now, s.log, slices.Collect(maps.Keys(s.coding)))
	if err != nil {
		return err
	}
	s.inbox, err = inbox.OpenStore(filepath.Join(s.Dir, "inbox"), s.log)
	if err != nil {
		return err
	}
	accepted, err := engine.Open(filepath.Join(s.Dir, "prompts"), s.log)
	if err != nil {
		return err
	}
	s.prompts = newPrompts(s.inbox, accepted, s.log)
	s.asks, err = ask.Open(filepath.Join(s.Dir, "asks"), filepath.Join(s.Dir, "quarantine"), claudeask.Former, s.log)
	if err != nil {
		return err
	}
	goesOn := func(id uuid.UUID) bool { r, ok := s.store.Get(id); return ok && !r.State.EndedOnPurpose() }
	if err := offline.Moments(s.Dir).Tidy(goesOn); err != nil {
		s.log.Warn("moments_not_removed", logkey.Error, err)
	}
	return os.MkdirAll(filepath.Join(s.Dir, "events"), 0o700)
}

// wireChat makes the chat side.
func (s *system) wireChat(environ []string) error {
	chats, err := conversation.Open(filepath.Join(s.Dir, "chats"), filepath.Join(s.Dir, "quarantine"), s.log)
	if err != nil {
		return err
	}
	chats.Zone = s.TimeZone
	s.machine = &host.Machine{Home: host.WithoutLinks(s.Home), Roots: s.RootFolders, Own: offline.Own(s.Config), Records: s.store, Unread: s.store.UnreadIn, Tickets: new(host.Tickets),
		Agents: s.coding, GitEnv: environment.Server(environ),
		Folders: &s.store.Folders,
		Written: func(ctx context.Context, claude ...uuid.UUID) (map[uuid.UUID]bool, error) {
			return s.evidence.Written(ctx, claude...)
		}}
	s.machine.Received, err = received.Open(filepath.Join(s.Dir, "received"), time.Now, s.log)
	if err != nil {
		return err
	}
	mayShow := func(to session.Conversation) bool { return s.bot.MayShow(to) }
	s.cards, err = card.Open(filepath.Join(s.Dir, "cards"), filepath.Join(s.Dir, "quarantine"), s.outbox, mayShow, s.log)
	if err != nil {
		return err
	}
	s.cards.Failpoint = Failpoint(environ)
	s.spending = &host.Spending{Ledger: ledger.New(s.coding, filepath.Join(s.Dir, "usage"), time.Now, s.log), Agents: s.coding, Dir: s.Dir, Records: s.store,
		Watch: s.watch, Now: time.Now, Log: s.log}
	s.sessions = &host.Sessions{Terminals: host.Terminals{Agents: s.coding, Records: s.store}, Git: offline.Git(environ), Spending: s.spending, Forgets: s.forget,
		Diffs: offline.Diffs(s.Config, s.store, environ, offline.Moments(s.Dir).Dir), Memory: gauge.Sum}
	s.talk = &host.Transcripts{Agents: s.coding, Records: s.store, Watch: s.watch, Tickets: s.machine.Tickets, Log: s.log}
	said := struct {
		*host.Transcripts
		host.Conversations
	}{s.talk, host.Conversations{Agents: s.coding, Records: s.store, Dir: filepath.Join(s.Dir, "exports"), Tickets: s.machine.Tickets}}
	if err := said.Tidy(); err != nil { // the next start may do it
		s.log.Warn("exports_not_tidied", logkey.Error, err)
	}
	if err := openPlans(s, environ); err != nil {
		return err
	}
	s.machines = router.New(s.Machine, reached(environ, &ports.Machine{Sessions: s.sessions, Records: host.Views{Agents: s.coding, Records: s.store, Attach: func(r session.Record) string { return s.lifecycle.Attach(r) }, Looped: liveIn(s.loops), Scheduled: s.schedules.Next},
		Loops: s.loops, Schedules: s.schedules, Templates: templates{offline.LoopTemplates(s.Dir), s.store, s.loops}, Decisions: host.Decisions{Relay: s.relay, Agents: s.coding, Records: s.store}, Places: s.machine, Files: s.machine, Bodies: s.machine.Tickets, Received: s.machine, Transcripts: said,
		Fonts: systemfont.System()}))
	number := func(at session.Conversation, message int) int {
		_, id := chats.Aliases.Out(at.ChatID, message)
		return id
	}
	speaks := sender{s.outbox, telegram.Topics{API: s.api, Call: s.outbox.Call, Out: number}}
	c := chat.New(chat.Deps{Machine: s.machines.Machine(), Sender: speaks, Chats: chats, Cards: s.cards, Speech: i18n.Load(glyph.Name), Lang: s.Lang,
		Host: s.Machine, Dir: s.Dir, Now: time.Now, Log: s.log, Failpoint: Failpoint(environ)})
	var transcriber attachment.Transcriber // nil: VOICE_COMMAND is not set
	if len(s.VoiceWords) > 0 {
		transcriber = voice.New(s.VoiceWords, environment.Server(environ), s.Home, s.table)
	}
	s.bot = bot.New(
		bot.Config{Lists: listsOf(s.Config), MachineName: s.Machine, StateDir: s.Dir, ResumeOnStart: s.ResumeOnStart, ContinueText: s.ContinueText, DayBudget: float64(s.BudgetDay),
			Rich: s.Rich == "auto", Thinking: bool(s.Thinking), VoiceConfirm: s.VoiceConfirm == "on", Steps: turn.Steps(s.ShowSteps), IdleAfter: s.IdleAfter, RemindAfter: s.RemindAfter},
		bot.Deps{Machine: s.machines.Machine(), Chat: c, Sender: speaks, Entries: s.inbox, Asks: s.asks, AllowedGroups: allowedGroups{s},
			Downloader: telegram.NewDownloads(s.Token, s.APIURL, s.Proxy()), Voice: transcriber, Health: s.health})
	s.bot.Computer.ReadAgain = s.readAgain
	s.room = statefolder.NewDiskSpace(s.Dir, s.bot, s.log)
	return nil
}

// wireSessions makes the parts that run sessions, and the parts that archive them.
func (s *system) wireSessions(instance string, environ []string) error {
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	variables, unset := environment.Agent(env.ToMap(environ), s.Agents, s.ClaudeSet)
	if s.CodexDir != filepath.Join(s.Home, ".codex") {
		variables["CODEX_HOME"] = s.CodexDir
	}
	variables["PATH"] = environment.WithFolder(variables["PATH"], filepath.Dir(s.hook.Path))
	s.claude = offline.Claude(s.Config, environ, s.log)
	s.woken = make(chan struct{}, 1)
	s.receipts = &receipts{started: func() { pause.Poke(s.woken) }, Chat: metrics.News{Chat: reader(environ, s.bot), Inbox: s.inbox, Metrics: s.metrics}}
	s.evidence = offline.Sources(s.Config, instance, s.store, s.table, s.tmux.Panes, s.log)
	s.observer = offline.Observer(s.Config, s.tmux, s.table, s.log)
	s.evidence.Agents, s.observer.Agents = s.coding, s.coding // they may repair a transcript
	s.observer.Screens, s.observer.Relays, s.observer.Unread = s.tmux, s.relay, s.suspects.Unread
	s.observer.Git = func(ctx context.Context, dir string) (*git.State, error) {
		state, _, err := git.Compare(ctx, dir, environment.Server(environ), "")
		return state, err
	}
	s.lifecycle = lifecycle.New(
		lifecycle.Config{Host: name, StateDir: s.Dir, Env: variables, Unset: unset, OrphanGrace: s.OrphanGrace, LastThere: s.seen},
		lifecycle.Deps{Store: s.store, News: host.News{Sessions: s.sessions, Chat: s.receipts, Moments: offline.Moments(s.Dir)},
			Typist:  typing.New(s.observer, s.tmux, s.prompts, func(launch uuid.UUID) (bool, error) { return hooks.HasPendingEvents(s.Dir, launch) }),
			Windows: s.tmux,
			Ender:   &ending.Ender{Processes: s.table, Panes: s.tmux, Evidence: s.evidence, KillGrace: s.KillGrace, Outcome: s.metrics.End, Log: s.log},
			Callbacks: &lifecycle.Callbacks{Lost: s.losses.note, Failpoint: Failpoint(environ),
				Holds: func(ctx context.Context, id uuid.UUID) (holds, capped bool) { return s.bot.Budget.Holds(ctx, id) },
				Came:  func(ctx context.Context, w evidence.Writer) bool { return s.recovery.Came(ctx, w) }}})
	s.keeper = &archive.Keeper{Agents: s.coding, Sessions: s.lifecycle, Observer: s.observer, Records: s.store, Copies: copiesOf(s), Clear: s.clear,
		IdleAfter: s.IdleAfter, Busy: s.loops.Moves, PurgeAfter: s.PurgeAfter, Purged: s.metrics.Forgot, Now: time.Now, Log: s.log, Woken: s.woken}
	s.presences = watchPresences(s.coding, s.watch, s.log, s.presenceChanged)
	s.tmux.OnChange(s.lifecycle.WakeAll)
	s.tmux.OnSilence(s.tmuxSilence)
	return nil
}

// wireRecovery makes the recovery, which runs at a start and when a session's conversation turns up
// in another window, and the delivery of hook events, which a start drains.
func (s *system) wireRecovery(instance string, environ []string) {
	backups := offline.Backups(s.Dir)
	backups.Failpoint = Failpoint(environ)
	s.recovery = &recovery.Recovery{Instance: instance, Session: s.TmuxSession, Dir: s.Dir, Limits: s.Limits(),
		Store: s.store, Tmux: s.tmux, Processes: s.table, Evidence: s.evidence, Lifecycle: s.lifecycle, Backup: backups.Make,
		Unread: s.observer.IsUnread, Now: time.Now, Log: s.log, Failpoint: Failpoint(environ)}
	s.events = hooks.NewEvents(s.Dir, s.lifecycle, s.watch, s.log)
	s.recovery.Events = s.events.Drain
}

// watchPresences returns a function that follows the presence files of all agents until ctx ends.
func watchPresences(all agent.Agents, folders *watch.Watcher, log *slog.Logger, changed func(pid int)) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		for _, by := range all {
			if by.Presences != nil {
				g.Go(func() error { return by.Presences.Watch(ctx, folders, log, changed) })
			}
		}
		return g.Wait()
	}
}

// presenceChanged is called with the process of each presence file that has changed.
func (s *system) presenceChanged(pid int) {
	s.lifecycle.WakeAgent(pid)
	s.events.PresenceChanged(pid)
}

// wireSocket connects the parts that need all other parts.
func (s *system) wireSocket() {
	asked := personalLifecycle{s.lifecycle, s.loops, s.woken}
	s.sessions.Lifecycle, s.sessions.Observer, s.sessions.Windows = asked, s.observer, s.recovery
	s.sessions.Panes, s.sessions.Queues = asked, personalQueues{s.lifecycle.Queues(), s.loops}
	s.relay.Connect(s.bot.Requests)
	s.relay.Changed = s.lifecycle.Queues().Wake
	s.socket = socket.Socket{Agents: agentsAndChecks{s.evidence, s.loops}, Relay: s.relay, Files: s.bot.Files, Watch: s.watch, Coding: s.coding, Hook: s.hook.Path,
		Programs: s.table, Scripts: s.scripts(), Log: s.log}
}

// clear does the steps before a record is forgotten: prompts that still wait for it are reported;
// then its requests, the settings of its launch and its status are removed.
func (s *system) clear(ctx context.Context, r session.Record) error {
	left, err := s.prompts.Left()
	if err != nil {
		return err
	}
	if err := s.bot.Prompts.Homeless(ctx, left[r.ID]); err != nil {
		return err
	}
	err = errors.Join(s.bot.Forget(ctx, r.ID), offline.Moments(s.Dir).Forget(r.ID))
	if settings := s.coding.Of(r.AgentName).Settings; settings != nil {
		err = errors.Join(err, settings.Remove(r.ID))
	}
	return err
}
