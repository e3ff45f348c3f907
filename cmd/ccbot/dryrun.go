package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"ccbot/archive"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/recovery"
	"ccbot/tmux"
)

// dryRun prints what a recovery would do now. It looks and plans like a real recovery, but it has
// no parts that could change anything. If a bot runs, dryRun prints what `ccbot recover` would make
// that bot do.
func dryRun(ctx context.Context, environ []string, asJSON bool, stdout, stderr io.Writer) error {
	c, store, err := openForReading(environ, io.Discard) // the plan reports records that cannot be read
	if err != nil {
		return err
	}
	table, err := process.NewTable()
	if err != nil {
		return err
	}
	w, _, err := survey(ctx, c, environ, store, table, quietLog(c, stderr))
	if err != nil {
		return err
	}
	bot, _ := statefolder.RunningBot(c.Dir, table)
	actions, notices := recovery.Plan(w)
	name := func(id uuid.UUID) string { r, _ := store.Get(id); return r.Name }
	a := show.Account{DryRun: true, Bot: bot, Tmux: fmt.Sprintf("%s, session %s", c.TmuxCommand(), c.TmuxSession), At: w.Now.UTC(), Records: len(w.Records), States: make(map[session.State]int),
		Actions: []show.Action{}, Notices: show.NoticesOf(notices, name), Purge: purgesOf(c, archive.Leaving(w.Now, c.PurgeAfter, w.Records), w.Records, w.Now, "is due to be forgotten", "")}
	for _, r := range w.Records {
		a.States[r.State]++
	}
	for _, action := range actions {
		would := show.ActionOf(action, name)
		if bot != 0 && action.Do == recovery.Reattach {
			would.Do = keep // the running bot is attached to it already
		}
		a.Actions = append(a.Actions, would)
	}
	return a.Show(asJSON, stdout)
}

// survey looks at all that a recovery looks at. seen is its look at tmux.
func survey(ctx context.Context, c config.Config, environ []string, store *session.Store, table *process.Table, log *slog.Logger) (
	w recovery.World, seen picture, err error) {
	seen, sources, err := look(ctx, c, environ, store, table, log)
	if err != nil {
		return w, seen, err
	}
	_, since := statefolder.RunningBot(c.Dir, table)
	looking := recovery.Recovery{Instance: sources.Instance, Session: c.TmuxSession, Dir: c.Dir, Limits: c.Limits(), Since: since,
		Store: store, Tmux: seen, Processes: table, Evidence: sources, Now: time.Now, Log: log}
	return looking.Look(ctx), seen, nil
}

// keep is the action for a session that a running bot holds.
const keep = "keep"

// look looks at tmux once, and collects everything else that a plan reads.
func look(ctx context.Context, c config.Config, environ []string, store *session.Store, table *process.Table, log *slog.Logger) (
	seen picture, sources *evidence.Sources, err error) {
	instance, err := statefolder.ReadInstance(c.Dir) // empty before the first start: then no window belongs to this ccbot
	if err != nil {
		return picture{}, nil, statefolder.Error(c.Dir, err)
	}
	seen.server, seen.panes, seen.err = tmux.Look(ctx, tmux.Config{Socket: c.TmuxSocket, Session: c.TmuxSession,
		Env: environment.Server(environ), Log: log, Start: startOf(table)})
	return seen, sourcesOf(c, instance, store, table, seen.Panes, log), nil
}

// picture is the result of one look at tmux.
type picture struct {
	server tmux.ServerID
	panes  []tmux.Pane
	err    error // of the look
}

// Server is the server that was looked at.
func (p picture) Server(context.Context) (tmux.ServerID, error) { return p.server, p.err }

// Panes are all panes of that server.
func (p picture) Panes(context.Context) ([]tmux.Pane, error) { return p.panes, p.err }

// Pane is one pane of that server.
func (p picture) Pane(_ context.Context, id tmux.PaneID) (tmux.Pane, error) {
	for _, pane := range p.panes {
		if pane.ID == id {
			return pane, p.err
		}
	}
	return tmux.Pane{}, cmp.Or(p.err, fmt.Errorf("%w: %s", tmux.ErrNoPane, id))
}
