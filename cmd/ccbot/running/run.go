package running

import (
	"context"
	"errors"
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

	"ccbot/agent"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/internal/logkey"
	"ccbot/internal/loglimit"
	"ccbot/internal/pause"
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
	s.level, s.version = level, version
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
	settings, err := engine.Take(ctx, c, role, log)
	if err != nil {
		return nil, err
	}
	settings.Coding, settings.Hook, settings.Environ = coding, hook, environ
	s, err := wire(ctx, settings)
	if err != nil {
		return nil, errors.Join(statefolder.Error(c.Dir, err), settings.Held.Close())
	}
	s.end = func() { _ = s.Close() } // the process ends too, and the lock with it
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
	if _, err := exec.LookPath(c.ClaudeCommand()); err != nil && offline.InsteadOfClaude(c) == "" {
		log.Warn("claude_missing", logkey.Command, c.Claude, logkey.Fix, offline.InstallAgent)
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

// startTime is how long all parts take at most to look at everything for the first time. The
// runtime alone would keep the memory that this took, several times what ccbot needs afterwards.
const startTime = 5 * time.Second

// run recovers first, and handles updates only after that. The end of asked asks it to stop.
func (s *system) run(asked context.Context, reload <-chan os.Signal) error {
	err := s.Run(asked, engine.Program{Start: startOf{s}, Verbs: s.changes(), Serve: s.serve, Begin: func(l engine.Life) {
		l.Go(s.metrics.Run)
		l.Go(func(context.Context) error { return s.service.Run(l.Stopping) })
		l.Go(func(ctx context.Context) error { return s.reloadAt(ctx, reload) })
	}})
	if errors.Is(err, inbox.ErrRevoked) {
		return telegram.ErrRevoked
	}
	if err == nil || errors.Is(err, context.Canceled) {
		s.stopped()
		return nil
	}
	return err
}

// serve runs the chat until the program is asked to stop. Then it finishes its running work, and
// sends what may be sent at once.
func (s *system) serve(l engine.Life) error {
	ctx, asked := l.Ctx, l.Stopping
	l.Go(s.outbox.Run)
	l.Go(s.room.Run)
	l.Go(func(ctx context.Context) error { return reportOldClaude(ctx, s.Dir, s.Binary, s.bot.Chat, s.Log) })
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
		Pulse: s.service.Pulse, Seen: s.Seen, IsAuthorized: allowedGroups{s}.authorize(ctx), Store: s.inbox, Handler: s.bot, Reporter: s.bot, Log: s.Log})
	l.Go(s.bot.Run)
	s.fleet.begin(ctx, l.Group.Go)
	l.Go(func(ctx context.Context) error { return s.menus.Run(ctx, me.ID) })
	s.service.Begun(me.Username)
	s.Log.Info("ready", logkey.Bot, me.Username, logkey.Dir, s.Dir, logkey.Sessions, len(s.Store.Shared()))
	l.Go(func(ctx context.Context) error {
		_, _ = s.Hook.Digests.Of(s.Hook.Path) // it is kept, so that no launch waits for it
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
	s.Log.Info("stopped", logkey.Unfinished, len(entries), logkey.Unsent, len(unsent))
}
