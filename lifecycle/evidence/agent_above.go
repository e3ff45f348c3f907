package evidence

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/agent/witness"
	"ccbot/internal/process"
)

// Above is the agent that a process runs below.
type Above struct {
	Agent   process.Identity
	Session uuid.UUID // of the record that has this agent; Nil: none
	// AgentName is the record's name of its coding agent.
	AgentName string
	Found     bool // false: there is no agent
	// Hook is the digest of ccbot-hook as the record had it launched; empty: unknown.
	Hook string
}

// AgentAbove returns the agent that a process runs below. chain is the process, its parent and so
// on, each proven from the kernel. The nearest agent counts. An agent is a process that a record
// binds, while the record's session is live or not cleaned up, or that has a presence file in the
// agent's folder of this ccbot. Another one, such as a developer's own elsewhere, is not an agent
// here. After an error the answer is unknown.
func (s *Sources) AgentAbove(ctx context.Context, chain []process.Process) (Above, error) {
	bound := make(map[process.Identity]Above)
	for _, r := range s.Records.Shared() {
		if r.Binding == nil || r.State.HasEnded() {
			continue
		}
		for _, id := range []process.Identity{r.Binding.Agent, r.Binding.AgentServer} {
			if id.Valid() {
				bound[id] = Above{Agent: id, Session: r.ID, AgentName: r.AgentName, Found: true, Hook: r.HookDigest}
			}
		}
	}
	for _, p := range chain {
		if above, ok := bound[p.Identity]; ok {
			return above, nil
		}
		for id := range bound {
			if id.Incomparable(p.Identity) {
				return Above{}, fmt.Errorf("agent above process %d: %w", p.PID, errOtherClock)
			}
		}
		switch files, err := s.PresencesOf(ctx, p.PID); {
		case slices.ContainsFunc(files, func(f witness.Presence) bool { return f.ProcStart == p.Start }):
			return Above{Agent: p.Identity, Found: true}, nil
		case len(files) > 0 && p.OtherClock:
			return Above{}, fmt.Errorf("agent above process %d: %w", p.PID, errOtherClock)
		case err != nil:
			return Above{}, fmt.Errorf("agent above process %d: %w", p.PID, err)
		}
	}
	return Above{}, nil
}

// Line returns a process and its ancestors, nearest first. It stops at an unreadable process, which
// belongs to another user and has none of our agents above it.
func (s *Sources) Line(pid int) (line []process.Process) {
	for pid > 0 && len(line) < 64 { // the limit: processes change during the walk
		p, err := s.Processes.Inspect(pid)
		if err != nil {
			break
		}
		line, pid = append(line, p), p.PPID
	}
	return line
}

// RunsBelowAgent reports whether a process runs below an agent, as a nested agent does that was
// started by a tool call.
func (s *Sources) RunsBelowAgent(ctx context.Context, id process.Identity) (bool, error) {
	line := s.Line(id.PID)
	above, err := s.AgentAbove(ctx, line[min(1, len(line)):])
	return above.Found, err
}
