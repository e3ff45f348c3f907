package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"ccbot/archive"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// dryRun prints what a recovery would do now. It looks and plans like a real recovery, but it has
// no parts that could change anything. If a bot runs, dryRun prints what `ccbot recover` would make
// that bot do.
func (c *call) dryRun(ctx context.Context) error {
	settings, err := config.LoadForReading(c.environ)
	if err != nil {
		return err
	}
	d, err := offline.Of(settings, c.environ, c.stderr) // the plan reports records that cannot be read
	if err != nil {
		return err
	}
	w, _, err := d.Survey(ctx)
	if err != nil {
		return err
	}
	bot, _ := statefolder.RunningBot(d.Dir, d.Table)
	actions, notices := recovery.Plan(w)
	name := func(id uuid.UUID) string { r, _ := d.Store.Get(id); return r.Name }
	a := show.Account{DryRun: true, Bot: bot, Tmux: fmt.Sprintf("%s, session %s", d.TmuxCommand(), d.TmuxSession), At: w.Now.UTC(), Records: len(w.Records), States: make(map[session.State]int),
		Actions: []show.Action{}, Notices: show.NoticesOf(notices, name),
		Purge: show.PurgesOf(archive.Leaving(w.Now, d.PurgeAfter, offline.Agents(d.Config), w.Records), w.Records, w.Now, d.PurgeAfter, "is due to be forgotten", "")}
	for _, r := range w.Records {
		a.States[r.State]++
	}
	for _, action := range actions {
		would := show.ActionOf(action, name)
		if bot != 0 && action.Do == lifecycle.Reattach {
			would.Do = "keep" // the running bot is attached to it already
		}
		a.Actions = append(a.Actions, would)
	}
	return c.show(a, a.Print)
}
