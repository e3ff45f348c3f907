package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/hookwire"
	"ccbot/internal/process"
)

// ErrBadRequest is returned for an ask that cannot be put to a person: it lacks what would name it, or its input is no
// JSON object.
var ErrBadRequest = errors.New("not a permission request")

// The tools that ask the person themselves: for them allow means an answer.
const (
	toolQuestion = "AskUserQuestion"
	toolPlan     = "ExitPlanMode"
)

// maxToolName is far above the names Claude Code gives ("mcp__server__tool").
const maxToolName = 256

// requestID is 16 random bytes in base64. It is part of a file's name and of a button's data.
var requestID = regexp.MustCompile(`^[A-Za-z0-9_-]{22}$`)

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
	var missing string
	switch {
	case !requestID.MatchString(q.ID):
		missing = "id"
	case q.Session == uuid.Nil:
		missing = "session"
	case !q.Agent.Valid():
		missing = "agent"
	case !q.Hook.Valid():
		missing = "hook"
	case q.Tool == "" || len(q.Tool) > maxToolName:
		missing = "tool"
	case q.Asked.IsZero():
		missing = "time"
	case !isObject(q.Input):
		missing = "input"
	default:
		return nil
	}
	return fmt.Errorf("%s: %w", missing, ErrBadRequest)
}

// IsQuestion says that the agent asks the person something (AskUserQuestion).
func (q Request) IsQuestion() bool { return q.Tool == toolQuestion }

// IsPlan says that the agent shows its plan (ExitPlanMode).
func (q Request) IsPlan() bool { return q.Tool == toolPlan }

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}
