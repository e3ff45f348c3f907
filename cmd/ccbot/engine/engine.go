package engine

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
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/agent"
	"ccbot/agent/claude/claudesettings"
	"ccbot/agent/jsonl"
	"ccbot/archive"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/socket"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/hooks"
	"ccbot/host"
	"ccbot/host/received"
	"ccbot/internal/gauge"
	"ccbot/internal/git"
	"ccbot/internal/ledger"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/suspect"
	"ccbot/internal/watch"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/loop"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/recovery"
	"ccbot/schedule"
	"ccbot/tmux"
)

// Settings has the inputs of an engine.
type Settings struct {
	config.Config
	Coding  agent.Agents
	Environ []string // of the process
	Hook    *offline.Hook
	Table   *process.Table
	Held    *statefolder.Held
	Prompts *PromptStore
	Planned PlannedPrompts
	Counts  Counts
	Log     *slog.Logger
}

// Engine is every part that runs the sessions of a machine.
type Engine struct {
	Settings
	Seen      time.Time     // the last sign of life of the ccbot before; zero: unknown
	Away      time.Duration // without a ccbot before this one
	Tmux      *tmux.Client
	Suspects  *suspect.Files
	Store     *session.Store
	Watch     *watch.Watcher
	Evidence  *evidence.Sources
	Observer  *view.Observer
	Lifecycle *lifecycle.Service
	Recovery  *recovery.Recovery
	Events    *hooks.Events
	Relay     *hooks.Relay
	Keeper    *archive.Keeper
	Loops     *loop.Keeper
	Schedules *schedule.Keeper
	Receipts  *Receipts
	Binary    *claudesettings.Binary
	Socket    socket.Socket

	// The ports of the chat.
	Places        *host.Machine
	Sessions      *host.Sessions
	Spending      *host.Spending
	Transcripts   *host.Transcripts
	Conversations host.Conversations

	// Lasting makes a context that outlives the client which has asked for something, and ends with
	// the run.
	Lasting    func(ctx context.Context) (context.Context, context.CancelFunc)
	recovering sync.Mutex
	instance   string
	losses     losses
	woken      chan struct{} // wakes the keeper
}

// Take takes the lock of the folder, and begins the settings of an engine with it.
func Take(ctx context.Context, c config.Config, role string, log *slog.Logger) (Settings, error) {
	table, held, err := statefolder.Take(ctx, c.Dir, role, c.KillGrace, log)
	if errors.Is(err, exit.ErrRunning) {
		err = fmt.Errorf("%w: stop it first; a second bot needs another CCBOT_DIR", err)
	}
	if err != nil {
		return Settings{}, err
	}
	return Settings{Config: c, Table: table, Held: held, Log: log}, nil
}

// Open makes the parts and connects them; nothing runs yet, and Connect must follow. ctx is the
// context of the run.
func Open(ctx context.Context, c Settings) (e *Engine, err error) {
	since := time.Now() // an agent that is launched later was launched by this ccbot
	e = &Engine{Settings: c, losses: make(losses, 1), woken: make(chan struct{}, 1), Relay: hooks.NewRelay(time.Now, c.Log), Watch: watch.New(c.Log), Lasting: LastingIn(ctx)}
	e.Watch.Busy = e.expectsChanges
	e.Away, e.Seen = statefolder.Absence(c.Dir, process.Clock{Table: c.Table}, time.Now())
	if e.instance, err = statefolder.MakeInstance(c.Dir); err != nil {
		return nil, err
	}
	if err := e.OpenRecords(); err != nil {
		return nil, err
	}
	e.Suspects = e.noteReads(ctx)
	e.Tmux, err = tmux.New(tmux.Config{Socket: c.TmuxSocket, Session: c.TmuxSession, Instance: e.instance,
		Env: environment.Server(c.Environ), Log: c.Log, Start: offline.StartOf(c.Table), Runs: e.runs})
	if err != nil {
		return nil, offline.TmuxError(c.Config, err)
	}
	if err := e.openPorts(); err != nil {
		return nil, err
	}
	if err := e.openPlans(); err != nil {
		return nil, err
	}
	if err := e.openSessions(); err != nil {
		return nil, err
	}
	e.openRecovery()
	e.Recovery.Since = since
	if e.Recovery.Booted, err = gauge.Booted(ctx); err != nil {
		c.Log.Debug("boot_time_unknown", logkey.Error, err)
	}
	e.openSocket()
	e.Held.Guard()
	return e, nil
}

// Close releases the lock. The process must end too.
func (e *Engine) Close() error { return errors.Join(e.Suspects.Close(), e.Held.Close()) }

// Connect sets how the chat gets its news; ctx is the context of those about prompts.
func (e *Engine) Connect(ctx context.Context, reports host.Chat) {
	e.Receipts.Chat, e.Socket.Files = reports, agentFiles{e}
	e.Prompts.Report = func(n news.Progress) error { return reports.SessionNews(ctx, port.Session{}, n) }
	e.Relay.Connect(listener{e})
}

// runs reports whether a process with these arguments runs.
func (e *Engine) runs(ctx context.Context, argv []string) bool {
	table, err := e.Table.Snapshot(ctx)
	return err == nil && slices.ContainsFunc(table.Processes, func(p process.Process) bool { return slices.Equal(p.Args, argv) })
}

// OpenRecords opens the records, and removes the moments of sessions that have ended.
func (e *Engine) OpenRecords() (err error) {
	e.Store, err = session.Open(filepath.Join(e.Dir, "sessions"), filepath.Join(e.Dir, "quarantine"), time.Now, e.Log, slices.Collect(maps.Keys(e.Coding)))
	if err != nil {
		return err
	}
	goesOn := func(id uuid.UUID) bool { r, ok := e.Store.Get(id); return ok && !r.State.EndedOnPurpose() }
	if err := offline.Moments(e.Dir).Tidy(goesOn); err != nil {
		e.Log.Warn("moments_not_removed", logkey.Error, err)
	}
	return os.MkdirAll(filepath.Join(e.Dir, "events"), 0o700)
}

// noteReads makes all reads of transcripts note on disk what they read.
func (e *Engine) noteReads(ctx context.Context) *suspect.Files {
	wait := func(d time.Duration) error { return pause.For(ctx, d) }
	files := suspect.Open(filepath.Join(e.Dir, suspect.Name), e.Table.Self().Boot, wait, e.Log)
	files.Failpoint = Failpoint(e.Environ)
	jsonl.Note(files)
	return files
}

// openPorts makes the ports through which the chat reaches this machine.
func (e *Engine) openPorts() (err error) {
	e.Places = &host.Machine{Home: host.WithoutLinks(e.Home), Roots: e.RootFolders, Own: offline.Own(e.Config), Records: e.Store, Unread: e.Store.UnreadIn, Tickets: new(host.Tickets), Offers: new(host.Offers),
		Ended: e.ended, Agents: e.Coding, GitEnv: environment.Server(e.Environ), Folders: &e.Store.Folders,
		Written: func(ctx context.Context, claude ...uuid.UUID) (map[uuid.UUID]bool, error) {
			return e.Evidence.Written(ctx, claude...)
		}}
	e.Places.Received, err = received.Open(filepath.Join(e.Dir, "received"), time.Now, e.Log)
	if err != nil {
		return err
	}
	e.Spending = &host.Spending{Ledger: ledger.New(e.Coding, filepath.Join(e.Dir, "usage"), time.Now, e.Log), Agents: e.Coding, Dir: e.Dir, Records: e.Store,
		Watch: e.Watch, Now: time.Now, Log: e.Log}
	e.Sessions = &host.Sessions{Terminals: host.Terminals{Agents: e.Coding, Records: e.Store}, Git: offline.Git(e.Environ), Spending: e.Spending, Forgets: e.Forget,
		Diffs: e.diffs(), Memory: gauge.Sum, Roots: e.Places.Roots}
	e.Transcripts = &host.Transcripts{Agents: e.Coding, Records: e.Store, Watch: e.Watch, Tickets: e.Places.Tickets, Log: e.Log}
	e.Conversations = host.Conversations{Agents: e.Coding, Records: e.Store, Dir: filepath.Join(e.Dir, "exports"), Tickets: e.Places.Tickets}
	if err := e.Conversations.Tidy(); err != nil { // the next start may do it
		e.Log.Warn("exports_not_tidied", logkey.Error, err)
	}
	return nil
}

func (e *Engine) diffs() host.Diffs {
	return offline.Diffs(e.Config, e.Store, e.Environ, offline.Moments(e.Dir).Dir)
}

// Views returns the records as the chat sees them.
func (e *Engine) Views() host.Views {
	return host.Views{Agents: e.Coding, Records: e.Store, Attach: e.Lifecycle.Attach, Scheduled: e.Schedules.Next, Looped: e.live,
		MayForget: func(r session.Record) bool { return archive.MayForget(r, e.Table.Liveness) }}
}

// openSessions makes the parts that run sessions, and the parts that archive them.
func (e *Engine) openSessions() error {
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	variables, unset := environment.Agent(env.ToMap(e.Environ), e.Agents, e.ClaudeSet)
	if e.CodexDir != filepath.Join(e.Home, ".codex") {
		variables["CODEX_HOME"] = e.CodexDir
	}
	variables["PATH"] = environment.WithFolder(variables["PATH"], filepath.Dir(e.Hook.Path))
	e.Binary = offline.Claude(e.Config, e.Environ, e.Log)
	e.Receipts = &Receipts{started: func() { pause.Poke(e.woken) }}
	e.Evidence = offline.Sources(e.Config, e.instance, e.Store, e.Table, e.Tmux.Panes, e.Log)
	e.Observer = offline.Observer(e.Config, e.Tmux, e.Table, e.Log)
	e.Evidence.Agents, e.Observer.Agents = e.Coding, e.Coding // they may repair a transcript
	e.Observer.Screens, e.Observer.Relays, e.Observer.Unread = e.Tmux, e.Relay, e.Suspects.Unread
	e.Observer.Git = func(ctx context.Context, dir string) (*git.State, error) {
		state, _, err := git.Compare(ctx, dir, environment.Server(e.Environ), "")
		return state, err
	}
	e.Lifecycle = lifecycle.New(
		lifecycle.Config{Host: name, StateDir: e.Dir, Env: variables, Unset: unset, OrphanGrace: e.OrphanGrace, LastThere: e.Seen},
		lifecycle.Deps{Store: e.Store, News: host.News{Sessions: e.Sessions, Chat: e.Receipts, Moments: offline.Moments(e.Dir)},
			Typist:    typing.New(e.Observer, e.Tmux, e.Prompts, func(launch uuid.UUID) (bool, error) { return hooks.HasPendingEvents(e.Dir, launch) }),
			Windows:   e.Tmux,
			Ender:     &ending.Ender{Processes: e.Table, Panes: e.Tmux, Evidence: e.Evidence, KillGrace: e.KillGrace, Outcome: e.Counts.End, Log: e.Log},
			Callbacks: e.Callbacks()})
	e.Keeper = &archive.Keeper{Agents: e.Coding, Sessions: e.Lifecycle, Observer: e.Observer, Records: e.Store, Copies: copiesOf(e), Liveness: e.Table.Liveness, Clear: e.Clear,
		IdleAfter: e.IdleAfter, Busy: e.Loops.Moves, PurgeAfter: e.PurgeAfter, Purged: e.Counts.Forgot, Now: time.Now, Log: e.Log, Woken: e.woken}
	e.Tmux.OnChange(e.Lifecycle.WakeAll)
	e.Tmux.OnSilence(e.tmuxSilence)
	return nil
}

// Callbacks returns the functions that lifecycle calls.
func (e *Engine) Callbacks() *lifecycle.Callbacks {
	return &lifecycle.Callbacks{Failpoint: Failpoint(e.Environ), Lost: e.losses.note,
		Came: func(ctx context.Context, w evidence.Writer) bool { return e.Recovery.Came(ctx, w) }}
}

// openRecovery makes the recovery, which runs at a start and when a session's conversation turns up
// in another window, and the delivery of hook events, which a start drains.
func (e *Engine) openRecovery() {
	backups := offline.Backups(e.Dir)
	backups.Failpoint = Failpoint(e.Environ)
	e.Recovery = &recovery.Recovery{Instance: e.instance, Session: e.TmuxSession, Dir: e.Dir, Limits: e.Limits(),
		Store: e.Store, Tmux: e.Tmux, Processes: e.Table, Evidence: e.Evidence, Lifecycle: e.Lifecycle, Backup: backups.Make,
		Unread: e.Observer.IsUnread, Now: time.Now, Log: e.Log, Failpoint: Failpoint(e.Environ)}
	e.Events = hooks.NewEvents(e.Dir, e.Lifecycle, e.Watch, e.Log)
	e.Recovery.Events = e.Events.Drain
}

// openSocket connects the parts that need all other parts.
func (e *Engine) openSocket() {
	asked := personalLifecycle{e.Lifecycle, e.Loops, e.woken}
	e.Sessions.Lifecycle, e.Sessions.Observer, e.Sessions.Windows = asked, e.Observer, e.Recovery
	e.Sessions.Panes, e.Sessions.Queues = asked, personalQueues{e.Lifecycle.Queues(), e.Loops}
	e.connectRequests()
	e.Relay.Changed = e.Lifecycle.Queues().Wake
	e.Socket = socket.Socket{Agents: agentsAndChecks{e.Evidence, e.Loops}, Relay: e.Relay, Watch: e.Watch, Coding: e.Coding, Hook: e.Hook.Path,
		Programs: e.Table, Log: e.Log}
}

// FollowPresences follows the presence files of all agents until ctx ends.
func (e *Engine) FollowPresences(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	changed := func(pid int) {
		e.Lifecycle.WakeAgent(pid)
		e.Events.PresenceChanged(pid)
	}
	for _, by := range e.Coding {
		if by.Presences != nil {
			g.Go(func() error { return by.Presences.Watch(ctx, e.Watch, e.Log, changed) })
		}
	}
	return g.Wait()
}
