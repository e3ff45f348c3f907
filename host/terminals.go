package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/each"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// programOf is the name by which a person knows a process.
func programOf(p process.Process) string {
	name := ""
	if len(p.Args) > 0 {
		name = p.Args[0]
	}
	if name = cmp.Or(name, p.Exe, p.Comm); name == "" {
		return ""
	}
	return filepath.Base(name)
}

// inspectTimeout bounds the reads of all sessions together, because a person waits for them.
const inspectTimeout = 3 * time.Second

// Inspect looks at what sessions do. A session's activity is unknown if tmux does not answer in
// time.
func (m Terminals) Inspect(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	lookAt, all := m.Observer.Inspector(ctx), make(map[uuid.UUID]port.Status)
	for _, id := range ids {
		all[id] = port.Status{Now: talk.Activity{Phase: talk.PhaseUnknown}}
		if r, ok := m.Records.Get(id); ok {
			all[id] = m.statusOf(ctx, r, lookAt(r))
		}
	}
	return all, nil
}

// statusOf converts a session's state to the chat's form.
func (m Terminals) statusOf(ctx context.Context, r session.Record, l view.Status) port.Status {
	c, _ := r.Cursor()
	shown := port.Status{Now: l.Now, Idle: l.Phase == talk.PhaseIdle, Background: l.Background, Commands: l.Commands, Agents: l.Agents, Schedules: l.Schedules,
		Draft: l.Draft, Quiet: l.Quiet(), Active: l.Active, LastQuestion: lastQuestion(ctx, m.Agents.Of(r.AgentName).Proof, c.Path), Usage: l.Usage, PIDs: l.PIDs}
	shown.Now.Phase = cmp.Or(l.Now.Phase, l.Phase, talk.PhaseUnknown)
	switch l.Attachment {
	case view.Attached:
		shown.Presence = port.Attached
	case view.PersonTyping:
		shown.Presence = port.Typing
	}
	return shown
}

// Output looks for the output of a command of bash mode.
func (m Terminals) Output(ctx context.Context, id uuid.UUID, command string) (port.Output, error) {
	r, ok := m.Records.Get(id)
	if !ok {
		return port.Output{}, nil
	}
	return m.Observer.Output(ctx, r, command), nil
}

// Writers returns the other processes that write a session's conversation.
func (m Terminals) Writers(ctx context.Context, id uuid.UUID) ([]port.Writer, error) {
	all, err := m.Lifecycle.Writers(ctx, id)
	return each.As(all, m.writerOf), err
}

// Orphans returns the windows that belong to no session.
func (m Terminals) Orphans(ctx context.Context) ([]port.Window, error) {
	all, err := m.Windows.Orphans(ctx)
	return each.As(all, m.windowOf), err
}

// Ignore makes a window be mentioned no more.
func (m Terminals) Ignore(ctx context.Context, w port.Window) error {
	known := windowsOf([]port.Window{w})
	if len(known) == 0 {
		return &refusal.Error{Code: refusal.Changed, Err: fmt.Errorf("window %q", w.ID)}
	}
	return m.Windows.Ignore(ctx, known[0])
}

// NewOrphans returns the windows that were not reported to the chat yet.
func (m Terminals) NewOrphans(ctx context.Context, of []port.Window) ([]port.Window, error) {
	fresh, err := m.Windows.NewOrphans(ctx, windowsOf(of))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(of), func(w port.Window) bool {
		return !slices.ContainsFunc(fresh, func(one evidence.Window) bool { return paneIn(w.ID) == windowID(one.Pane) })
	}), nil
}

// MarkReported records that windows were reported to the chat.
func (m Terminals) MarkReported(ctx context.Context, all []port.Window) error {
	return m.Windows.MarkReported(ctx, windowsOf(all))
}

func (m Terminals) windowOf(w evidence.Window) port.Window {
	one := port.Window{ID: windowID(w.Pane), Pane: m.paneOf(w.Pane), Command: w.Pane.Command, Dir: w.Pane.Path, Dead: w.Pane.Dead,
		Others: each.As(w.Others, func(p process.Process) port.Process { return Process(p, 0) })}
	if w.Agent != nil {
		agent := m.writerOf(*w.Agent)
		one.Agent, one.Closes = &agent, w.Ours && w.Agent.Pane.PID == w.Agent.PID
		one.Dir = cmp.Or(agent.Dir, one.Dir)
		one.ID += port.ID(fmt.Sprintf(" %s %s", agent.ID, agent.AgentSessionID))
	}
	return one
}

// windowID names a window by its number and its first process. The id that the chat gets for a
// window also has, after these two, the agent that runs there and the conversation.
func windowID(p tmux.Pane) port.ID { return port.ID(fmt.Sprintf("%s.%d", p.Window, p.PID)) }

func paneIn(id port.ID) port.ID {
	pane, _, _ := strings.Cut(string(id), " ")
	return port.ID(pane)
}

// windowsOf turns the chat's ids into windows as recovery knows them. Recovery itself checks
// whether they exist. It skips an id that this package has not written.
func windowsOf(shown []port.Window) (all []evidence.Window) {
	for _, w := range shown {
		number, pid, _ := strings.Cut(string(paneIn(w.ID)), ".")
		var p tmux.Pane
		var errs [2]error
		p.Window, errs[0] = tmux.ParseWindowID(number)
		p.PID, errs[1] = strconv.Atoi(pid)
		if errors.Join(errs[:]...) == nil {
			all = append(all, evidence.Window{Pane: p})
		}
	}
	return all
}
