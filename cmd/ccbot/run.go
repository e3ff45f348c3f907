package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/archive"
	"ccbot/bot"
	"ccbot/bot/ask"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/hooks"
	"ccbot/i18n"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
	"ccbot/tmux"
)

// lockPatience is added to KILL_GRACE: how long another ccbot that holds the
// lock is waited for.
const lockPatience = 10 * time.Second

// runBot runs the bot until ctx ends.
func runBot(ctx context.Context, environ []string, stderr io.Writer) error {
	if err := harden(); err != nil {
		return err
	}
	c, err := loadConfig(environ)
	if err != nil {
		return err
	}
	log := newLog(c, stderr)
	c.warn(log)
	hook, err := hookBinary()
	if err != nil {
		return err
	}
	if err := privateDir(c.Dir); err != nil {
		return fmt.Errorf("CCBOT_DIR: %w", err)
	}
	table, err := process.NewTable()
	if err != nil {
		return err
	}
	held, err := lock(ctx, c.Dir, "run", table, time.Duration(c.KillGrace)+lockPatience)
	if err != nil {
		return err
	}
	defer held.Close()
	s, err := wire(ctx, c, environ, hook, table, log)
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// warn tells at start what will be in the way later.
func (c config) warn(log *slog.Logger) {
	file := filepath.Join(c.Dir, configFile)
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		log.Warn("configuration_readable_by_others", "file", file, "mend", "chmod 600 "+file)
	}
	if _, err := exec.LookPath(expandHome(c.Claude, c.home)); err != nil {
		log.Warn("claude_missing", "command", c.Claude, "mend", "install Claude Code, or set CLAUDE_COMMAND to its path")
	}
}

// privateDir makes a folder that only its owner can look into, and closes one
// that others could.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(dir, 0o700)
}

func hookBinary() (string, error) {
	me, err := self()
	if err != nil {
		return "", err
	}
	hook, err := hooks.FindHookBinary(me)
	if err != nil {
		return "", usage(fmt.Errorf("%w: it belongs beside %s; build or copy both", err, me))
	}
	return hook, nil
}

// system is every part of a running ccbot.
type system struct {
	config
	log       *slog.Logger
	tmux      *tmux.Client
	store     *session.Store
	inbox     *inbox.Store
	outbox    *outbox.Outbox
	lifecycle *lifecycle.Service
	recovery  *recovery.Recovery
	events    *hooks.Events
	presence  *presence.Watcher
	keeper    *archive.Keeper
	bot       *bot.Bot
	prompts   bot.Prompts
	asks      *ask.Store
	dialogs   *bot.Dialogs
	table     *process.Table
	relay     *hooks.Relay
	socket    *control.Server
	claude    *hooks.Binary
	start     func(ctx context.Context) (username string, menu func(map[string]string), err error)
}

// wire makes the parts and connects them; nothing runs yet. ctx is that of the run.
func wire(ctx context.Context, c config, environ []string, hook string, table *process.Table, log *slog.Logger) (*system, error) {
	s := &system{config: c, log: log, table: table, relay: hooks.NewRelay(time.Now, log)}
	instance, err := instanceID(c.Dir)
	if err != nil {
		return nil, err
	}
	if err := s.openStores(); err != nil {
		return nil, err
	}
	s.tmux, err = tmux.New(tmux.Config{Socket: c.TmuxSocket, Session: c.TmuxSession, Instance: instance,
		Env: serverEnv(environ), Log: log, Start: startOf(table)})
	if err != nil {
		return nil, machineError(err)
	}
	api, err := newTelegram(c)
	if err != nil {
		return nil, err
	}
	s.outbox = outbox.New(api, filepath.Join(c.Dir, "outbox"), log)
	if err := s.wireBot(ctx, instance, environ, hook, table); err != nil {
		return nil, err
	}
	s.start = func(ctx context.Context) (string, func(map[string]string), error) {
		me, err := connect(ctx, api, log)
		if err != nil {
			return "", nil, err
		}
		return me.Username, func(menu map[string]string) { publish(ctx, api, menu, log) }, nil
	}
	return s, nil
}

func (s *system) openStores() (err error) {
	s.store, err = session.Open(filepath.Join(s.Dir, "sessions"), filepath.Join(s.Dir, "quarantine"), time.Now, s.log)
	if err != nil {
		return err
	}
	s.inbox, err = inbox.OpenStore(filepath.Join(s.Dir, "inbox"), s.log)
	if err != nil {
		return err
	}
	s.prompts = bot.Prompts{Inbox: s.inbox}
	return os.MkdirAll(filepath.Join(s.Dir, "events"), 0o700)
}

// openAsks reads what the chat shows of what agents and terminals ask.
func (s *system) openAsks() (err error) {
	aside := filepath.Join(s.Dir, "quarantine")
	s.asks, err = ask.Open(filepath.Join(s.Dir, "asks"), aside, s.log)
	if err != nil {
		return err
	}
	s.dialogs, err = bot.OpenDialogs(filepath.Join(s.Dir, "dialogs"), aside, s.log)
	return err
}

// wireBot connects what happens to sessions with what is said in the chat.
func (s *system) wireBot(ctx context.Context, instance string, environ []string, hook string, table *process.Table) error {
	words, err := i18n.Load()
	if err != nil {
		return err
	}
	chats, err := bot.OpenChats(filepath.Join(s.Dir, "chats"))
	if err != nil {
		return err
	}
	if err := s.openAsks(); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	s.bot = bot.New(
		bot.Config{Allowed: s.AllowedUsers.set(), Groups: s.AllowedChats.set(), Lang: s.Lang, Home: s.home, Roots: s.roots,
			StateDir: s.Dir},
		bot.Deps{Records: s.store, Sender: s.outbox, Entries: s.inbox, Chats: chats, Relay: s.relay, Asks: s.asks,
			Dialogs: s.dialogs, Words: words, Now: time.Now, Log: s.log, Failpoint: failpoint(environ)})
	env, unset := s.agentEnv(environ)
	env["PATH"] = withFolder(env["PATH"], filepath.Dir(hook))
	s.claude = s.installed(environ)
	launches := hooks.Launch{Dir: s.Dir, HookBinary: hook, Mode: s.PermissionMode, ConfigDir: s.ClaudeDir,
		Version: func() string { return s.claude.Version(ctx) }}
	s.lifecycle = lifecycle.New(
		lifecycle.Config{Instance: instance, Host: host, StateDir: s.Dir, Command: expandHome(s.Claude, s.home),
			Flags: s.flags, Env: env, Unset: unset, ProjectsDir: s.projectsDir(),
			KillGrace: time.Duration(s.KillGrace)},
		lifecycle.Deps{Store: s.store, Tmux: s.tmux, Processes: table, Presences: presence.Dir{Path: s.presenceDir()},
			Launches: launches, Relays: s.relay, Prompts: s.prompts, News: s.bot,
			Status:   func(id uuid.UUID) (hookwire.Status, error) { return hooks.Status(s.Dir, id) },
			Bindings: func() ([]hookwire.Binding, []error) { return hooks.Bindings(s.Dir) },
			Now:      time.Now, Log: s.log, Failpoint: failpoint(environ)})
	s.recovery = &recovery.Recovery{Instance: instance, Session: s.TmuxSession, Store: s.store, Tmux: s.tmux,
		Processes: table, Lifecycle: s.lifecycle, Now: time.Now, Log: s.log}
	s.bot.Connect(s.lifecycle, func(ctx context.Context) []tmux.Pane { return s.recovery.Look(ctx).Orphans() })
	s.events = hooks.NewEvents(s.Dir, s.lifecycle, s.log)
	s.recovery.Events = s.events.Drain
	s.keeper = &archive.Keeper{Sessions: s.lifecycle, Records: s.store, Clear: s.clear(launches),
		IdleAfter: time.Duration(s.IdleAfter), PurgeAfter: time.Duration(s.PurgeAfter), Now: time.Now, Log: s.log}
	s.relay.Connect(s.bot)
	s.socket = socket{agents: s.lifecycle, relay: s.relay, files: s.bot, projects: s.projectsDir(), hook: hook, now: time.Now,
		log: s.log}.server(s.Dir, table)
	s.presence = presence.NewWatcher(s.presenceDir(), s.lifecycle.WakeAgent, s.log)
	s.tmux.OnChange(s.lifecycle.WakeAll)
	return nil
}

// installed is the Claude Code that launches start. Asked for its version it gets
// no secret, not even its own.
func (s *system) installed(environ []string) *hooks.Binary {
	env := append(serverEnv(environ), "DISABLE_AUTOUPDATER=1")
	if s.claudeDirSet {
		env = append(env, "CLAUDE_CONFIG_DIR="+s.ClaudeDir)
	}
	return &hooks.Binary{Command: expandHome(s.Claude, s.home), Env: env, Log: s.log}
}

// askVersion has the version known before the first launch wants it: a large
// binary that is not in memory takes seconds.
func (s *system) askVersion(ctx context.Context) error {
	s.claude.Version(ctx)
	return nil
}

// clear gives what comes before a record is forgotten: prompts that still wait
// for it are told, then go what it asked, its launch settings and its status.
func (s *system) clear(launches hooks.Launch) func(context.Context, session.Record) error {
	return func(ctx context.Context, r session.Record) error {
		waiting, err := s.prompts.Waiting()
		if err != nil {
			return err
		}
		if err := s.bot.Homeless(ctx, waiting[r.ID]); err != nil {
			return err
		}
		return errors.Join(s.bot.Forget(r.ID), launches.Remove(r.ID))
	}
}

func (s *system) projectsDir() string { return filepath.Join(s.ClaudeDir, "projects") }

func (s *system) presenceDir() string { return filepath.Join(s.ClaudeDir, "sessions") }

// watchPresence begins the watch again when it is lost, because its folder cannot
// be read: what it tells is then found a little later by other looks.
func (s *system) watchPresence(ctx context.Context) error {
	for {
		err := s.presence.Run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.log.Warn("presence_watch_lost", "error", err.Error(), "again_in", presenceRetry)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(presenceRetry):
		}
	}
}

const presenceRetry = 30 * time.Second

// run recovers first and handles updates then.
func (s *system) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.tmux.Run(ctx) })
	g.Go(func() error { return s.serve(ctx, g) })
	err := g.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	if errors.Is(err, inbox.ErrRevoked) || errors.Is(err, outbox.ErrRevoked) {
		return errRevoked
	}
	return err
}

func (s *system) serve(ctx context.Context, g *errgroup.Group) error {
	if err := s.recover(ctx); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{s.outbox.Run, s.lifecycle.Run, s.events.Run, s.watchPresence,
		s.keeper.Run, s.serveSocket, s.askVersion} {
		g.Go(func() error { return part(ctx) })
	}
	username, publishMenu, err := s.start(ctx)
	if err != nil {
		return err
	}
	s.bot.Username = username
	publishMenu(s.bot.Published())
	intake := inbox.NewIntake(inbox.Config{Client: &http.Client{}, API: s.APIURL, Token: string(s.Token),
		Store: s.inbox, Handler: s.bot, Reporter: s.bot, Log: s.log, Allowed: []string{"message", "callback_query"}})
	g.Go(func() error { return s.bot.Run(ctx) })
	s.log.Info("ready", "bot", username, "dir", s.Dir, "sessions", len(s.store.List()))
	return intake.Run(ctx)
}

// recover makes the world right before anything new is taken on.
func (s *system) recover(ctx context.Context) error {
	if err := s.tmux.Ensure(ctx); err != nil {
		return machineError(err)
	}
	waiting, err := s.prompts.Waiting() // sets aside what cannot be read, before anything needs it
	if err != nil {
		return err
	}
	if _, err := s.recovery.Run(ctx); err != nil {
		return err
	}
	if err := hooks.PruneBindings(s.Dir, s.ended); err != nil {
		s.log.Warn("bindings_not_pruned", "error", err.Error())
	}
	for id, keys := range waiting {
		err := s.lifecycle.SettlePrompts(ctx, id, keys)
		if errors.Is(err, session.ErrNotFound) {
			err = s.bot.Homeless(ctx, keys)
		}
		if err != nil {
			s.log.Error("prompts_not_settled", "session_id", id.String(), "error", err.Error())
		}
	}
	return nil
}

// ended says whether the process of a hook's binding is proven gone.
func (s *system) ended(b hookwire.Binding) bool {
	return s.table.Liveness(process.Identity{PID: b.PID, Start: b.Start, Boot: b.Boot}) == process.Gone
}

// startOf gives the start time of a process, which tells a tmux server from
// the next one with its pid.
func startOf(table *process.Table) func(int) (uint64, error) {
	return func(pid int) (uint64, error) {
		id, err := table.Identify(pid)
		return id.Start, err
	}
}

// machineError says what to install.
func machineError(err error) error {
	if errors.Is(err, tmux.ErrNoTmux) || errors.Is(err, tmux.ErrTooOld) {
		return usage(fmt.Errorf("%w; on Debian or Ubuntu: sudo apt-get install tmux", err))
	}
	return err
}

// instanceID is the random name of this ccbot, made once: it tells its windows
// from those of another ccbot on the same tmux server.
func instanceID(dir string) (string, error) {
	path := filepath.Join(dir, "instance")
	data, err := os.ReadFile(path)
	if id := strings.TrimSpace(string(data)); err == nil && tmuxName.MatchString(id) {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	id := strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	if err := renameio.WriteFile(path, []byte(id+"\n"), 0o600, renameio.WithTempDir(dir)); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return id, nil
}
