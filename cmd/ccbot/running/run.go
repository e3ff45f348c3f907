package running

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/go-telegram/bot/models"
	"golang.org/x/sync/errgroup"

	"ccbot/agent"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/internal/logkey"
	"ccbot/internal/loglimit"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/token"
)

// Run runs the bot of that version until ctx ends; it reads the settings again on each reload. Its
// error never contains the token, wherever the error comes from.
func Run(ctx context.Context, environ []string, version string, reload <-chan os.Signal, stderr io.Writer) (err error) {
	if err := Harden(); err != nil {
		return err
	}
	c, err := config.Load(environ)
	if err != nil {
		return err
	}
	defer func() { err = c.Token.CleanError(err) }()
	if err := c.TrustCertificates(); err != nil {
		return err
	}
	level := new(slog.LevelVar)
	level.Set(c.Level())
	stderr, ready := greetingAt(stderr)
	defer ready("")
	log := c.Masked(loglimit.New(c.Handler(level, stderr)))
	stdlog.SetFlags(0)
	// Such as net/http with GODEBUG=http2debug=1, which shows every URL.
	stdlog.SetOutput(libraryLog{log})
	warn(c, env.ToMap(environ)["PATH"], log)
	hook, err := offline.HookBinary()
	if err != nil {
		return err
	}
	s, err := begin(ctx, c, "run", hook, environ, log)
	if err != nil {
		return err
	}
	defer s.end()
	s.environ, s.level, s.version, s.ready = environ, level, version, ready
	if err := s.metrics.Listen(ctx, c.MetricsAddr); err != nil {
		return err
	}
	return statefolder.Error(c.Dir, s.run(ctx, reload))
}

// libraryLog writes the lines that libraries log.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) Write(line []byte) (int, error) {
	l.log.Warn("library_logged", logkey.Error, errors.New(strings.TrimSpace(string(line))))
	return len(line), nil
}

// begin takes the lock and makes all parts; nothing runs yet.
func begin(ctx context.Context, c config.Config, role, hook string, environ []string, log *slog.Logger) (*system, error) {
	h := &offline.Hook{Path: hook}
	return beginWith(ctx, c, offline.AgentsToStart(c, h), role, h, environ, log)
}

// beginWith is begin with some coding agents.
func beginWith(ctx context.Context, c config.Config, coding agent.Agents, role string, hook *offline.Hook, environ []string, log *slog.Logger) (*system, error) {
	table, held, err := statefolder.Take(ctx, c.Dir, role, c.KillGrace, log)
	if errors.Is(err, exit.ErrRunning) {
		return nil, fmt.Errorf("%w: stop it first; a second bot needs another CCBOT_DIR", err)
	}
	if err != nil {
		return nil, err
	}
	if err := statefolder.CheckBot(c.Dir, c.Token.Bot()); err != nil {
		return nil, errors.Join(statefolder.Error(c.Dir, err), held.Close())
	}
	since := time.Now() // an agent that is launched later was launched by this ccbot
	s, err := wire(ctx, c, coding, environ, hook, table, log)
	if err != nil {
		return nil, errors.Join(statefolder.Error(c.Dir, err), held.Close())
	}
	s.recovery.Since = since
	held.Guard()
	s.held = held
	s.end = func() { // the process ends too, and the lock with it
		_ = errors.Join(s.suspects.Close(), held.Close())
	}
	return s, nil
}

// warn reports at the start conditions that will cause trouble later.
func warn(c config.Config, path string, log *slog.Logger) {
	foreign, err := statefolder.ForeignFolders(path)
	if err != nil {
		log.Warn("path_unknown", logkey.Error, err)
	}
	for _, f := range foreign {
		log.Warn("path_writable_by_others", logkey.Folder, f.Folder, logkey.Why, f.Why, logkey.Fix, "take it out of PATH")
	}
	file := c.File
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		log.Warn("configuration_readable_by_others", logkey.File, file, logkey.Fix, "chmod 600 "+file)
	}
	if _, err := exec.LookPath(c.ClaudeCommand()); err != nil {
		log.Warn("claude_missing", logkey.Command, c.Claude, logkey.Fix, "install Claude Code, or set CLAUDE_COMMAND to its path")
	}
	if command := c.VoiceCommand(); command != "" {
		if _, err := exec.LookPath(command); err != nil {
			log.Warn("voice_command_missing", logkey.Command, command, logkey.Fix, "set VOICE_COMMAND to a command that is there")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Unknown)) {
		log.Warn("setting_unknown", logkey.File, file, logkey.Name, name, logkey.Nearest, c.Unknown[name])
	}
}

// drainTime is how long a stop may take to finish what is in hand. Together with the last second of
// the outbox it is five seconds.
const drainTime = 4 * time.Second

// startTime is how long all parts take at most to look at everything for the first time. The
// runtime alone would keep the memory that this took, several times what ccbot needs afterwards.
const startTime = 5 * time.Second

// run recovers first, and handles updates only after that. The end of asked asks it to stop.
func (s *system) run(asked context.Context, reload <-chan os.Signal) error {
	whole, end := context.WithCancel(context.WithoutCancel(asked))
	defer end()
	g, ctx := errgroup.WithContext(whole)
	s.lasting = lastingIn(ctx)
	stopping, stop := context.WithCancel(ctx)
	context.AfterFunc(asked, stop)
	s.stop = stop
	g.Go(func() error { return s.tmux.Run(ctx) })
	g.Go(func() error { return s.watch.Run(ctx) })
	g.Go(func() error { return s.held.Run(ctx, s.watch, s.log) })
	g.Go(func() error { return s.metrics.Run(ctx) })
	g.Go(func() error { return s.service.Run(stopping) })
	g.Go(func() error { return s.reloadAt(ctx, reload) })
	g.Go(func() error {
		<-stopping.Done()
		_ = pause.For(ctx, drainTime)
		end()
		return nil
	})
	g.Go(func() error {
		err := s.serve(ctx, stopping, g)
		if err == nil { // an error ends the others as well, and has to be the first one
			end()
		}
		return err
	})
	err := g.Wait()
	s.talk.Close()
	if err := s.store.SaveKept(context.WithoutCancel(asked)); err != nil {
		s.log.Warn("record_not_saved", logkey.Error, err)
	}
	if errors.Is(err, inbox.ErrRevoked) {
		return telegram.ErrRevoked
	}
	if err == nil || errors.Is(err, context.Canceled) {
		s.stopped()
		return nil
	}
	return err
}

// serve works until ctx ends. When asked ends, at any step of a recovery, it first finishes its
// running work, and sends what may be sent at once.
func (s *system) serve(ctx, asked context.Context, g *errgroup.Group) error {
	report, err := s.recover(asked)
	switch {
	case asked.Err() != nil && err != nil: // tmux or git, ended by the stop, reports only the signal
		return asked.Err()
	case err != nil:
		return err
	}
	s.loops.Settle(asked)
	s.reportRecovery(ctx, report)
	s.reportUnread(ctx)
	s.recovery.Notify = s.recovered // set only now, because one message reports the whole start
	for _, part := range []func(context.Context) error{s.outbox.Run, s.lifecycle.Run, s.events.Run, s.presences,
		s.keeper.Run, s.loops.Run, s.schedules.Run, s.claude.Run, s.reportLosses, s.room.Run, s.pruneBindings} {
		g.Go(func() error { return part(ctx) })
	}
	g.Go(func() error { return reportOldClaude(ctx, s.Dir, s.claude, s.bot.Chat, s.log) })
	g.Go(func() error { return s.socket.Run(ctx, s.Dir, s.table, s.changes()) })
	g.Go(func() error { return statefolder.KeepAlive(ctx, s.Dir, process.Clock{Table: s.table}, s.log) })
	me, err := s.start(asked)
	if err != nil {
		return err
	}
	s.bot.Username, s.bot.Threaded = me.Username, me.HasTopicsEnabled
	client := func() *http.Client { return telegram.Client(s.Token, s.APIURL, s.Proxy()) }
	intake := inbox.NewIntake(inbox.Config{Client: client(), Connect: client, API: s.APIURL, Token: token.Standin,
		Unkept: func(u *models.Update) func(context.Context) error {
			s.room.Refused() // the disk is checked
			return s.bot.Unkept(u)
		},
		Moves: func(from, to int64) (bool, error) { return allowedGroups{s}.moved(ctx, from, to) },
		Pulse: s.service.Pulse, Seen: s.seen, IsAuthorized: allowedGroups{s}.authorize(ctx), Store: s.inbox, Handler: s.bot, Reporter: s.bot, Log: s.log})
	g.Go(func() error { return s.bot.Run(ctx) })
	s.fleet.begin(ctx, g.Go, s.Dir, s.log)
	g.Go(func() error { return s.menus.Run(ctx, me.ID) })
	g.Go(func() error { return s.machine.Received.Run(ctx, s.InboxTTL, s.bot.Prompts.Awaited, s.ended) })
	s.service.Begun(me.Username)
	s.ready("@" + me.Username + " is ready: send /new")
	s.log.Info("ready", logkey.Bot, me.Username, logkey.Dir, s.Dir, logkey.Sessions, len(s.store.Shared()))
	g.Go(func() error {
		_, _ = s.hook.Digests.Of(s.hook.Path) // it is kept, so that no launch waits for it
		_ = pause.For(ctx, startTime)
		giveBack()
		return nil
	})
	if err := intake.Run(ctx, asked); err != nil {
		return err
	}
	outbox.Flush(ctx, s.outbox)
	return nil
}

// stopped logs what a stop has left for the next start.
func (s *system) stopped() {
	entries, _ := s.inbox.List()
	// Nothing continues by itself.
	entries = slices.DeleteFunc(entries, func(e inbox.Entry) bool { return e.State == inbox.Asked })
	unsent, _ := filepath.Glob(filepath.Join(s.Dir, "outbox", "*.json"))
	s.log.Info("stopped", logkey.Unfinished, len(entries), logkey.Unsent, len(unsent))
}
