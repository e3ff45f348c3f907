package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/port"
)

// LoopLine is a loop in one line.
type LoopLine struct {
	ID        uuid.UUID       `json:"id"`
	State     port.LoopState  `json:"state"`
	Reason    port.LoopReason `json:"reason,omitempty"`
	Phase     port.LoopPhase  `json:"phase"`
	Step      port.LoopStep   `json:"step"` // of the phase
	Iteration int             `json:"iteration"`
	Used      port.LoopUsed   `json:"used"`
}

// LoopLineOf returns the line of a loop.
func LoopLineOf(l port.Loop) LoopLine {
	return LoopLine{ID: l.ID, State: l.State, Reason: l.Reason, Phase: l.Now(), Step: l.Step, Iteration: l.Iteration, Used: l.Used}
}

func (l LoopLine) text() string {
	return fmt.Sprintf("%s%s, iteration %d, %s: %s, turns %d, tokens %d, $%.2f", l.State, terminal.Words(" (", string(l.Reason), ")"),
		l.Iteration, l.Phase, l.Step, l.Used.Turns, l.Used.Tokens, l.Used.Cost)
}

// Loop is the output of `ccbot loop status --json`.
type Loop struct {
	LoopLine
	Session uuid.UUID `json:"session_id"`
	Name    string    `json:"name"`
	Repo    string    `json:"repository"`
	Feature string    `json:"feature"`
	Detail  string    `json:"detail,omitempty"`
	Until   time.Time `json:"waits_until,omitzero"`
	Attempt int       `json:"attempt"`
	Check   string    `json:"check"`
	port.LoopTerms
	Phases    port.LoopPhases    `json:"phases,omitzero"`
	Template  string             `json:"template,omitempty"`
	Worktree  *port.LoopWorktree `json:"worktree,omitempty"`
	Bounds    port.LoopBounds    `json:"bounds"`
	Last      *LoopCheck         `json:"last_check,omitempty"`
	CreatedAt time.Time          `json:"created_at"`
	UpdatedAt time.Time          `json:"updated_at"`
}

// LoopCheck is the result of a check.
type LoopCheck struct {
	Exit   int       `json:"exit_code"`
	Output string    `json:"output"`
	At     time.Time `json:"at"`
}

// LoopOf returns what is shown of a loop.
func LoopOf(l port.Loop) Loop {
	s := Loop{LoopLine: LoopLineOf(l), Session: l.Session, Name: l.Name, Repo: l.Repo, Feature: l.Feature, Detail: l.Detail, Until: l.Until,
		Attempt: l.Attempt, Check: l.Check, LoopTerms: l.LoopTerms, Phases: l.Phases, Worktree: l.Worktree, Bounds: l.Bounds, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt}
	if l.Template != nil {
		s.Template = l.Template.Name
	}
	if l.Last != nil {
		s.Last = &LoopCheck{l.Last.Exit, l.Last.Tail, l.Last.At}
	}
	return s
}

// Bounds returns bounds in one line.
func Bounds(b port.LoopBounds) string {
	var all []string
	if b.Turns > 0 {
		all = append(all, terminal.Several(b.Turns, "turn"))
	}
	if b.Tokens > 0 {
		all = append(all, terminal.Several(int(b.Tokens), "token"))
	}
	if b.Cost > 0 {
		all = append(all, fmt.Sprintf("$%.2f", b.Cost))
	}
	if b.Minutes > 0 {
		all = append(all, terminal.Several(b.Minutes, "minute"))
	}
	if !b.Until.IsZero() {
		all = append(all, "until "+b.Until.UTC().Format(time.RFC3339))
	}
	if b.NoCost {
		all = append(all, "an unknown price is free")
	}
	return strings.Join(all, ", ")
}

// PrintLine prints the loop in one line.
func (l Loop) PrintLine(p *terminal.Printer) {
	p.Line("%s: %s", terminal.Printable(l.Name), l.text())
}

// Print prints the loop, and the output of its last check.
func (l Loop) Print(p *terminal.Printer) {
	l.PrintLine(p)
	p.Line("id: %s", l.ID)
	p.Line("check: %s", terminal.Printable(l.Check))
	if w := l.Worktree; w != nil && !w.Removed {
		p.Line("worktree: %s%s", terminal.Printable(w.Dir), terminal.Words(": it stays: ", terminal.Printable(w.Stays), ""))
	}
	p.Line("bounds: %s", Bounds(l.Bounds))
	if l.Detail != "" {
		p.Line("detail: %s", terminal.Printable(l.Detail))
	}
	if l.Last != nil {
		p.Line("the last check exited with %d:\n%s", l.Last.Exit, terminal.Text(l.Last.Output))
	}
}
