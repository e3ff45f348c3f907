package hooks

import (
	"fmt"

	"github.com/google/uuid"

	"ccbot/bot/port/decisions"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
)

// errBadRequest means an ask that cannot be shown to a person.
var errBadRequest = decisions.ErrBadRequest

// Request is one PermissionRequest that a Claude Code process waits for. Its terminal shows the
// same dialog at the same time.
type Request = decisions.Request

// NewRequest makes the request of an ask. session, agent and hook come from the kernel's data about
// the socket's peer, never from the ask. The error is errBadRequest when something required is
// missing or makes no sense.
func NewRequest(id string, session uuid.UUID, agent, hook process.Identity, a hookwire.Ask) (Request, error) {
	if _, err := uuid.Parse(a.SessionID); err != nil {
		return Request{}, fmt.Errorf("session id: %w: %w", errBadRequest, err)
	}
	if !agent.Valid() || !hook.Valid() {
		return Request{}, fmt.Errorf("process: %w", errBadRequest)
	}
	q := Request{
		ID: id, Session: session, Agent: agent.Text(), Hook: hook.Text(),
		Transcript: a.TranscriptPath, Offset: max(a.TranscriptSize, 0), Cwd: a.Cwd, Mode: a.PermissionMode,
		Tool: a.Tool, Input: a.Input, Suggestions: a.Suggestions, SubagentID: a.AgentID, Subagent: a.AgentType,
		Asked: a.Received.UTC(),
	}
	return q, q.Check()
}

// Decision is what the hook prints, in the shape that Claude Code expects.
type Decision = decisions.Decision
