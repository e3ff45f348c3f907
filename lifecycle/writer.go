package lifecycle

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Writer is a process that writes a session's conversation, or may, as a person
// is shown it.
type Writer struct {
	process.Process // with Cwd where it may be read
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
// that was told with its receipt.
func (w *work) strangers(all evidence) evidence {
	others := evidence{table: all.table}
	for _, v := range all.verdicts {
		own := isOwn(*w.r, all, v) || w.r.State == session.CleanupFailed && standingOf(*w.r, v) == Leftover
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

func (w *work) describe(ctx context.Context, found evidence) []Writer {
	now, _ := w.Processes.Moment() // without it no age is told
	panes, _ := w.Tmux.Panes(ctx)  // without it no window is told
	var all []Writer
	for _, v := range found.verdicts {
		seen := v.Process
		one := Writer{Process: seen, Proven: v.Writer == process.Yes, Source: v.Source, Why: v.Why,
			Standing: standingOf(*w.r, v)}
		one.Age, _ = v.Process.Age(now)
		if p, err := w.Processes.Inspect(v.Process.PID); err == nil && p.Identity == v.Process.Identity {
			one.Cwd, seen = p.Cwd, p // with its executable, which a scan leaves out
		}
		one.Session = w.agentOf(found.table, v.Process)
		if spare := w.sparedBy(found.table, seen); spare != nil {
			one.Spared = spare.Reason
		}
		one.Pane, one.InTmux = paneOf(found.table, v.Process, panes)
		all = append(all, one)
	}
	return all
}

// agentOf is the name of another session whose bound agent the process is, or
// runs below.
func (w *work) agentOf(table process.Snapshot, p process.Process) string {
	for _, r := range w.Store.List() {
		if r.ID == w.r.ID || r.Binding == nil {
			continue
		}
		_, below := ancestor(table, p, r.Binding.Agent)
		if below || r.Binding.Agent == p.Identity {
			return r.Name
		}
	}
	return ""
}

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
