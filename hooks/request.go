package hooks

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/decisions"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
)

// ErrBadRequest is returned for an ask that cannot be put to a person.
var ErrBadRequest = decisions.ErrBadRequest

// Request is one PermissionRequest that a Claude Code process waits with. Its
// terminal shows the same dialog meanwhile.
type Request struct {
	ID      string           `json:"id"`      // random, the hook's; the same over redials
	Session uuid.UUID        `json:"session"` // record of the agent
	Agent   process.Identity `json:"agent"`   // the agent, as the kernel knows the one above the hook
	Hook    process.Identity `json:"hook"`    // the process that waits

	ClaudeSession uuid.UUID `json:"claude_session"`
	Transcript    string    `json:"transcript,omitempty"` // of the session itself, also for a subagent; may not exist yet
	Offset        int64     `json:"offset,omitempty"`     // its size when the hook ran, in bytes
	Cwd           string    `json:"cwd,omitempty"`
	Mode          string    `json:"mode,omitempty"` // permission_mode

	Tool        string            `json:"tool"`
	Input       json.RawMessage   `json:"input"` // a JSON object
	Suggestions []json.RawMessage `json:"suggestions,omitempty"`
	SubagentID  string            `json:"subagent_id,omitempty"` // empty: the session itself asks
	Subagent    string            `json:"subagent,omitempty"`    // its type, in Claude Code's words

	Asked time.Time `json:"asked"` // UTC, when the hook ran
}

// NewRequest makes the request of an ask. Who asks (session, agent, hook) is what the kernel said about the socket's
// peer, never what the ask says. ErrBadRequest when something that is needed is missing or makes no sense.
func NewRequest(id string, session uuid.UUID, agent, hook process.Identity, a hookwire.Ask) (Request, error) {
	claude, err := uuid.Parse(a.SessionID)
	if err != nil {
		return Request{}, fmt.Errorf("session id: %w: %w", ErrBadRequest, err)
	}
	q := Request{
		ID: id, Session: session, Agent: agent, Hook: hook,
		ClaudeSession: claude, Transcript: a.TranscriptPath, Offset: max(a.TranscriptSize, 0), Cwd: a.Cwd, Mode: a.PermissionMode,
		Tool: a.Tool, Input: a.Input, Suggestions: a.Suggestions, SubagentID: a.AgentID, Subagent: a.AgentType,
		Asked: a.Received.UTC(),
	}
	if err := q.Check(); err != nil {
		return Request{}, err
	}
	return q, nil
}

// Check says what is missing in a request that was read from somewhere; ErrBadRequest.
func (q Request) Check() error {
	switch {
	case !q.Agent.Valid():
		return fmt.Errorf("agent: %w", ErrBadRequest)
	case !q.Hook.Valid():
		return fmt.Errorf("hook: %w", ErrBadRequest)
	}
	return q.Plain().Check()
}

// Plain is the request as the chat sees it.
func (q Request) Plain() decisions.Request {
	return decisions.Request{ID: q.ID, Session: q.Session, Agent: q.Agent.Text(), Hook: q.Hook.Text(), Transcript: q.Transcript, Offset: q.Offset,
		Cwd: q.Cwd, Mode: q.Mode, Tool: q.Tool, Input: q.Input, Suggestions: q.Suggestions, SubagentID: q.SubagentID,
		Subagent: q.Subagent, Asked: q.Asked}
}
