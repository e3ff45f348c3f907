package show

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/git"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/talk"
)

// Details is the output of `ccbot status --json`: the fields of `ccbot list --json` for one
// session, and more. A value that is unknown is left out; an empty list is known to be empty.
type Details struct {
	Session
	// that the agent has started still run
	Background bool     `json:"background_commands"`
	Flags      []string `json:"flags"`
	// Claude Code's own, as last noted
	ClaudeMode string `json:"claude_permission_mode,omitempty"`
	// the agent's own to-do items
	TaskList []port.Task `json:"task_list"`
	// Repository reports whether the folder is in one: yes, no or unknown. Start is the repository
	// at the session's start, Changes are the changes of the work tree since its commit.
	Repository string       `json:"git_repository"`
	Start      *git.State   `json:"git_start,omitempty"`
	Changes    *git.Changes `json:"git_changes_since_start,omitempty"`
	// Writers are processes other than its agent that have the session's conversation open, or may
	// have. SameDir are the names of other open sessions in the same folder.
	Writers []Writer         `json:"other_writers,omitzero"`
	SameDir []string         `json:"same_dir_sessions"`
	Queue   []Queued         `json:"queue"`
	Loop    *LoopLine        `json:"loop,omitempty"` // the live one
	Events  []session.Change `json:"last_events"`
	// BotWarnings are the warnings about the running bot, one sentence each.
	BotWarnings []string `json:"bot_warnings,omitzero"`
}

// Writer is a process that has opened a conversation, or may have.
type Writer struct {
	PID     int     `json:"pid"`
	Program string  `json:"program,omitempty"`
	Age     float64 `json:"age_seconds,omitempty"`
	Dir     string  `json:"dir,omitempty"`
	Proven  bool    `json:"proven"`
	Session string  `json:"session_name,omitempty"` // the session that this process is the agent of
}

// Queued is a prompt that is not delivered yet.
type Queued struct {
	Text     string    `json:"text"`
	Received time.Time `json:"received_at"`
}

// Print prints it for people, one thing on a line.
func (d Details) Print(p *terminal.Printer) {
	now := time.Now()
	row := func(title, format string, args ...any) {
		p.Line("  %-10s%s", title, terminal.Printable(fmt.Sprintf(format, args...)))
	}
	p.Line("%s  %s  %s", terminal.Printable(d.Name), d.ID, stateText(d.Session))
	row("seen", "%s ago", terminal.Age(now.Sub(lastSeen(d.Session))))
	if d.State == session.Running && !d.PhaseAt.IsZero() {
		row("phase", "%s for %s", phaseText(d.Session), terminal.Age(now.Sub(d.PhaseAt)))
		if d.Phase == string(talk.PhaseAPIError) || d.Phase == string(talk.PhaseBlocked) || d.Phase == string(talk.PhaseLoggedOut) {
			row("", "%s", d.PhaseWhat)
		}
	}
	row("folder", "%s", d.Dir)
	for _, name := range d.SameDir {
		row("", "%s also works in this folder", name)
	}
	if d.Memory > 0 {
		row("memory", "%s", memory(d.Memory))
	}
	row("model", "%s", cmp.Or(d.Model, "not known"))
	row("mode", "%s", strings.Join(filled(d.Mode, terminal.Words("Claude Code's own: ", d.ClaudeMode, ""), strings.Join(d.Flags, " ")), "; "))
	row("used", "%s", strings.Join(filled(terminal.Several(d.Turns, "turn"), number("$%.2f", d.Cost), number("context %.0f%%", d.Context),
		fmt.Sprintf("tokens: %d in, %d from the cache, %d out", d.Tokens.Input+d.Tokens.CacheCreation, d.Tokens.CacheRead, d.Tokens.Output)), ", "))
	if d.Partly {
		row("", "turns, tokens and tasks are not counted from the beginning: the conversation is long")
	}
	row("git", "%s", d.gitText())
	for i, t := range d.TaskList {
		title := ""
		if i == 0 {
			title = "tasks"
		}
		row(title, "%s", map[string]string{"completed": "[x] ", "in_progress": "[>] "}[t.Status]+t.Text)
	}
	if d.Writers == nil {
		row("elsewhere", "it is unknown whether the conversation is also open elsewhere")
	}
	for _, w := range d.Writers {
		row("elsewhere", "process %d (%s) %s", w.PID, cmp.Or(w.Program, "?"), map[bool]string{true: "has the conversation open", false: "may have the conversation open"}[w.Proven])
	}
	for _, one := range d.Queue {
		row("waits", "%s ago: %s", terminal.Age(now.Sub(one.Received)), strings.Join(strings.Fields(one.Text), " "))
	}
	if d.Loop != nil {
		row("loop", "%s", d.Loop.text())
	}
	for _, w := range d.BotWarnings {
		row("bot", "%s", w)
	}
	for _, c := range d.Events {
		row("event", "%s  %s: %s", c.At.Local().Format(time.DateTime), movement(c), c.Why)
	}
}

func (d Details) gitText() string {
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
		return text + "; the changes " + since + " are not known"
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
