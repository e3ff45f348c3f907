package show

import (
	"cmp"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Fate is the output of `ccbot why --json`: a session and its history, oldest first. A line that
// changed nothing has the same state twice.
type Fate struct {
	ID      uuid.UUID     `json:"id"`
	Name    string        `json:"name"`
	State   session.State `json:"state"`
	Closed  string        `json:"closed_reason,omitempty"`
	Crashed bool          `json:"crashed,omitempty"` // the state is then completed
	// Exit is the end of an agent that ended by itself. Interruption is the work that this end cut
	// short, until it is continued.
	Exit         *Exit                 `json:"exit,omitempty"`
	Interruption *session.Interruption `json:"interruption,omitempty"`
	Loop         *LoopLine             `json:"loop,omitempty"` // the live one
	History      []session.Change      `json:"history"`        // the newest hundred
	// Ignored are processes of other users that name the session on their command line, which does
	// not count. At most maxIgnored are listed.
	Ignored      []Ignored `json:"ignored_processes,omitempty"`
	IgnoredCount int       `json:"ignored_count,omitempty"`
}

// Ignored is a process of another user.
type Ignored struct {
	PID int `json:"pid"`
	UID int `json:"uid"`
}

const maxIgnored = 5

// Ignore adds the processes that do not count.
func (t *Fate) Ignore(all []process.Process) {
	t.IgnoredCount = len(all)
	for _, p := range all[:min(len(all), maxIgnored)] {
		t.Ignored = append(t.Ignored, Ignored{PID: p.PID, UID: p.UID})
	}
}

// Exit is the end of an agent.
type Exit struct {
	Status int       `json:"status"`
	Signal int       `json:"signal,omitempty"`
	At     time.Time `json:"at"`
}

// FateOf returns the fate of a session.
func FateOf(r session.Record) Fate {
	t := Fate{ID: r.ID, Name: r.Name, State: r.State, Closed: r.ClosedReason,
		Crashed: r.Crashed(), Interruption: r.Unfinished(), History: r.History}
	if e := r.Exit; e != nil && e.Known {
		t.Exit = &Exit{Status: e.Status, Signal: e.Signal, At: e.At}
	}
	if t.History == nil {
		t.History = []session.Change{}
	}
	return t
}

// Print prints the history for people: the time by their own clock, from → to, the rule, and the
// evidence on a separate line.
func (t Fate) Print(p *terminal.Printer) {
	state := string(t.State)
	if t.Crashed {
		state = crashed
	}
	p.Line("%s  %s  %s%s", terminal.Printable(t.Name), t.ID, state, terminal.Words(" (", t.Closed, ")"))
	if e := t.Exit; e != nil {
		p.Line("%s", e.text())
	}
	if i := t.Interruption; i != nil {
		p.Line("%s", interruptionText(*i))
	}
	if t.Loop != nil {
		p.Line("loop: %s", t.Loop.text())
	}
	for _, c := range t.History {
		p.Line("%s  %s  %s", c.At.Local().Format(time.DateTime), movement(c), cmp.Or(string(c.Rule), "-"))
		p.Line("    %s", terminal.Printable(c.Why))
	}
	for _, i := range t.Ignored {
		p.Line("ignored: process %d of user %d names the session; another user's command line does not count", i.PID, i.UID)
	}
	if more := t.IgnoredCount - len(t.Ignored); more > 0 {
		p.Line("ignored: %d more such processes", more)
	}
}

func (e Exit) text() string {
	switch {
	case e.Signal != 0:
		return fmt.Sprintf("crashed: ended by signal %d", e.Signal)
	case e.Status != 0:
		return fmt.Sprintf("crashed: exit status %d", e.Status)
	}
	return "left with exit status 0"
}

// interruptionText describes the interrupted work and its progress.
func interruptionText(i session.Interruption) string {
	text := "interrupted at work"
	if i.Waited {
		text = "interrupted while it waited for a person"
	}
	if i.Step != "" {
		text += "; last step: " + terminal.Printable(i.Step)
	}
	if i.TasksTotal > 0 {
		text += fmt.Sprintf("; %d of %d tasks done", i.TasksDone, i.TasksTotal)
	}
	return text
}

func movement(c session.Change) string {
	switch c.From {
	case c.To:
		return "stays " + string(c.To)
	case "":
		return "new → " + string(c.To)
	}
	return fmt.Sprintf("%s → %s", c.From, c.To)
}
