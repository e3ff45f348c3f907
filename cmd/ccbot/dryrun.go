package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"ccbot/archive"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
	"ccbot/tmux"
)

// dryRun prints what a recovery would do now. It is the same look and the same plan,
// with nothing behind them that could change anything. Beside a bot it is what
// `ccbot recover` would have that one do.
func dryRun(ctx context.Context, environ []string, asJSON bool, stdout, stderr io.Writer) error {
	c, store, err := openForReading(environ, io.Discard) // what it cannot read the plan tells
	if err != nil {
		return err
	}
	table, err := process.NewTable()
	if err != nil {
		return err
	}
	looking, _, err := c.looking(ctx, environ, store, table, quietLog(c, stderr))
	if err != nil {
		return err
	}
	var bot int
	bot, looking.Since = statefolder.RunningBot(c.Dir, table)
	w := looking.Look(ctx)
	actions, notices := recovery.Plan(w)
	name := func(id uuid.UUID) string { r, _ := store.Get(id); return r.Name }
	a := account{DryRun: true, Bot: bot, Tmux: fmt.Sprintf("%s, session %s", c.tmuxCommand(), c.TmuxSession), At: w.Now.UTC(), Records: len(w.Records), States: make(map[session.State]int),
		Actions: []accountAction{}, Notices: noticesOf(notices, name), Purge: c.purgesOf(archive.Leaving(w.Now, c.PurgeAfter, w.Records), w.Records, w.Now, "is due to be forgotten", "")}
	for _, r := range w.Records {
		a.States[r.State]++
	}
	for _, action := range actions {
		would := actionOf(action, name)
		if bot != 0 && action.Do == recovery.Reattach {
			would.Do = keep // it is attached to it already
		}
		a.Actions = append(a.Actions, would)
	}
	return a.show(asJSON, stdout)
}

// keep is what there is to do with a session that a running bot holds.
const keep = "keep"

// looking are a recovery and the lives of sessions that can look and do nothing else.
func (c config) looking(ctx context.Context, environ []string, store *session.Store, table *process.Table, log *slog.Logger) (
	*recovery.Recovery, *lifecycle.Service, error) {
	instance, err := statefolder.ReadInstance(c.Dir) // empty before the first start: then no window is this ccbot's
	if err != nil {
		return nil, nil, statefolder.Error(c.Dir, err)
	}
	seen := pictured{}
	seen.server, seen.panes, seen.err = tmux.Look(ctx, tmux.Config{Socket: c.TmuxSocket, Session: c.TmuxSession,
		Env: environment.Server(environ), Log: log, Start: startOf(table)})
	sessions := lifecycle.New(
		lifecycle.Config{Instance: instance, StateDir: c.Dir, Command: expandHome(c.Claude, c.home), ProjectsDir: c.projectsDir(),
			OrphanGrace: c.OrphanGrace},
		lifecycle.Deps{Store: store, Tmux: seen, Processes: harmless{table}, Presences: presence.Dir{Path: c.presenceDir()},
			Hooks: lifecycle.Hooks{Bindings: c.bindings, Status: c.status}, Now: time.Now, Log: log})
	return &recovery.Recovery{Instance: instance, Session: c.TmuxSession, Dir: c.Dir, Limits: c.limits(), Store: store,
		Tmux: seen, Processes: table, Lifecycle: sessions, Now: time.Now, Log: log}, sessions, nil
}
