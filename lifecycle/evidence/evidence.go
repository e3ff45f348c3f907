package evidence

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Evidence is one reading of the sources, of one moment.
type Evidence struct {
	Table process.Snapshot
	// Verdicts are on the processes that write one of the conversations asked about,
	// or may; a process that is proven not to write has none.
	Verdicts []process.Verdict

	from    *Sources
	records []session.Record
	agents  process.AgentNames
	guards  []process.Guard
	bound   map[process.Identity][]session.Record // agents of records
	claims  []process.Claim
	doubts  []process.Claim // of files that are there and cannot be read: they may mean any conversation

	around bool // now and panes were read; what is missing then is only not shown
	now    process.Moment
	panes  []tmux.Pane
}

// judge finds the verdicts for some conversations. The identity in a doubt is
// incomplete, so the verdict on a living process of that pid is "unknown".
func (e *Evidence) judge(claudeIDs ...uuid.UUID) {
	claims := slices.Clone(e.claims)
	for _, doubt := range e.doubts {
		for _, id := range claudeIDs {
			doubt.SessionID = id
			claims = append(claims, doubt)
		}
	}
	e.Verdicts = slices.DeleteFunc(process.Judge(e.Table, claims, e.agents, claudeIDs...),
		func(v process.Verdict) bool { return v.Writer == process.No })
}

// Strangers are the verdicts on everybody who writes the session's conversation,
// or may, apart from its own agent and from what a cleanup failed to end: that was
// told with its receipt.
func (e *Evidence) Strangers(r session.Record) (others []process.Verdict) {
	for _, v := range e.Verdicts {
		left := r.State == session.CleanupFailed && StandingOf(r, v) == Leftover
		if v.SessionID == r.ClaudeSessionID && !left && !e.IsOwn(r, v) {
			others = append(others, v)
		}
	}
	return others
}

// Untold are the strangers that are proven to write and that the person was not
// told of yet.
func (e *Evidence) Untold(r session.Record) []process.Verdict {
	return slices.DeleteFunc(e.Strangers(r), func(v process.Verdict) bool {
		return v.Writer != process.Yes || slices.Contains(r.Seconds, v.Process.Identity)
	})
}

// IsOwn says whether the process is the session's own agent: the bound one, or
// one below a bound launcher, which hands its arguments on and of which nothing
// but its command line says that it writes.
func (e *Evidence) IsOwn(r session.Record, v process.Verdict) bool {
	switch {
	case r.Binding == nil:
		return false
	case v.Process.Identity == r.Binding.Agent:
		return true
	}
	above := e.Table.Ancestors(v.Process.PID)
	i := slices.IndexFunc(above, func(p process.Process) bool { return p.Identity == r.Binding.Agent })
	if i < 0 {
		return false
	}
	writes := slices.ContainsFunc(e.Verdicts, func(of process.Verdict) bool {
		return of.SessionID == v.SessionID && of.Process.Identity == above[i].Identity && of.Source != process.SourceArgv
	})
	return !writes && StartedFor(above[i], v.SessionID)
}

// SparedBy is why a process is not ended for a session, whatever it writes; nil
// where nothing protects it. The guards named in except do not count.
func (e *Evidence) SparedBy(session uuid.UUID, p process.Process, except ...string) *process.Spare {
	guards := slices.DeleteFunc(slices.Clone(e.guards), func(g process.Guard) bool { return slices.Contains(except, g.Name) })
	if name, spared := process.SparedBy(p, e.Table, guards); spared {
		return &process.Spare{Reason: name, Detail: "guard " + name}
	}
	if name := e.agentOf(session, p); name != "" {
		return &process.Spare{Reason: ReasonOtherAgent, Detail: "it is the agent of session " + name}
	}
	return nil
}

// agentOf is the name of a session, other than one, whose bound agent the process
// is, or runs below.
func (e *Evidence) agentOf(id uuid.UUID, p process.Process) string {
	for _, above := range append([]process.Process{p}, e.Table.Ancestors(p.PID)...) {
		for _, r := range e.bound[above.Identity] {
			if r.ID != id {
				return r.Name
			}
		}
	}
	return ""
}

// lookAround reads what is only shown.
func (e *Evidence) lookAround(ctx context.Context) {
	if !e.around {
		e.now, _ = e.from.Processes.Moment() // without it no age is shown
		e.panes, _ = e.from.Panes(ctx)       // without it no window is shown
		e.around = true
	}
}
