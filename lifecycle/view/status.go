package view

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// Attachment reports whether a person has a session's window open in a terminal.
type Attachment int

const (
	AttachmentUnknown Attachment = iota // tmux did not say
	Detached                            // no terminal shows the window
	Attached                            // a terminal shows it
	PersonTyping                        // a terminal shows it, and keys were pressed there a moment ago
)

// typingTTL is how long after the last key a person counts as typing in the terminal.
const typingTTL = 5 * time.Minute

// Status is the state of a session for a person.
type Status struct {
	Phase      talk.Phase    // decides where keys go
	Now        talk.Activity // the activity shown to people
	Attachment Attachment
	Background bool        // commands that the agent has started still run, or may
	Commands   int         // the number of these commands; 0: none, or unknown
	Agents     int         // the number of its background agents, according to its screen
	Schedules  int         // of the agent itself: they end with its process
	Draft      bool        // the prompt box contains text that was not sent
	Active     time.Time   // when something last happened, from either side
	Usage      *port.Usage // the present usage, otherwise the record's; nil: unknown
	PIDs       []int       // of the agent and of all that it has started; none: unknown
}

// Quiet reports whether the agent is unused now: it is idle, nothing that it has started runs, no
// terminal shows it, and no draft would be lost. Schedules of its own would end with it all the same.
func (s Status) Quiet() bool {
	return s.Phase == talk.PhaseIdle && s.Attachment == Detached && !s.Background && s.Agents == 0 && !s.Draft
}

// Inspector returns a function that reads the state of sessions. It reads the process table and the
// list of terminals once, at the first session that needs them. If a session is not open, its phase
// is unknown.
func (o *Observer) Inspector(ctx context.Context) func(session.Record) Status {
	table := sync.OnceValues(func() (process.Snapshot, error) { return o.Processes.Snapshot(ctx) })
	terminals := sync.OnceValues(func() ([]tmux.Viewer, error) { return o.Screens.Viewers(ctx) })
	return func(r session.Record) Status {
		if !r.State.Live() || r.Binding == nil {
			return Status{Phase: talk.PhaseUnknown}
		}
		v := o.View(ctx, r)
		l := Status{Phase: v.Phase(), Now: Doing(v, r.Progress.Failed), Agents: v.Screen.Agents, Schedules: r.Binding.Schedules, Active: o.lastActive(r, v)}
		processes, err := table()
		l.Commands, l.Background = commands(processes, r.Binding.Agent)
		l.Background = l.Background || err != nil
		l.PIDs = Tree(processes, r.Binding.Agent)
		l.Draft = !v.Captured || v.Screen.Box.Present && (!v.Screen.Box.Empty || v.Screen.Box.Bash)
		if l.Usage = o.Usage(r); l.Usage == nil {
			l.Usage = r.Usage
		}
		if o.Screens != nil && v.Fate == PaneOurs {
			if viewers, err := terminals(); err == nil {
				l.Attachment = attachmentOf(viewers, v.Pane, v.Now)
			}
		}
		return l
	}
}

// attachmentOf is pure. A read-only terminal counts as attached. So does a terminal that draws tmux
// itself (iTerm2's -CC): tmux does not list it as a viewer, but only counts it with its session,
// and it may show any window of that session.
func attachmentOf(viewers []tmux.Viewer, pane tmux.Pane, now time.Time) Attachment {
	found := Detached
	for _, v := range viewers {
		if v.Window != pane.Window {
			continue
		}
		if !v.ReadOnly && now.Sub(v.LastKey) < typingTTL {
			return PersonTyping
		}
		found = Attached
	}
	if DrawsItself(viewers, pane) {
		found = Attached
	}
	return found
}

// commands counts the commands that an agent has started and that still run. Each has a separate process session, while other
// helpers of the agent share the agent's. If the number is unknown, some may run.
func commands(table process.Snapshot, agent process.Identity) (n int, may bool) {
	p, ok := table.Find(agent.PID)
	if !ok || p.Identity != agent {
		return 0, true
	}
	own := map[int]bool{p.PID: true}
	for _, below := range table.Descendants(p.PID) { // parents come first
		switch {
		case below.SID == p.SID:
			own[below.PID] = true
		case own[below.PPID] && !below.Gone():
			n++
		}
	}
	return n, n > 0
}

// PIDs returns the pids of a session's agent and of all processes that it has started; none means
// that they are unknown.
func (o *Observer) PIDs(ctx context.Context, r session.Record) []int {
	if !r.State.Live() || r.Binding == nil {
		return nil
	}
	table, err := o.Processes.Snapshot(ctx)
	if err != nil {
		return nil
	}
	return Tree(table, r.Binding.Agent)
}

// Tree returns the pids of an agent and of all processes that it has started, the agent first; none
// if the agent is not there.
func Tree(table process.Snapshot, agent process.Identity) (pids []int) {
	if p, ok := table.Find(agent.PID); !ok || p.Identity != agent {
		return nil
	}
	pids = []int{agent.PID}
	for _, below := range table.Descendants(agent.PID) {
		pids = append(pids, below.PID)
	}
	return pids
}

// Output looks in the terminal of a session for a command of bash mode; command may be given with
// or without its "!". The zero value means that this is unknown, or that the agent works on
// something else.
func (o *Observer) Output(ctx context.Context, r session.Record, command string) port.Output {
	if !r.State.Live() || r.Binding == nil {
		return port.Output{}
	}
	v := o.View(ctx, r)
	sh, seen := v.Shell()
	if !v.Runs(sh, command) {
		return port.Output{Idle: seen && v.Phase() == talk.PhaseIdle}
	}
	return port.Output{Runs: true, Lines: slices.Clone(sh.Lines), Above: sh.Above}
}

// lastActive returns the latest sign of life from either side: in the record (a prompt, an answer
// that was shown), in the agent's status, or in the transcript.
func (o *Observer) lastActive(r session.Record, v View) time.Time {
	latest := r.ActiveAt
	if v.State.Since.After(latest) {
		latest = v.State.Since
	}
	if info, err := os.Stat(o.TranscriptPath(r)); err == nil && info.ModTime().After(latest) {
		latest = info.ModTime()
	}
	return latest
}
