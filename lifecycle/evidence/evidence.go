package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	// Ignored are processes of other users that name a conversation only on their command line,
	// which is not evidence.
	Ignored []process.Process

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
func (e *Evidence) judge(conversations ...uuid.UUID) {
	claims := slices.Clone(e.claims)
	for _, doubt := range e.doubts {
		for _, id := range conversations {
			doubt.SessionID = id
			claims = append(claims, doubt)
		}
	}
	for _, v := range process.Judge(e.Table, claims, e.agents, conversations...) {
		switch {
		case v.Writer != process.No:
			e.Verdicts = append(e.Verdicts, v)
		case v.Source == process.UntrustedArgv:
			e.Ignored = append(e.Ignored, v.Process)
		}
	}
}

// untrusted reports whether the command line of a process is not evidence: any other user can start
// one that names a conversation. Root can read and write everything anyway, and a process bound by
// a record was started for it.
func (e *Evidence) untrusted(p process.Process) bool {
	me, ok := e.Table.Find(e.from.Processes.Self().PID)
	if !ok || p.UID == me.UID || p.UID == 0 {
		return false
	}
	return !slices.ContainsFunc(e.records, func(r session.Record) bool {
		return r.HasAgent(p.Identity) || slices.Contains(r.Bound, p.Identity)
	})
}

// OtherWriters returns the verdicts on all processes that write the session's conversation, or may
// write it, apart from its own agent and from processes that a cleanup failed to end: those were
// reported with the receipt of the cleanup.
func (e *Evidence) OtherWriters(r session.Record) (others []process.Verdict) {
	for _, v := range e.Verdicts {
		left := r.State == session.CleanupFailed && StandingOf(r, v) == Leftover
		if v.SessionID == r.AgentSessionID && !left && !e.IsOwn(r, v) {
			others = append(others, v)
		}
	}
	return others
}

// Unreported returns the other writers that are proven to write and not reported yet.
func (e *Evidence) Unreported(r session.Record) []process.Verdict {
	return slices.DeleteFunc(e.OtherWriters(r), func(v process.Verdict) bool {
		return v.Writer != process.Yes || slices.Contains(r.SecondWriters, v.Process.Identity)
	})
}

// IsOwn reports whether the process is the session's own agent. It is if it is the bound process.
// It also is if it runs below a bound launcher, which passes its arguments on: then only the
// command line says that the launcher writes, and no other evidence does.
func (e *Evidence) IsOwn(r session.Record, v process.Verdict) bool {
	switch {
	case r.Binding == nil:
		return false
	case r.HasAgent(v.Process.Identity):
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
	return !writes && e.agents.StartedFor(above[i], v.SessionID)
}

// SparedBy returns why a process is not ended for a session, even if it writes; nil if nothing
// protects it. The guards named in except do not count.
func (e *Evidence) SparedBy(session uuid.UUID, p process.Process, except ...string) *process.Spare {
	guards := slices.DeleteFunc(slices.Clone(e.guards), func(g process.Guard) bool { return slices.Contains(except, g.Name) })
	if name, spared := process.SparedBy(p, e.Table, guards); spared {
		return &process.Spare{Reason: name, Detail: "guard " + name}
	}
	if other, is := e.agentOf(session, p); is {
		return &process.Spare{Reason: ReasonOtherAgent, Detail: "it is the agent of session " + other.ID.String()}
	}
	return nil
}

// agentOf returns the session whose bound agent the process is, or runs below. The session with
// this id itself is left out.
func (e *Evidence) agentOf(id uuid.UUID, p process.Process) (r session.Record, is bool) {
	for _, above := range append([]process.Process{p}, e.Table.Ancestors(p.PID)...) {
		for _, r := range e.bound[above.Identity] {
			if r.ID != id {
				return r, true
			}
		}
	}
	return session.Record{}, false
}

// readDetails reads what is only needed to describe writers to people.
func (e *Evidence) readDetails(ctx context.Context) {
	if !e.around {
		e.now, _ = e.from.Processes.Moment() // without it no age is shown
		e.panes, _ = e.from.Panes(ctx)       // without it no window is shown
		e.around = true
	}
}

// Survey is one reading of all processes, for many records at once.
type Survey struct {
	// Agents maps each record to the liveness of its bound agent. An agent that has executed
	// another program is Unknown.
	Agents map[uuid.UUID]process.Liveness
	Halves map[uuid.UUID]Half // of the agents with two processes
	// Writers has, for each record, the processes that write its present conversation, or may write
	// it, without its own agent. nil means that the evidence could not be read.
	Writers map[uuid.UUID][]Writer
}

// Survey looks at all processes once. It changes nothing. After an error, Agents is filled all the
// same.
func (s *Sources) Survey(ctx context.Context, records []session.Record) (Survey, error) {
	names := s.agents(s.Records.Shared())
	v := Survey{Agents: make(map[uuid.UUID]process.Liveness), Halves: make(map[uuid.UUID]Half)}
	conversations := make([]uuid.UUID, 0, len(records))
	for _, r := range records {
		conversations = append(conversations, r.AgentSessionID)
		if r.Binding != nil {
			v.Agents[r.ID], v.Halves[r.ID] = AgentOf(*r.Binding, s.agentAlive(*r.Binding, names), s.Processes.Liveness)
		}
	}
	e, err := s.Read(ctx, conversations...)
	if err != nil {
		return v, fmt.Errorf("survey: %w", err)
	}
	e.readDetails(ctx) // once for all writers
	v.Writers = make(map[uuid.UUID][]Writer)
	for _, r := range records {
		if found := e.known(ctx, r); len(found) > 0 {
			v.Writers[r.ID] = found
		}
	}
	return v, nil
}

// Ignored returns the processes of other users that name a conversation on their command line only.
func (s *Sources) Ignored(ctx context.Context, conversation uuid.UUID) ([]process.Process, error) {
	e, err := s.Read(ctx, conversation)
	if err != nil {
		return nil, err
	}
	return e.Ignored, nil
}

// AgentAlive reports whether a bound agent lives.
func (s *Sources) AgentAlive(b session.Binding) process.Liveness {
	alive, _ := AgentOf(b, s.agentAlive(b, s.agents(s.Records.Shared())), s.Processes.Liveness)
	return alive
}

// agentAlive reports whether the bound process of the terminal lives. Pid, start and boot of a
// process stay the same when it executes another program; then the state of the agent is unknown.
func (s *Sources) agentAlive(b session.Binding, names process.AgentNames) process.Liveness {
	alive := s.Processes.Liveness(b.Agent)
	if alive != process.Alive || b.Exe == "" || b.ArgvDigest == "" {
		return alive
	}
	p, err := s.Processes.Inspect(b.Agent.PID)
	switch {
	case errors.Is(err, process.ErrGone), err == nil && p.Identity != b.Agent:
		return process.Gone // it has ended a moment ago
	case err != nil:
		return process.Unknown
	}
	// An update of the agent replaces the file that it runs from.
	exe := strings.TrimSuffix(p.Exe, " (deleted)")
	other := exe != "" && exe != strings.TrimSuffix(b.Exe, " (deleted)") && process.ArgvHash(p.Args) != b.ArgvDigest
	if other && !process.IsAgent(p, names) {
		return process.Unknown
	}
	return process.Alive
}
