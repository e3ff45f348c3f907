package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccbot/bot/inbox"
	"ccbot/bot/port/phase"
	"ccbot/bot/port/views"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/host"
	"ccbot/internal/gauge"
	"ccbot/internal/git"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
)

// detailed is the output of `ccbot status --json`: the fields of `ccbot list --json` for one
// session, with the phase as it is now, and more. A value that is unknown is left out; an empty
// list is known to be empty.
type detailed struct {
	listed
	Background bool              `json:"background_commands"` // that the agent has started still run
	Flags      []string          `json:"flags"`
	ClaudeMode string            `json:"claude_permission_mode,omitempty"` // Claude Code's own, as last noted
	TaskList   []transcript.Task `json:"task_list"`                        // the agent's own to-do items
	// Repository says whether the folder is in one: yes, no or unknown. Start is the repository at
	// the session's start, Changes are what the work tree has beside its commit.
	Repository string       `json:"git_repository"`
	Start      *git.State   `json:"git_start,omitempty"`
	Changes    *git.Changes `json:"git_changes_since_start,omitempty"`
	// Writers are processes other than its agent that have the session's conversation open, or may
	// have. Beside are the names of other open sessions in the same folder.
	Writers []otherWriter    `json:"other_writers,omitzero"`
	Beside  []string         `json:"same_dir_sessions"`
	Queue   []waiting        `json:"queue"`
	Events  []session.Change `json:"last_events"`
}

type otherWriter struct {
	PID     int     `json:"pid"`
	Program string  `json:"program,omitempty"`
	Age     float64 `json:"age_seconds,omitempty"`
	Dir     string  `json:"dir,omitempty"`
	Proven  bool    `json:"proven"`
	Session string  `json:"session_name,omitempty"` // the session that this process is the agent of
}

// waiting is a prompt that is not delivered yet.
type waiting struct {
	Text     string    `json:"text"`
	Received time.Time `json:"received_at"`
}

// lastEvents is how many lines of the history are shown.
const lastEvents = 5

func statusCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "status NAME|ID", Args: oneSession("status"), Short: "Tell all that is known of one session",
		Long: `Tell all that is known of one session: what its agent does and with what, its to-do items, what has changed in
its folder since it was started, who else has its conversation open, and what waits. It reads only, like list, and runs git.`,
		Example: "  ccbot status api\n  ccbot status api --json | jq .phase",
		RunE: func(cmd *cobra.Command, args []string) error {
			return status(cmd.Context(), environ, args[0], asJSON, stdout, stderr)
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func status(ctx context.Context, environ []string, what string, asJSON bool, stdout, stderr io.Writer) error {
	c, store, err := openForReading(environ, stderr)
	if err != nil {
		return err
	}
	r, err := find(store.List(), what)
	if err == nil {
		r, err = store.Whole(r.ID)
	}
	if err != nil {
		return err
	}
	table, err := process.NewTable()
	if err != nil {
		return err
	}
	log := quietLog(c, stderr)
	seen, sources, err := c.look(ctx, environ, store, table, log)
	if err != nil {
		return err
	}
	m := host.Sessions{Desk: host.Desk{Observer: c.observer(seen, table, log), Records: store}, Git: gitWith(environ), Memory: gauge.Sum}
	d := detailsOf(ctx, m, sources, r, store.List())
	d.Queue = queueIn(filepath.Join(c.Dir, "inbox"), r.Prompts)
	return terminal.Show(stdout, asJSON, d, func(p *terminal.Printer) { d.print(p, time.Now()) })
}

// detailsOf asks the machine for everything that is known of a session.
func detailsOf(ctx context.Context, m host.Sessions, sources *evidence.Sources, r session.Record, all []session.Record) detailed {
	d := detailed{listed: listingOf(r, sources.Processes.Liveness), Flags: []string{}, TaskList: []transcript.Task{}, Start: r.GitStart,
		Beside: []string{}, Events: append([]session.Change{}, r.History[max(0, len(r.History)-lastEvents):]...)}
	work := m.Work(ctx, r.ID)
	d.Flags, d.ClaudeMode = append(d.Flags, work.Flags...), work.Permissions
	d.Turns, d.Tokens, d.Tasks = work.Turns, transcript.Tokens(work.Tokens), listedTasks{}
	d.Memory = work.Memory
	for _, t := range work.Tasks {
		d.TaskList = append(d.TaskList, transcript.Task(t))
		d.Tasks.count(t.Status)
	}
	if r.State.Live() {
		look := m.Looks(ctx, r.ID)[r.ID]
		d.Background = look.Background
		known := lifecycle.Noted(r).At(time.Now())
		more := look.Now.Phase == phase.Working && (known.Phase.Waiting() || known.Works()) // the recorded phase is more exact: only the bot can see it
		if look.Now.Phase != phase.Unknown && look.Now.Phase != known.Phase && !more {
			d.does(look.Now)
			d.PhaseAt = time.Time{}
		}
		if u := look.Usage; u != nil {
			d.Cost = &u.Cost
			if u.Context >= 0 {
				d.Context = &u.Context
			}
		}
	}
	d.git(work.Git)
	if writers, err := sources.Writers(ctx, r); err == nil {
		d.Writers = []otherWriter{}
		for _, w := range writers {
			d.Writers = append(d.Writers, otherWriter{w.PID, host.Process(w.Process, w.Age).Program, w.Age.Seconds(), w.Cwd, w.Proven, w.Session})
		}
	}
	for _, other := range all {
		if other.ID != r.ID && other.State.Live() && other.Dir == r.Dir {
			d.Beside = append(d.Beside, other.Name)
		}
	}
	return d
}

// git replaces the last known state of the repository by the current one.
func (d *detailed) git(g *views.Git) {
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
func queueIn(dir string, keys []string) []waiting {
	all := []waiting{}
	for _, key := range keys {
		var e inbox.Entry
		data, err := spool.Folder{Path: dir}.Read(key + ".json")
		if err == nil && json.Unmarshal(data, &e) == nil {
			all = append(all, waiting{e.Text, e.Received})
		}
	}
	return all
}

// print prints it for people, one thing on a line.
func (d detailed) print(p *terminal.Printer, now time.Time) {
	row := func(title, format string, args ...any) {
		p.Line("  %-10s%s", title, terminal.Printable(fmt.Sprintf(format, args...)))
	}
	p.Line("%s  %s  %s", terminal.Printable(d.Name), d.ID, stateText(d.listed))
	row("seen", "%s ago", terminal.Age(now.Sub(lastSeen(d.listed))))
	if d.State == session.Running && !d.PhaseAt.IsZero() {
		row("phase", "%s for %s", phaseText(d.listed), terminal.Age(now.Sub(d.PhaseAt)))
		if d.Phase == string(phase.APIError) || d.Phase == string(phase.Blocked) || d.Phase == string(phase.LoggedOut) {
			row("", "%s", d.PhaseWhat)
		}
	}
	row("folder", "%s", d.Dir)
	for _, name := range d.Beside {
		row("", "%s works in this folder, too", name)
	}
	if d.Memory > 0 {
		row("memory", "%s", megabytes(d.Memory))
	}
	row("model", "%s", cmp.Or(d.Model, "not known"))
	row("mode", "%s", strings.Join(filled(d.Mode, terminal.Words("Claude Code's own: ", d.ClaudeMode, ""), strings.Join(d.Flags, " ")), "; "))
	row("used", "%s", strings.Join(filled(terminal.Several(d.Turns, "turn"), dollars(d.Cost), terminal.Words("context ", percent(d.Context), ""),
		fmt.Sprintf("tokens: %d in, %d from the cache, %d out", d.Tokens.Input+d.Tokens.CacheCreation, d.Tokens.CacheRead, d.Tokens.Output)), ", "))
	row("git", "%s", d.gitText())
	for i, t := range d.TaskList {
		title := ""
		if i == 0 {
			title = "tasks"
		}
		row(title, "%s", map[string]string{"completed": "[x] ", "in_progress": "[>] "}[t.Status]+t.Text)
	}
	if d.Writers == nil {
		row("elsewhere", "it cannot be seen whether the conversation is open elsewhere, too")
	}
	for _, w := range d.Writers {
		row("elsewhere", "process %d (%s) %s", w.PID, cmp.Or(w.Program, "?"), map[bool]string{true: "has the conversation open", false: "may have the conversation open"}[w.Proven])
	}
	for _, one := range d.Queue {
		row("waits", "%s ago: %s", terminal.Age(now.Sub(one.Received)), strings.Join(strings.Fields(one.Text), " "))
	}
	for _, c := range d.Events {
		row("event", "%s  %s: %s", c.At.Local().Format(time.DateTime), movement(c), c.Why)
	}
}

func (d detailed) gitText() string {
	switch d.Repository {
	case "unknown":
		return "did not answer"
	case "no":
		return "the folder is in no repository"
	}
	text := cmp.Or(terminal.Words("branch ", d.Git.Branch, ""), "no branch is checked out")
	if d.Start == nil || d.Start.Head == "" {
		return text + "; the commit at the start is not known"
	}
	since := "since the start (" + d.Start.Head[:min(8, len(d.Start.Head))] + ")"
	if d.Changes == nil {
		return text + "; what has changed " + since + " is not known"
	}
	return fmt.Sprintf("%s; %s: %s changed, +%d -%d, %d not tracked", text, since, terminal.Several(d.Changes.Files, "file"),
		d.Changes.Insertions, d.Changes.Deletions, d.Changes.Untracked)
}

// filled are the texts that are not empty.
func filled(texts ...string) (all []string) {
	for _, text := range texts {
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}
