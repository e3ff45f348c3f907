package evidence

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// Evidence is one reading of the sources, at one moment.
type Evidence struct {
	Table process.Snapshot
	// Verdicts has one entry for each process that writes one of the given conversations, or may
	// write it. A process that is proven not to write has none.
	Verdicts []process.Verdict

	from    *Sources
	records []session.Record
	agents  process.AgentNames
	guards  []process.Guard
	bound   map[process.Identity][]session.Record // agents of records
	claims  []process.Claim
	doubts  []process.Claim // of files that exist but cannot be read: each may be about any conversation

	around bool // now and panes were read; a value that could not be read is left out of what is shown
	now    process.Moment
	panes  []tmux.Pane
}

// judge finds the verdicts for some conversations. The identity in a doubt has only a pid, so the
// verdict on a living process with that pid is "unknown".
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

// Strangers returns the verdicts on all processes that write the session's conversation, or may
// write it, apart from its own agent and from processes that a cleanup failed to end: those were
// reported with the receipt of the cleanup.
func (e *Evidence) Strangers(r session.Record) (others []process.Verdict) {
	for _, v := range e.Verdicts {
		left := r.State == session.CleanupFailed && StandingOf(r, v) == Leftover
		if v.SessionID == r.ClaudeSessionID && !left && !e.IsOwn(r, v) {
			others = append(others, v)
		}
	}
	return others
}

// Untold returns the strangers that are proven to write and were not reported to the person yet.
func (e *Evidence) Untold(r session.Record) []process.Verdict {
	return slices.DeleteFunc(e.Strangers(r), func(v process.Verdict) bool {
		return v.Writer != process.Yes || slices.Contains(r.Seconds, v.Process.Identity)
	})
}

// IsOwn says whether the process is the session's own agent. It is if it is the bound process. It
// also is if it runs below a bound launcher, which passes its arguments on: then only the command
// line says that the launcher writes, and no other evidence does.
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

// SparedBy returns why a process is not ended for a session, whatever it writes; nil if nothing
// protects it. The guards that except names do not count.
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

// agentOf returns the name of the session whose bound agent the process is, or runs below. The
// session with this id itself is left out.
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

// lookAround reads what is only needed to describe writers to people.
func (e *Evidence) lookAround(ctx context.Context) {
	if !e.around {
		e.now, _ = e.from.Processes.Moment() // without it no age is shown
		e.panes, _ = e.from.Panes(ctx)       // without it no window is shown
		e.around = true
	}
}
