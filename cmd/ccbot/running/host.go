package running

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/socket"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/fleet/member"
	"ccbot/fleet/rpc"
	fleetwire "ccbot/fleet/wire"
	"ccbot/hooks"
	"ccbot/internal/control"
	"ccbot/internal/gauge"
	"ccbot/internal/logkey"
	"ccbot/internal/loglimit"
	"ccbot/internal/process"
)

// RunHost runs the sessions of this machine for a chat on another machine, which it has joined,
// until ctx ends. It needs no token, and works on while the hub or the chat is away.
func RunHost(ctx context.Context, environ []string, version string, stderr io.Writer) error {
	if err := Harden(); err != nil {
		return err
	}
	c, err := config.LoadForHost(environ)
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	level.Set(c.Level())
	log := c.Masked(loglimit.New(c.Handler(level, stderr)))
	hook, err := offline.HookBinary()
	if err != nil {
		return err
	}
	s, err := begin(ctx, c, "run", hook, environ, log)
	if err != nil {
		return err
	}
	defer s.end()
	m, err := member.Open(FleetFolder(c.Dir), log)
	if errors.Is(err, member.ErrNone) {
		return exit.Usage(fmt.Errorf("%w: `ccbot join CODE` does that", err))
	}
	if err != nil {
		return err
	}
	s.environ, s.level, s.version = environ, level, version
	return statefolder.Error(c.Dir, runHost(ctx, s, m))
}

// runHost recovers first, and makes calls of the chat only after that.
func runHost(asked context.Context, s *system, m *member.Member) error {
	s.receipts.Chat = m.News()
	s.relay.Connect(noChat{})
	s.socket.Files = noChat{}
	g, ctx := errgroup.WithContext(asked)
	s.lasting = lastingIn(ctx)
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	s.stop = stop
	for _, part := range []func(context.Context) error{s.tmux.Run, s.watch.Run,
		func(ctx context.Context) error { return s.held.Run(ctx, s.watch, s.log) }} {
		g.Go(func() error { return part(ctx) })
	}
	g.Go(func() error {
		<-stopping.Done()
		return stopping.Err() // which ends the others
	})
	g.Go(func() error {
		report, err := s.recover(ctx)
		if err != nil {
			return err
		}
		s.loops.Settle(ctx)
		s.log.Debug("host_recovered", logkey.Actions, len(report.Results)) // there is no chat to be told
		server := fleetwire.Server{Name: m.Admission.Name, Machine: s.bot.Machine}
		for _, part := range []func(context.Context) error{s.lifecycle.Run, s.events.Run, s.presences, s.keeper.Run, s.loops.Run,
			s.schedules.Run, s.claude.Run, s.pruneBindings,
			func(ctx context.Context) error { return s.socket.Run(ctx, s.Dir, s.table, hostVerbs(s)) },
			func(ctx context.Context) error {
				return statefolder.KeepAlive(ctx, s.Dir, process.Clock{Table: s.table}, s.log)
			},
			func(ctx context.Context) error {
				return m.Run(ctx, server.Answer, func() rpc.Beat { return beatOf(ctx, s) })
			}} {
			g.Go(func() error { return part(ctx) })
		}
		s.log.Info("ready", logkey.Name, m.Admission.Name, logkey.Dir, s.Dir, logkey.Sessions, len(s.store.Shared()))
		return nil
	})
	err := g.Wait()
	s.talk.Close()
	if err := s.store.SaveKept(context.WithoutCancel(asked)); err != nil {
		s.log.Warn("record_not_saved", logkey.Error, err)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// hostVerbs are the verbs that need no chat.
func hostVerbs(s *system) map[string]socket.Change {
	return map[string]socket.Change{Ending.Verb: Ending.by(s), stopping.Verb: stopping.by(s)}
}

// beatOf returns the status that this machine reports.
func beatOf(ctx context.Context, s *system) rpc.Beat {
	b := rpc.Beat{Version: s.version}
	for _, r := range s.store.Shared() {
		if r.State.Live() {
			b.Agents++
		}
	}
	if room, err := gauge.Disk(ctx, s.Dir); err == nil {
		b.DiskFree, b.DiskSize = int64(room.Free), int64(room.Total) //nolint:gosec // of a disk
	}
	return b
}

// noChat takes the place of the chat on a machine without one.
type noChat struct{}

var errNoChat = errors.New("the chat is on another machine")

// OnRequest leaves a permission request to the terminal.
func (noChat) OnRequest(context.Context, hooks.Request) error { return errNoChat }

// OnLeft does nothing, because OnRequest took nothing.
func (noChat) OnLeft(context.Context, hooks.Request) {}

// SendFile refuses a file.
func (noChat) SendFile(context.Context, uuid.UUID, string, string) error {
	return control.Refuse(control.CodeRefused, errNoChat.Error()+", which takes no files yet")
}
