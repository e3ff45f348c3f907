package show

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/i18n"
	"ccbot/internal/git"
	"ccbot/internal/naming"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// Session is one session as `ccbot list --json` prints it, in an array, oldest first. Times are RFC
// 3339 in UTC; a value that is unknown, or never existed, is left out.
type Session struct {
	ID    uuid.UUID     `json:"id"`
	Name  string        `json:"name"`
	Dir   string        `json:"dir"`
	Host  string        `json:"host"`
	Agent string        `json:"agent"` // its name: claude, codex
	State session.State `json:"state"`
	// Phase is the agent's activity, now or when last seen, and PhaseAt is its start. PhaseWhat is
	// the tool that it waits with, or the text of a failure; PhaseUntil is the end of a limit or
	// the time of a request's next try.
	Phase          string    `json:"phase,omitempty"`
	PhaseAt        time.Time `json:"phase_at,omitzero"`
	PhaseWhat      string    `json:"phase_what,omitempty"`
	PhaseUntil     time.Time `json:"phase_until,omitzero"`
	AgentSessionID uuid.UUID `json:"claude_session_id"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
	StartedAt      time.Time `json:"started_at,omitzero"` // of the present launch
	EndedAt        time.Time `json:"ended_at,omitzero"`
	LastTurnAt     time.Time `json:"last_turn_at,omitzero"`
	Turns          int       `json:"turns"`
	Model          string    `json:"model,omitempty"`
	Mode           string    `json:"permission_mode,omitempty"` // ask or bypass
	// Context is the used part of the context window, 0 to 100; Cost is in dollars.
	Context *float64    `json:"context_percent,omitempty"`
	Cost    *float64    `json:"cost_usd,omitempty"`
	Tokens  port.Tokens `json:"tokens"`
	// turns, tokens and tasks: not from the beginning of the conversation
	Partly bool `json:"partly_counted,omitempty"`
	// as last seen, after a turn or at the start
	Git   *git.State `json:"git,omitempty"`
	Tasks Tasks      `json:"tasks"`
	PID   int        `json:"pid,omitempty"` // of the agent
	// Alive is the kernel's answer about exactly that process: alive, gone or unknown.
	Alive  string `json:"alive,omitempty"`
	Memory uint64 `json:"memory_bytes,omitempty"` // of the agent and all that it has started
	Window string `json:"window,omitempty"`       // tmux's id, "@21"
	Held   int    `json:"held_prompts"`           // not delivered yet
	// Closed is the reason why the session has ended for good, or how it was lost, if its state
	// does not show it.
	Closed  string `json:"closed_reason,omitempty"`
	Crashed bool   `json:"crashed,omitempty"` // its agent crashed; the state is then completed
}

// Tasks counts the agent's own to-do items.
type Tasks struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Count counts an item by its status.
func (t *Tasks) Count(status string) {
	t.Total++
	if status == "completed" {
		t.Done++
	}
}

// SessionOf combines a record with the kernel's answer about its agent.
func SessionOf(r session.Record, alive func(process.Identity) process.Liveness) Session {
	l := Session{ID: r.ID, Name: r.Name, Dir: r.Folder(), Host: r.Host, Agent: cmp.Or(r.AgentName, agent.Default), State: r.State, PhaseAt: r.PhaseAt,
		AgentSessionID: r.AgentSessionID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		LastTurnAt: r.Progress.LastTurnAt, Turns: r.Progress.Turns, Model: r.Progress.Model, Tokens: r.Progress.Tokens, Partly: r.Progress.From > 0,
		Git: cmp.Or(r.GitNow, r.GitStart), Held: len(r.Prompts), Closed: r.ClosedReason, Crashed: r.Crashed()}
	l.Mode = r.LaunchMode()
	if u := r.Usage; u != nil {
		l.Model, l.Cost = cmp.Or(l.Model, u.Model), &u.Cost
		if u.Context >= 0 {
			l.Context = &u.Context
		}
	}
	l.Does(view.Noted(r).At(time.Now()))
	for _, t := range r.Progress.Tasks {
		l.Tasks.Count(t.Status)
	}
	if b := r.Binding; b != nil {
		l.PID, l.Window, l.Alive = b.Agent.PID, b.Window, alive(b.Agent).String()
	}
	return l
}

// Sessions prints sessions out of that many records.
func Sessions(out io.Writer, sessions []Session, records int, home string, asJSON bool) error {
	return terminal.Show(out, asJSON, sessions, func(p *terminal.Printer) {
		switch {
		case len(sessions) > 0:
			printList(p, sessions, time.Now(), home)
		case records > 0:
			p.Line("no open sessions; %s: ccbot list --all", terminal.Several(records, "other"))
		default:
			p.Line("no sessions")
		}
	})
}

// listWidth is the maximum width of the table.
const listWidth = 120

// columns are the columns of the table, each with the most cells that it takes; the folder gets the
// rest, cut at its beginning.
var columns = []struct {
	title string
	most  int
	text  func(l Session, now time.Time) string
}{
	{"NAME", 20, func(l Session, _ time.Time) string { return l.Name }},
	{"ID", 8, func(l Session, _ time.Time) string { return naming.ShortID(l.ID) }},
	{"STATE", 34, func(l Session, _ time.Time) string { return stateText(l) + l.otherAgent() }},
	{"SEEN", 8, func(l Session, now time.Time) string { return terminal.Age(now.Sub(lastSeen(l))) + " ago" }},
	{"MODE", 6, func(l Session, _ time.Time) string { return l.Mode }},
	{"COST", 8, func(l Session, _ time.Time) string { return number("$%.2f", l.Cost) }},
	{"CTX", 4, func(l Session, _ time.Time) string { return number("%.0f%%", l.Context) }},
	{"MEM", 8, func(l Session, _ time.Time) string { return memory(l.Memory) }},
	{"TASKS", 7, func(l Session, _ time.Time) string { return taskText(l.Tasks) }},
}

// otherAgent names an agent that is not the default one.
func (s *Session) otherAgent() string {
	if s.Agent == agent.Default {
		return ""
	}
	return " · " + s.Agent
}

// Does fills in what the agent does.
func (s *Session) Does(now talk.Activity) {
	s.Phase, s.PhaseWhat, s.PhaseUntil = string(now.Phase), now.What, now.Until
}

// phaseText returns the activity of a running session's agent.
func phaseText(l Session) string {
	switch p := talk.Phase(l.Phase); p {
	case "", talk.PhaseUnknown:
		return string(session.Running)
	case talk.PhaseWaitingPermission:
		switch {
		case l.PhaseWhat == "":
			return "waiting for an answer" // the question is unknown: it need not be a permission
		case talk.KindOf(l.PhaseWhat) == talk.AskPlan:
			return "asks about a plan"
		}
		return "asks permission: " + l.PhaseWhat
	case talk.PhaseWaitingAnswer:
		return "asks a question"
	case talk.PhaseLoggedOut:
		return "logged out"
	case talk.PhaseLimited:
		return strings.TrimSpace("limit reached " + clock("until ", l.PhaseUntil))
	case talk.PhaseAPIError:
		return "API error" + clock(", again ", l.PhaseUntil)
	case talk.PhaseBlocked:
		return "blocked by your hook"
	}
	return l.Phase
}

// clock returns a time of the day with words before it, or "" for the zero time.
func clock(words string, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return words + at.Local().Format("15:04")
}

// crashed is the state of a session that is completed by the crash of its agent, for people.
const crashed = "crashed"

// stateText is the state. For a running session it is what the agent does instead, because that
// includes that the session lives.
func stateText(l Session) string {
	switch {
	case l.State.Live() && l.Alive != "" && l.Alive != process.Alive.String():
		return fmt.Sprintf("%s, agent %s", l.State, l.Alive)
	case l.State == session.Running:
		return phaseText(l)
	case l.Crashed:
		return crashed
	}
	if !l.State.HasEnded() {
		return string(l.State)
	}
	return string(l.State) + closedText[l.Closed]
}

// closedText distinguishes ended sessions with the same state.
var closedText = map[string]string{session.ClosedStale: ", stale", session.ClosedReboot: ", reboot",
	session.ClosedTmux: ", tmux ended"}

// lastSeen is the newest sign of life in the record. A lost session has an end date too, but that
// is only when the loss was noticed.
func lastSeen(l Session) time.Time {
	signs := []time.Time{l.CreatedAt, l.StartedAt, l.PhaseAt, l.LastTurnAt}
	if l.State.EndedOnPurpose() {
		signs = append(signs, l.EndedAt)
	}
	return slices.MaxFunc(signs, time.Time.Compare)
}

// number formats a number; "" if it is unknown.
func number(format string, n *float64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf(format, *n)
}

// memory is nothing if it is not known.
func memory(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	return i18n.Words{}.Size(int64(bytes))
}

func taskText(t Tasks) string {
	if t.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", t.Done, t.Total)
}

// printList prints the table for people.
func printList(p *terminal.Printer, sessions []Session, now time.Time, home string) {
	rows, widths := [][]string{nil}, make([]int, len(columns))
	for _, c := range columns {
		rows[0] = append(rows[0], c.title)
	}
	for _, l := range sessions {
		var row []string
		for _, c := range columns {
			row = append(row, ansi.Truncate(terminal.Printable(cmp.Or(c.text(l, now), "-")), c.most, "…"))
		}
		rows = append(rows, row)
	}
	rest := listWidth
	for i := range columns {
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
		rest -= widths[i] + len(gap)
	}
	for i, row := range rows {
		dir := "DIR"
		if i > 0 {
			dir = shortDir(sessions[i-1].Dir, home, rest)
		}
		cells := ""
		for j, cell := range row {
			cells += cell + strings.Repeat(" ", widths[j]-ansi.StringWidth(cell)) + gap
		}
		p.Line("%s", cells+dir)
	}
}

const gap = "  " // between two columns

// shortDir is a folder in at most width cells. It is cut at the beginning, because the end of a
// path says more.
func shortDir(dir, home string, width int) string {
	if rest, ok := strings.CutPrefix(dir, home+"/"); ok && home != "" {
		dir = "~/" + rest
	}
	dir = terminal.Printable(dir)
	if over := ansi.StringWidth(dir) - width; over > 0 {
		return ansi.TruncateLeft(dir, over+1, "…")
	}
	return dir
}
