package talk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/lazyregexp"
)

// RequestWaiters manages the hooks that wait with a request. refusal.NotFound means that none waits
// with it now.
type RequestWaiters interface {
	// Decide passes an answer on to a request of a session. refusal.Changed means that the request
	// differs from the one that was shown.
	Decide(ctx context.Context, session uuid.UUID, request string, a Answer) error
	// Leave releases a hook without a decision: the terminal's own dialog decides.
	Leave(ctx context.Context, session uuid.UUID, request string) error
	// Waiting returns the waiting requests of a session, oldest first. An error means that they are
	// unknown.
	Waiting(ctx context.Context, session uuid.UUID) ([]Request, error)
}

// DecisionRecords finds the outcome of requests, and what else may answer them.
type DecisionRecords interface {
	// Outcome reads the outcome of a request from the transcript. found is false if there is none
	// yet. a is the answer that was given; nil: none.
	Outcome(ctx context.Context, q Request, a *Answer) (o RequestOutcome, found bool, err error)
	// Answerers returns what in a session's project may answer a request before a person does.
	Answerers(ctx context.Context, session uuid.UUID) ([]Answerer, error)
}

// ErrBadRequest is returned for a request without an identifying field, or whose input is not a
// JSON object.
var ErrBadRequest = errors.New("not a permission request")

// The tools that ask the person: allowing them means an answer.
const (
	toolQuestion = "AskUserQuestion"
	toolPlan     = "ExitPlanMode"
)

// maxToolName is far above the length of Claude Code's names ("mcp__server__tool").
const maxToolName = 256

// requestID matches 16 random bytes in base64. The ID is part of a file name.
var requestID = lazyregexp.New(`^[A-Za-z0-9_-]{22}$`)

// Request is a permission request of an agent. The chat shows Ask, and does not read Input.
type Request struct {
	ID      string    `json:"id"`      // random, from the hook; the same after a reconnect
	Session uuid.UUID `json:"session"` // of the agent
	Agent   string    `json:"agent"`   // the agent's process, opaque
	Hook    string    `json:"hook"`    // the waiting process, opaque

	Transcript string `json:"transcript,omitempty"` // the session's own; may not exist yet
	Offset     int64  `json:"offset,omitempty"`     // its size when the hook ran, in bytes
	Cwd        string `json:"cwd,omitempty"`
	Mode       string `json:"mode,omitempty"` // permission_mode

	Tool        string            `json:"tool"`
	Input       json.RawMessage   `json:"input"` // a JSON object
	Suggestions []json.RawMessage `json:"suggestions,omitempty"`
	SubagentID  string            `json:"subagent_id,omitempty"` // empty: the session itself asks
	Subagent    string            `json:"subagent,omitempty"`    // its type, as Claude Code names it

	RequestedAt time.Time `json:"asked"` // UTC, when the hook ran

	Ask Ask `json:"ask"` // made by the agent's side of the fields above
}

// Check returns an error that wraps ErrBadRequest if a request lacks a field.
func (q Request) Check() error {
	var missing string
	switch {
	case !requestID.MatchString(q.ID):
		missing = "id"
	case q.Session == uuid.Nil:
		missing = "session"
	case q.Agent == "" || q.Hook == "":
		missing = "process"
	case q.Tool == "" || len(q.Tool) > maxToolName:
		missing = "tool"
	case q.RequestedAt.IsZero():
		missing = "time"
	case !isObject(q.Input):
		missing = "input"
	default:
		return nil
	}
	return fmt.Errorf("%s: %w", missing, ErrBadRequest)
}

// KindOf returns the kind of a tool's requests.
func KindOf(tool string) AskKind {
	switch tool {
	case toolQuestion:
		return AskQuestion
	case toolPlan:
		return AskPlan
	}
	return AskPermission
}

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

// RequestOutcome is the outcome of a request.
type RequestOutcome struct {
	ToolID      string // of the call
	ByHook      string // "allow" or "deny": a hook's decision was taken; empty when none was
	Done        bool   // there is a result
	Denial      string // the reason of the denial, in the agent's words
	Half        bool   // the transcript's next line may report an interrupt
	Quoted      bool   // the result has the words of the answer that was given
	Text        string // text of the result
	Interrupted bool   // the person interrupted it, or answered No in the terminal
	Unclear     bool   // it is over, but in words that do not say whether it was allowed
}

// Answerer is a setting of a project that may answer a permission request before a person does. The
// request then never reaches the chat, or ends at once. No option of a launch prevents it
// (2.1.328).
type Answerer string

// The kinds of answerers.
const (
	AnswersByRule   Answerer = "rules"   // permissions.allow: no request is made
	AnswersByHook   Answerer = "hooks"   // the project has a PermissionRequest or PreToolUse hook
	AnswersByPlugin Answerer = "plugins" // a plugin enabled by the project has hooks
)
