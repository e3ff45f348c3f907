package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Above is the agent that a process runs below.
type Above struct {
	Agent   process.Identity
	Session uuid.UUID // of the agent's record; Nil: it is no record's
	Found   bool      // false: there is no agent
}

// AgentAbove says below which agent a process runs. chain is the process, its
// parent and so on, each proven from the kernel. The nearest agent counts: one
// that is bound to a record of ours that is live or not cleaned up, or that has a presence file in
// our Claude Code's folder. Another claude, such as a developer's own elsewhere,
// is none. With an error it is unknown.
func (s *Sources) AgentAbove(ctx context.Context, chain []process.Process) (Above, error) {
	bound := make(map[process.Identity]uuid.UUID)
	for _, r := range s.Records.Shared() {
		mayLive := r.State.Live() || r.State == session.CleanupFailed
		if mayLive && r.Binding != nil && r.Binding.Agent.Valid() {
			bound[r.Binding.Agent] = r.ID
		}
	}
	for _, p := range chain {
		if id, ok := bound[p.Identity]; ok {
			return Above{Agent: p.Identity, Session: id, Found: true}, nil
		}
		present, err := s.present(ctx, p.Identity)
		if err != nil {
			return Above{}, fmt.Errorf("agent above process %d: %w", p.PID, err)
		}
		if present {
			return Above{Agent: p.Identity, Found: true}, nil
		}
	}
	return Above{}, nil
}

// present says whether exactly this process has a presence file.
func (s *Sources) present(ctx context.Context, id process.Identity) (bool, error) {
	f, err := s.Presences.Read(ctx, id.PID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return f.ProcStart == id.Start, nil
}
