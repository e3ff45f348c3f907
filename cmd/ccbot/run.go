package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/go-telegram/bot/models"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/internal/logkey"
	"ccbot/internal/token"
)

// runBot runs the bot until ctx ends. Its error never contains the token, wherever the error comes
// from.
func runBot(ctx context.Context, environ []string, changes []served, stderr io.Writer) error {
	if err := harden(); err != nil {
		return err
	}
	c, err := loadConfig(environ)
	if err != nil {
		return err
	}
	return c.Token.CleanError(runWith(ctx, c, environ, changes, stderr))
}

func runWith(ctx context.Context, c config, environ []string, changes []served, stderr io.Writer) error {
	log := newLog(c, stderr)
	foreignLog(c, stderr)
	c.warn(log)
	hook, err := hookBinary()
	if err != nil {
		return err
	}
	s, err := begin(ctx, c, "run", hook, environ, log)
	if err != nil {
		return err
	}
	defer s.end()
	s.served = changes
	if err := s.listenMetrics(ctx); err != nil {
		return err
	}
	return statefolder.Error(c.Dir, s.run(ctx))
}

// begin takes the lock and makes all parts; nothing runs yet.
func begin(ctx context.Context, c config, role, hook string, environ []string, log *slog.Logger) (*system, error) {
	table, held, err := statefolder.Take(ctx, c.Dir, role, c.KillGrace, log)
	if err != nil {
		return nil, err
	}
	since := time.Now() // an agent that is launched later was launched by this ccbot
	s, err := wire(ctx, c, environ, hook, table, log)
	if err != nil {
		return nil, errors.Join(statefolder.Error(c.Dir, err), held.Close())
	}
	s.recovery.Since = since
	s.end = func() { _ = held.Close() } // the process ends too, and the lock with it
	return s, nil
}

// warn reports at the start conditions that will cause trouble later.
func (c config) warn(log *slog.Logger) {
	file := filepath.Join(c.Dir, statefolder.SettingsFile)
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		log.Warn("configuration_readable_by_others", logkey.File, file, logkey.Mend, "chmod 600 "+file)
	}
	if _, err := exec.LookPath(expandHome(c.Claude, c.home)); err != nil {
		log.Warn("claude_missing", logkey.Command, c.Claude, logkey.Mend, "install Claude Code, or set CLAUDE_COMMAND to its path")
	}
	if command := c.voiceCommand(); command != "" {
		if _, err := exec.LookPath(command); err != nil {
			log.Warn("voice_command_missing", logkey.Command, command, logkey.Mend, "set VOICE_COMMAND to a command that is there")
		}
	}
	for _, name := range c.unknown {
		nearest := nearestSetting(name)
		if nearest == "" && !settingName.MatchString(name) {
			name = "not shown" // a token in the wrong place, perhaps
		}
		log.Warn("setting_unknown", logkey.File, file, logkey.Name, name, logkey.Nearest, nearest)
	}
}

// settingName matches names that look like the name of a setting.
var settingName = regexp.MustCompile(`^[A-Z_]{2,40}$`)

// run recovers first, and handles updates only after that.
func (s *system) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.tmux.Run(ctx) })
	g.Go(func() error { return s.watch.Run(ctx) })
	g.Go(func() error { return s.metrics.Run(ctx) })
	g.Go(func() error { return s.service.Run(ctx) })
	g.Go(func() error { return s.serve(ctx, g) })
	err := g.Wait()
	s.talk.Close()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	if errors.Is(err, inbox.ErrRevoked) || errors.Is(err, outbox.ErrRevoked) {
		return telegram.ErrRevoked
	}
	return err
}

func (s *system) serve(ctx context.Context, g *errgroup.Group) error {
	report, err := s.recover(ctx)
	if err != nil {
		return err
	}
	s.tell(ctx, report)
	s.recovery.Tell = s.recovered // set only now, because one message reports the whole start
	for _, part := range []func(context.Context) error{s.outbox.Run, s.lifecycle.Run, s.events.Run, s.presence.Run,
		s.keeper.Run, s.serveSocket, s.claude.Run, s.tellLosses, s.room.Run} {
		g.Go(func() error { return part(ctx) })
	}
	g.Go(func() error { return statefolder.KeepAlive(ctx, s.Dir, s.log) })
	me, err := s.start(ctx)
	if err != nil {
		return err
	}
	s.bot.Username, s.bot.Threaded = me.Username, me.HasTopicsEnabled
	client := func() *http.Client { return telegram.Client(s.Token, s.APIURL) }
	intake := inbox.NewIntake(inbox.Config{Client: client(), Connect: client, API: s.APIURL, Token: token.Standin,
		Unkept: s.unkept, Pulse: s.service.Pulse, Seen: s.seen, Hears: s.bot.Hears, Moves: s.bot.Moves.Note, Store: s.inbox, Handler: s.bot, Reporter: s.bot, Log: s.log,
		Allowed: []string{"message", "edited_message", "callback_query"}})
	g.Go(func() error { return s.bot.Run(ctx) })
	g.Go(func() error { return s.menus.Run(ctx, me.ID) })
	g.Go(func() error { return s.machine.Received.Run(ctx, s.InboxTTL, s.bot.Prompts.Awaited) })
	s.service.Begun(me.Username)
	s.log.Info("ready", logkey.Bot, me.Username, logkey.Dir, s.Dir, logkey.Sessions, len(s.store.Shared()))
	return intake.Run(ctx)
}

// unkept returns what can still be done about a message that the disk refuses, and makes the disk
// be looked at.
func (s *system) unkept(u *models.Update) func(ctx context.Context) error {
	s.room.Refused()
	return s.bot.Unkept(u)
}
