package evidence

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Survey is one reading of all processes, for many records at once.
type Survey struct {
	// Agents says for each record whether its bound agent lives. An agent that runs another program
	// by now is Unknown.
	Agents map[uuid.UUID]process.Liveness
	// Writers has, for each record, the processes that write its present conversation, or may write
	// it, without its own agent. nil means that the evidence could not be read.
	Writers map[uuid.UUID][]Writer
}

// Survey looks at all processes once. It changes nothing. After an error, Agents is filled all the
// same.
func (s *Sources) Survey(ctx context.Context, records []session.Record) (Survey, error) {
	names := s.agents(s.Records.Shared())
	v := Survey{Agents: make(map[uuid.UUID]process.Liveness)}
	conversations := make([]uuid.UUID, 0, len(records))
	for _, r := range records {
		conversations = append(conversations, r.ClaudeSessionID)
		if r.Binding != nil {
			v.Agents[r.ID] = s.agentAlive(*r.Binding, names)
		}
	}
	e, err := s.Read(ctx, conversations...)
	if err != nil {
		return v, fmt.Errorf("survey: %w", err)
	}
	e.lookAround(ctx) // once, however many writers there are
	v.Writers = make(map[uuid.UUID][]Writer)
	for _, r := range records {
		if found := e.known(ctx, r); len(found) > 0 {
			v.Writers[r.ID] = found
		}
	}
	return v, nil
}

// AgentAlive says whether a bound agent lives.
func (s *Sources) AgentAlive(b session.Binding) process.Liveness {
	return s.agentAlive(b, s.agents(s.Records.Shared()))
}

// agentAlive says whether a bound agent lives. Pid, start and boot of a process stay the same when
// it executes another program; then it is unknown what has become of the agent.
func (s *Sources) agentAlive(b session.Binding, names process.AgentNames) process.Liveness {
	alive := s.Processes.Liveness(b.Agent)
	if alive != process.Alive || b.Exe == "" || b.Argv == "" {
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
	other := exe != "" && exe != strings.TrimSuffix(b.Exe, " (deleted)") && process.ArgvHash(p.Args) != b.Argv
	if other && !process.IsAgent(p, names) {
		return process.Unknown
	}
	return process.Alive
}
