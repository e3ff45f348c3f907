package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Survey is one look at all processes for many records at once.
type Survey struct {
	// Agents says of each record's bound agent whether it lives. One that runs
	// another program by now is Unknown.
	Agents map[uuid.UUID]process.Liveness
	// Writers are, per record, who writes its present conversation, or may; its own
	// agent is left out. nil: the evidence could not be read.
	Writers map[uuid.UUID][]Writer
}

// Survey looks once at all processes. It changes nothing. On an error what the
// kernel says of the bound agents is there all the same.
func (s *Service) Survey(ctx context.Context, records []session.Record) (Survey, error) {
	v := Survey{Agents: s.agentsAlive(records)}
	t, err := s.testimony(ctx)
	if err != nil {
		return v, fmt.Errorf("survey: %w", err)
	}
	v.Writers = make(map[uuid.UUID][]Writer)
	verdicts := make(map[uuid.UUID][]process.Verdict)
	for _, one := range s.weigh(t, conversations(records)...).verdicts {
		verdicts[one.SessionID] = append(verdicts[one.SessionID], one)
	}
	c := s.scene(t.table, records).lookAround(ctx)
	for _, r := range records {
		all := evidence{table: t.table, verdicts: verdicts[r.ClaudeSessionID]}
		found := append(c.describe(r, strangers(r, all).verdicts), c.unended(r, all.verdicts)...)
		if len(found) > 0 {
			v.Writers[r.ID] = found
		}
	}
	return v, nil
}

func conversations(records []session.Record) []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(records))
	for _, r := range records {
		ids = append(ids, r.ClaudeSessionID)
	}
	return ids
}

func (s *Service) agentsAlive(records []session.Record) map[uuid.UUID]process.Liveness {
	alive := make(map[uuid.UUID]process.Liveness)
	names := s.agentsOf(records)
	for _, r := range records {
		if r.Binding != nil {
			alive[r.ID] = s.agentAlive(*r.Binding, names)
		}
	}
	return alive
}

// agentAlive says whether a bound agent lives. Its pid, start and boot stay when
// it executes another program: then nobody knows what has become of it.
func (s *Service) agentAlive(b session.Binding, names process.AgentNames) process.Liveness {
	alive := s.Processes.Liveness(b.Agent)
	if alive != process.Alive || b.Exe == "" || b.Argv == "" {
		return alive
	}
	p, err := s.Processes.Inspect(b.Agent.PID)
	switch {
	case errors.Is(err, process.ErrGone), err == nil && p.Identity != b.Agent:
		return process.Gone // a moment ago
	case err != nil:
		return process.Unknown
	case becameOther(p, b) && !process.IsAgent(p, names):
		return process.Unknown
	}
	return process.Alive
}

// becameOther says whether a process is proven to run something else than when
// it was bound. An update of the agent replaces the file that it runs from.
func becameOther(p process.Process, b session.Binding) bool {
	exe := strings.TrimSuffix(p.Exe, " (deleted)")
	return exe != "" && exe != strings.TrimSuffix(b.Exe, " (deleted)") && process.ArgvHash(p.Args) != b.Argv
}
