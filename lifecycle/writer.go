package lifecycle

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Writer is a process that writes a session's conversation, or may, as a person
// is shown it.
type Writer struct {
	process.Process           // with Cwd where it may be read
	ClaudeSessionID uuid.UUID // the conversation
	Age             time.Duration
	Proven          bool
	Source          process.Source // of the evidence that decided
	Why             string         // English, for the log
	Standing        Standing
	Spared          string // reason why no tap ends it; empty: a tap may
	Session         string // name of the session whose bound agent it is; empty: of none
	Pane            tmux.Pane
	InTmux          bool // Pane, on ccbot's tmux server, is where it runs in the foreground
}

// Endable says whether a person may have it ended: it is proven, and nothing
// protects it.
func (w Writer) Endable() bool { return w.Proven && w.Spared == "" }

// Adoptable says whether ccbot can take it over in the terminal where it runs.
// What no archive could end is not adopted.
func (w Writer) Adoptable() bool { return w.Endable() && w.InTmux }

// Writers are the processes that write the session's conversation at this
// moment, or may, apart from its own agent.
func (s *Service) Writers(ctx context.Context, id uuid.UUID) (found []Writer, err error) {
	err = s.do(ctx, id, func(w *work) error {
		found, err = w.others(ctx)
		return err
	})
	return found, err
}

// strangers leaves the session's own agent out, and what a cleanup failed to end:
// that was told with its receipt. It is pure.
func strangers(r session.Record, all evidence) evidence {
	others := evidence{table: all.table}
	for _, v := range all.verdicts {
		own := isOwn(r, all, v) || r.State == session.CleanupFailed && standingOf(r, v) == Leftover
		if !own {
			others.verdicts = append(others.verdicts, v)
		}
	}
	return others
}

// isOwn says whether the process is the session's own agent: the bound one, or
// one below a bound launcher, which hands its arguments on and of which nothing
// but its command line says that it writes.
func isOwn(r session.Record, all evidence, v process.Verdict) bool {
	switch {
	case r.Binding == nil:
		return false
	case v.Process.Identity == r.Binding.Agent:
		return true
	}
	launcher, below := ancestor(all.table, v.Process, r.Binding.Agent)
	if !below {
		return false
	}
	writes := slices.ContainsFunc(all.verdicts, func(v process.Verdict) bool {
		return v.Process.Identity == launcher.Identity && v.Source != process.SourceArgv
	})
	return !writes && startedFor(launcher, v.SessionID)
}

// ancestor finds a process above another one.
func ancestor(table process.Snapshot, p process.Process, wanted process.Identity) (process.Process, bool) {
	for _, above := range table.Ancestors(p.PID) {
		if above.Identity == wanted {
			return above, true
		}
	}
	return process.Process{}, false
}

// scene is one look at the machine, to tell of any number of processes what they
// are beside writers.
type scene struct {
	*Service
	table  process.Snapshot
	guards []process.Guard
	bound  map[process.Identity][]session.Record // agents of records
	now    process.Moment
	panes  []tmux.Pane
}

func (s *Service) scene(table process.Snapshot, records []session.Record) *scene {
	c := &scene{Service: s, table: table, bound: make(map[process.Identity][]session.Record),
		guards: process.StandardGuards(s.Processes.Self(), s.agentsOf(records))}
	for _, r := range records {
		if r.Binding != nil {
			c.bound[r.Binding.Agent] = append(c.bound[r.Binding.Agent], r)
		}
	}
	return c
}

// lookAround adds what is only shown.
func (c *scene) lookAround(ctx context.Context) *scene {
	c.now, _ = c.Processes.Moment() // without it no age is told
	c.panes, _ = c.Tmux.Panes(ctx)  // without it no window is told
	return c
}

func (w *work) describe(ctx context.Context, found evidence) []Writer {
	if len(found.verdicts) == 0 {
		return nil
	}
	return w.scene(found.table, w.Store.Shared()).lookAround(ctx).describe(*w.r, found.verdicts)
}

// describe tells who they are to a session.
func (c *scene) describe(r session.Record, verdicts []process.Verdict) []Writer {
	var all []Writer
	for _, v := range verdicts {
		seen := v.Process
		one := Writer{Process: seen, ClaudeSessionID: v.SessionID, Proven: v.Writer == process.Yes, Source: v.Source, Why: v.Why,
			Standing: standingOf(r, v)}
		one.Age, _ = v.Process.Age(c.now)
		if p, err := c.Processes.Inspect(v.Process.PID); err == nil && p.Identity == v.Process.Identity {
			one.Cwd, seen = p.Cwd, p // with its executable, which a scan leaves out
		}
		one.Session = c.agentOf(r.ID, v.Process)
		if spare := c.sparedBy(r.ID, seen); spare != nil {
			one.Spared = spare.Reason
		}
		one.Pane, one.InTmux = paneOf(c.table, v.Process, c.panes)
		one.InTmux = one.InTmux && !c.foreign(one.Pane) // its window is another ccbot's
		all = append(all, one)
	}
	return all
}

// agentOf is the name of a session, other than one, whose bound agent the process
// is, or runs below.
func (c *scene) agentOf(id uuid.UUID, p process.Process) string {
	for _, above := range append([]process.Process{p}, c.table.Ancestors(p.PID)...) {
		for _, r := range c.bound[above.Identity] {
			if r.ID != id {
				return r.Name
			}
		}
	}
	return ""
}

// sparedBy is why a process is not ended for a session, whatever it writes; nil
// where nothing protects it.
func (c *scene) sparedBy(id uuid.UUID, p process.Process, except ...string) *process.Spare {
	guards := slices.DeleteFunc(slices.Clone(c.guards), func(g process.Guard) bool { return slices.Contains(except, g.Name) })
	if name, spared := process.SparedBy(p, c.table, guards); spared {
		return &process.Spare{Reason: name, Detail: "guard " + name}
	}
	if name := c.agentOf(id, p); name != "" {
		return &process.Spare{Reason: ReasonOtherAgent, Detail: "it is the agent of session " + name}
	}
	return nil
}

// ours says whether a window carries this instance's tag, foreign whether it
// carries another's.
func (s *Service) ours(p tmux.Pane) bool { return strings.HasPrefix(p.Tag, s.Instance+"/") }

func (s *Service) foreign(p tmux.Pane) bool { return p.Tag != "" && !s.ours(p) }

// paneOf finds the pane in which the process runs in the foreground: the pane of
// the nearest ancestor that shares its terminal. One that runs in a terminal
// inside the pane (another tmux, script) or in the background is in none, and
// neither is one that tmux calls by the shell's own name: whether the shell is in
// front could not be told before a key.
func paneOf(table process.Snapshot, p process.Process, panes []tmux.Pane) (tmux.Pane, bool) {
	if p.TTY == 0 || p.PGID != p.Foreground {
		return tmux.Pane{}, false
	}
	for _, above := range append([]process.Process{p}, table.Ancestors(p.PID)...) {
		if above.TTY != p.TTY {
			break
		}
		for _, pane := range panes {
			if pane.PID == above.PID && !pane.Dead {
				return pane, above.PID == p.PID || pane.Command != above.Comm
			}
		}
	}
	return tmux.Pane{}, false
}
