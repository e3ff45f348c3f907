package running

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/metrics"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/socket"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/fleet/member"
	"ccbot/fleet/rpc"
	fleetwire "ccbot/fleet/wire"
	"ccbot/internal/gauge"
	"ccbot/internal/health"
	"ccbot/internal/logkey"
	"ccbot/internal/loglimit"
	"ccbot/internal/session"
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
	e, err := beginHost(ctx, c, hook, environ, log)
	if err != nil {
		return err
	}
	defer e.Close() // the process ends too, and the lock with it
	m, err := member.Open(FleetFolder(c.Dir), log)
	if errors.Is(err, member.ErrNone) {
		return exit.Usage(fmt.Errorf("%w: `ccbot join CODE` does that", err))
	}
	if err == nil {
		err = statefolder.Error(c.Dir, runHost(ctx, e, m, version))
	}
	if errors.Is(err, member.ErrRemoved) {
		err = exit.Usage(fmt.Errorf("%w; its sessions stay in tmux, and `ccbot join CODE` lets it in again", err))
	}
	if errors.Is(err, member.ErrReplaced) { // a service starts again
		err = fmt.Errorf("%w: start `ccbot host run` again", err)
	}
	return err
}

// beginHost takes the lock and makes the engine of a host; nothing runs yet.
func beginHost(ctx context.Context, c config.Config, hook string, environ []string, log *slog.Logger) (*engine.Engine, error) {
	settings, err := engine.Take(ctx, c, "run", log)
	if err != nil {
		return nil, err
	}
	settings.Hook, settings.Environ = &offline.Hook{Path: hook}, environ
	settings.Coding = offline.AgentsToStart(c, settings.Hook)
	e := (*engine.Engine)(nil)
	settings.Counts = metrics.New(func() map[session.State]int { return e.States() })
	settings.Prompts, err = engine.OpenPrompts(c.Dir, log)
	if err == nil {
		settings.Prompts.Later, settings.Prompts.Failpoint = true, engine.Failpoint(environ)
		settings.Planned = engine.Own{Prompts: settings.Prompts}
		e, err = engine.Open(ctx, settings)
	}
	if err != nil {
		return nil, errors.Join(statefolder.Error(c.Dir, err), settings.Held.Close())
	}
	return e, nil
}

// runHost recovers first, and makes calls of the chat only after that.
func runHost(ctx context.Context, e *engine.Engine, m *member.Member, version string) error {
	e.Connect(context.WithoutCancel(ctx), m.News())
	server := fleetwire.Server{Name: m.Admission.Name, Machine: machineOf(e)}
	s := &system{Engine: e}
	began := time.Now()
	own := figures
	own.do = func(ctx context.Context, _ *system, _ struct{}) (health.Figures, error) {
		return ofHost(ctx, e, m, version, began), nil
	}
	verbs := map[string]socket.Change{Ending.Verb: Ending.by(s), own.Verb: own.by(s)}
	err := e.Run(ctx, engine.Program{Start: hostStart{e}, Verbs: verbs, Serve: func(l engine.Life) error {
		l.Go(func(ctx context.Context) error {
			return m.Run(ctx, server.Answer, func() rpc.Beat { return beatOf(ctx, e, version) })
		})
		e.Log.Info("ready", logkey.Name, m.Admission.Name, logkey.Dir, e.Dir, logkey.Sessions, len(e.Store.Shared()))
		<-l.Stopping.Done()
		return nil
	}})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// beatOf returns the status that this machine reports.
func beatOf(ctx context.Context, e *engine.Engine, version string) rpc.Beat {
	b := rpc.Beat{Version: version, Load: gauge.Load(ctx), Clock: time.Now().UTC()}
	for state, n := range e.States() {
		if state.Live() {
			b.Agents += n
		}
	}
	if room, err := gauge.Disk(ctx, e.Dir); err == nil {
		b.DiskFree, b.DiskSize = int64(room.Free), int64(room.Total) //nolint:gosec // of a disk
	}
	return b
}

// hostStart implements engine.Start on a machine whose chat is on another one.
type hostStart struct{ e *engine.Engine }

// Agree implements engine.Start: the chat repeats the offers that were not answered.
func (h hostStart) Agree(context.Context) error { return h.e.Prompts.ReportAll() }

// Settle implements engine.Start. The chat decides about the prompts of a session that is not
// there.
func (h hostStart) Settle(ctx context.Context) error {
	return settle(ctx, h.e, func(_ context.Context, keys []string) (err error) {
		for _, key := range keys {
			err = errors.Join(err, h.e.Prompts.TakeBack(key, 0, false))
		}
		return err
	})
}
