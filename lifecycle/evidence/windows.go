package evidence

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Window is a window that belongs to no session.
type Window struct {
	Pane tmux.Pane // its first pane
	// Agent is the one process in the foreground of the window's panes that is proven to write a
	// conversation; nil: none, or several.
	Agent  *Writer
	Others []process.Process // the other processes in its panes, without those that the agent has started
	Ours   bool              // it carries this instance's tag
}

// Windows describes the programs in some windows; panes must be all panes of these windows.
func (s *Sources) Windows(ctx context.Context, panes []tmux.Pane) ([]Window, error) {
	e, err := s.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("look into windows: %w", err)
	}
	e.judge(e.mentioned()...)
	e.now, _ = s.Processes.Moment()
	e.panes, e.around = panes, true
	writers := e.Describe(ctx, session.Record{}, slices.DeleteFunc(e.Verdicts, func(v process.Verdict) bool {
		return v.Writer != process.Yes || s.printsOnce(v.Process.Args) // no person uses an agent that only prints one answer
	}))
	var windows []Window
	for _, p := range panes {
		if slices.ContainsFunc(windows, func(w Window) bool { return w.Pane.Window == p.Window }) {
			continue
		}
		windows = append(windows, Window{Pane: p, Ours: s.Ours(p), Agent: agentIn(p.Window, writers)})
	}
	others := e.processesIn(windows)
	for i, w := range windows {
		windows[i].Others = others[w.Pane.Window]
	}
	return windows, nil
}

// printsOnce reports whether a command line starts an agent that prints one answer and ends.
func (s *Sources) printsOnce(args []string) bool {
	for _, one := range s.Agents {
		if one.Witness.PrintsOnce(args) {
			return true
		}
	}
	return false
}

// agentIn returns the writer in the foreground of a pane of the window, nil if there are several.
func agentIn(window tmux.WindowID, writers []Writer) (agent *Writer) {
	for _, one := range writers {
		if !one.InTmux || one.Pane.Window != window {
			continue
		}
		if agent != nil {
			return nil
		}
		agent = &one
	}
	return agent
}

// mentioned returns all conversations that a claim or a command line names.
func (e *Evidence) mentioned() (ids []uuid.UUID) {
	add := func(id uuid.UUID) {
		if id != uuid.Nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, claim := range e.claims {
		add(claim.SessionID)
	}
	for _, p := range e.Table.Processes {
		if ids := e.from.conversations(p.Args); len(ids) > 0 && e.agents.StartedFor(p, ids[0]) {
			add(ids[0])
		}
	}
	return ids
}

// processesIn returns the processes in windows: processes below the panes, and processes in the
// panes' terminals. A terminal belongs to one kernel session, whose number no other process has; a
// container may have a terminal of the same device number. A dead pane does not count, because its
// pid may have been reused.
func (e *Evidence) processesIn(windows []Window) map[tmux.WindowID][]process.Process {
	below, inside := map[int]tmux.WindowID{}, map[int]tmux.WindowID{}
	for _, pane := range e.panes {
		if p, ok := e.Table.Find(pane.PID); ok && !pane.Dead {
			below[p.PID] = pane.Window
			inside[p.SID] = pane.Window
		}
	}
	delete(inside, 0) // unknown
	agents := map[process.Identity]bool{}
	for _, w := range windows {
		if w.Agent != nil {
			agents[w.Agent.Identity] = true
		}
	}
	found := map[tmux.WindowID][]process.Process{}
	for _, p := range e.Table.Processes {
		window, in := inside[p.SID]
		ofAgent := false
		for _, above := range append([]process.Process{p}, e.Table.Ancestors(p.PID)...) {
			ofAgent = ofAgent || agents[above.Identity]
			if w, ok := below[above.PID]; ok && !in {
				window, in = w, true
			}
		}
		if in && !ofAgent && !p.Gone() {
			found[window] = append(found[window], p)
		}
	}
	return found
}
