package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	bothealth "ccbot/bot/health"
	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/show"
	"ccbot/host"
	"ccbot/internal/gauge"
	"ccbot/internal/git"
	"ccbot/internal/health"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// lastEvents is the number of lines of the history that are shown.
const lastEvents = 5

func (c *call) statusCommand() *cobra.Command {
	return &cobra.Command{Use: "status NAME|ID", Args: oneSession, Short: "Show the details of a session",
		Long: `Print the details of one session: its agent's activity, its to-do items, the changes in its folder
since its start, other programs with its conversation open, pending messages, its live loop, and
problems of a running bot. It is read-only, like list, and runs git.`,
		Example: "  ccbot status api\n  ccbot status api --json | jq .phase",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, r, err := c.record(args[0])
			if err != nil {
				return err
			}
			seen, sources, err := d.Inspect(cmd.Context())
			if err != nil {
				return err
			}
			m := host.Sessions{Terminals: d.Terminals(seen), Git: offline.Git(c.environ), Memory: gauge.Sum}
			all := detailsOf(cmd.Context(), m, sources, r, d.Store.List())
			all.Queue = queueIn(filepath.Join(d.Dir, "inbox"), r.Prompts)
			all.Loop = liveLoop(d.Dir, r.ID)
			all.BotWarnings = botWarnings(cmd.Context(), d)
			return c.show(all, all.Print)
		}}
}

// botWarnings returns what is wrong with the running bot in the words of /health. It returns nil if
// no bot answers this program.
func botWarnings(ctx context.Context, d offline.View) []string {
	figures, err := running.Figures(ctx, d.Dir)
	if err != nil {
		return nil
	}
	all := []string{}
	for _, w := range health.Warnings(figures) {
		all = append(all, offline.InTerminal(bothealth.Sentence(d.Words(), w, d.Dir)))
	}
	return all
}

// see fills in the present activity of a live session's agent. Facts that the check lacks stay as
// recorded.
func see(l *show.Session, r session.Record, look port.Status) {
	known := view.Noted(r).At(time.Now())
	// the recorded phase is more exact: only the bot can see it
	more := look.Now.Phase == talk.PhaseWorking && (known.Phase.Waiting() || known.Works())
	if look.Now.Phase != talk.PhaseUnknown && look.Now.Phase != known.Phase && !more {
		l.Does(look.Now)
		l.PhaseAt = time.Time{}
	}
	if u := look.Usage; u != nil {
		l.Cost = &u.Cost
		if u.Context >= 0 {
			l.Context = &u.Context
		}
	}
}

// detailsOf asks the machine for everything that is known of a session.
func detailsOf(ctx context.Context, m host.Sessions, sources *evidence.Sources, r session.Record, all []session.Record) show.Details {
	d := show.Details{Session: show.SessionOf(r, sources.Processes.Liveness), Flags: []string{}, TaskList: []port.Task{}, Start: r.GitStart,
		SameDir: []string{}, Events: append([]session.Change{}, r.History[max(0, len(r.History)-lastEvents):]...)}
	work, _ := m.Work(ctx, r.ID) // this machine answers
	d.Flags, d.ClaudeMode = append(d.Flags, work.Flags...), work.Permissions
	d.Turns, d.Tokens, d.Tasks = work.Turns, work.Tokens, show.Tasks{}
	d.Memory, d.Partly = work.Memory, work.Partly
	for _, t := range work.Tasks {
		d.TaskList = append(d.TaskList, t)
		d.Tasks.Count(t.Status)
	}
	if r.State.Live() {
		looks, _ := m.Inspect(ctx, r.ID)
		look := looks[r.ID]
		d.Background = look.Background
		see(&d.Session, r, look)
	}
	noteGit(&d, work.Git)
	if writers, err := sources.Writers(ctx, r); err == nil {
		d.Writers = []show.Writer{}
		for _, w := range writers {
			d.Writers = append(d.Writers, show.Writer{PID: w.PID, Program: host.Process(w.Process, w.Age).Program,
				Age: w.Age.Seconds(), Dir: w.Cwd, Proven: w.Proven, Session: w.Session})
		}
	}
	for _, other := range all {
		if other.ID != r.ID && other.State.Live() && other.Dir == r.Dir {
			d.SameDir = append(d.SameDir, other.Name)
		}
	}
	return d
}

// noteGit replaces the last known state of the repository by the current one.
func noteGit(d *show.Details, g *port.Git) {
	switch {
	case g == nil:
		d.Repository = "unknown"
		return
	case g.Root == "":
		d.Repository, d.Git = "no", nil
		return
	}
	d.Repository, d.Git = "yes", &git.State{Root: g.Root, Branch: g.Branch, Head: g.Head, Dirty: g.Dirty, At: g.At}
	if g.Changes != nil {
		changes := git.Changes(*g.Changes)
		d.Changes = &changes
	}
}

// queueIn reads the prompts that wait. A prompt that is missing has just left the queue.
func queueIn(dir string, keys []string) []show.Queued {
	all := []show.Queued{}
	for _, key := range keys {
		var e inbox.Entry
		data, err := spool.Folder{Path: dir}.Read(key + ".json")
		if err == nil && json.Unmarshal(data, &e) == nil {
			all = append(all, show.Queued{Text: e.Text, Received: e.Received})
		}
	}
	return all
}
