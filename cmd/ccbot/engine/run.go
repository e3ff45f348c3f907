package engine

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/cmd/ccbot/socket"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/host"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/spool"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/recovery"
)

// Program is a program that contains an engine.
type Program struct {
	Start Start
	Verbs map[string]socket.Change // at the socket, besides those of agents
	// Begin starts the parts that run during the recovery as well. It may be nil.
	Begin func(l Life)
	// Serve runs once sessions are in order, until l.Stopping ends. The engine ends after it.
	Serve func(l Life) error
}

// Start has what a program does at a start with the prompts that a crash has left.
type Start interface {
	// Agree brings its files into agreement with those of the engine, before the recovery.
	Agree(ctx context.Context) error
	// Settle decides about the prompts after the recovery, before anything is typed.
	Settle(ctx context.Context) error
}

// Life is the life of a running program.
type Life struct {
	*errgroup.Group
	Ctx      context.Context // ends with the program
	Stopping context.Context // ends before, when the program is asked to stop
}

// Go runs a part until the program ends.
func (l Life) Go(part func(context.Context) error) {
	l.Group.Go(func() error { return part(l.Ctx) })
}

// drainTimeout is how long a stop may take to finish its running work. Together with the last
// second of the outbox it is five seconds.
const drainTimeout = 4 * time.Second

// Run recovers first, and lets the program serve only after that. The end of asked asks it to stop.
func (e *Engine) Run(asked context.Context, p Program) error {
	whole, end := context.WithCancel(context.WithoutCancel(asked))
	defer end()
	g, ctx := errgroup.WithContext(whole)
	e.Lasting = LastingIn(ctx)
	stopping, stop := context.WithCancel(ctx)
	context.AfterFunc(asked, stop)
	l := Life{g, ctx, stopping}
	l.Go(e.Tmux.Run)
	l.Go(e.Watch.Run)
	l.Go(func(ctx context.Context) error { return e.Held.Run(ctx, e.Watch, e.Log) })
	if p.Begin != nil {
		p.Begin(l)
	}
	l.Go(func(ctx context.Context) error {
		<-stopping.Done()
		_ = pause.For(ctx, drainTimeout)
		end()
		return nil
	})
	l.Go(func(context.Context) error {
		err := e.serve(l, p)
		if err == nil { // an error ends the others as well, and has to be the first one
			end()
		}
		return err
	})
	err := g.Wait()
	e.Transcripts.Close()
	if err := e.Store.SaveKept(context.WithoutCancel(asked)); err != nil {
		e.Log.Warn("record_not_saved", logkey.Error, err)
	}
	return err
}

func (e *Engine) serve(l Life, p Program) error {
	report, err := e.Recover(l.Stopping, p.Start)
	switch {
	case l.Stopping.Err() != nil && err != nil: // tmux or git, ended by the stop, reports only the signal
		return l.Stopping.Err()
	case err != nil:
		return err
	}
	e.Loops.Settle(l.Stopping)
	e.report(l.Ctx, report)
	e.reportUnread(l.Ctx)
	e.Recovery.Notify = e.ReportRecovery // set only now, because one message reports the whole start
	listening := make(chan struct{})
	for _, part := range []func(context.Context) error{e.Lifecycle.Run, e.Events.Run, e.FollowPresences, e.Keeper.Run, e.Loops.Run,
		e.Schedules.Run, e.Binary.Run, e.Prompts.Run, e.reportLosses, e.pruneBindings,
		func(ctx context.Context) error {
			return e.Socket.Run(ctx, e.Dir, e.Table, p.Verbs, func() { close(listening) })
		},
		func(ctx context.Context) error {
			return e.Places.Received.Run(ctx, e.InboxTTL, e.ended, func(ctx context.Context, dir string, names []string) error {
				return e.machineNews(ctx, news.FilesDue{Dir: dir, Names: names})
			})
		},
		func(ctx context.Context) error {
			return statefolder.KeepAlive(ctx, e.Dir, process.Clock{Table: e.Table}, e.Log)
		}} {
		l.Go(part)
	}
	select { // a program that says it is ready answers the verbs of a terminal
	case <-listening:
	case <-l.Ctx.Done():
		return l.Ctx.Err()
	}
	return p.Serve(l)
}

// machineNews reports news of this machine to the chat.
func (e *Engine) machineNews(ctx context.Context, n news.News) error {
	return e.Receipts.Chat.SessionNews(ctx, port.Session{}, n)
}

// ReportRecovery reports to the chat what a recovery did, and which files were set aside, by any
// part of ccbot, without being reported yet.
func (e *Engine) ReportRecovery(ctx context.Context, report recovery.Report) error {
	start, quarantine := host.StartOf(report), filepath.Join(e.Dir, "quarantine")
	start.Dir = e.Dir
	aside, err := spool.Unreported(quarantine)
	for _, name := range aside { // files of sessions/, inbox/, prompts/ and outbox/
		if strings.HasPrefix(name, "sessions-") {
			start.Unreadable++
		} else {
			start.Messages++
		}
	}
	if err = errors.Join(err, e.machineNews(ctx, start)); err != nil {
		return err
	}
	return spool.MarkReported(quarantine, aside...)
}

// report reports to the chat what recovery did. The report is on disk when it returns, also while
// Telegram cannot be reached. A failed report stays noted in the records, and the next start
// repeats it.
func (e *Engine) report(ctx context.Context, report recovery.Report) {
	if err := e.ReportRecovery(ctx, report); err != nil {
		e.Log.Error("recovery_not_told", logkey.Error, err)
	}
}

// LastingIn returns a function that makes contexts which end with the run, even if the parent
// context has ended before.
func LastingIn(run context.Context) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
		stop := context.AfterFunc(run, cancel)
		return lasting, func() { stop(); cancel() }
	}
}
