package decisions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"
)

// Waiters are the hooks that wait with a request. A refusal with the code NotFound says that none
// waits with it, at this moment or ever.
type Waiters interface {
	Decide(ctx context.Context, id string, d Decision) error
	// Leave lets a hook go without a decision: the terminal's own dialog decides.
	Leave(ctx context.Context, id string)
	// Waiting are the requests of a session that wait, oldest first.
	Waiting(ctx context.Context, session uuid.UUID) []Request
}

// Records say what became of requests, and who else may answer them.
type Records interface {
	// Outcome looks in the transcript what became of a request. Not found: it does not say yet.
	Outcome(ctx context.Context, q Request) (o Outcome, found bool, err error)
	// Answerers are what in a session's project may answer a request before a person does.
	Answerers(ctx context.Context, session uuid.UUID) []Answerer
}

// ErrBadRequest is returned for an ask that cannot be put to a person: it lacks what would name it,
// or its input is no JSON object.
var ErrBadRequest = errors.New("not a permission request")

// The tools that ask the person themselves: for them allow means an answer.
const (
	toolQuestion = "AskUserQuestion"
	toolPlan     = "ExitPlanMode"
)

// maxToolName is far above the names Claude Code gives ("mcp__server__tool").
const maxToolName = 256

// requestID is 16 random bytes in base64. It is part of a file's name.
var requestID = regexp.MustCompile(`^[A-Za-z0-9_-]{22}$`)

// Request is what an agent asks for.
type Request struct {
	ID      string    `json:"id"`      // random, the hook's; the same over redials
	Session uuid.UUID `json:"session"` // of the agent
	Agent   string    `json:"agent"`   // the agent's process, opaque
	Hook    string    `json:"hook"`    // the process that waits, opaque

	Transcript string `json:"transcript,omitempty"` // the session's own; may not exist yet
	Offset     int64  `json:"offset,omitempty"`     // its size when the hook ran, in bytes
	Cwd        string `json:"cwd,omitempty"`
	Mode       string `json:"mode,omitempty"` // permission_mode

	Tool        string            `json:"tool"`
	Input       json.RawMessage   `json:"input"` // a JSON object
	Suggestions []json.RawMessage `json:"suggestions,omitempty"`
	SubagentID  string            `json:"subagent_id,omitempty"` // empty: the session itself asks
	Subagent    string            `json:"subagent,omitempty"`    // its type, in Claude Code's words

	Asked time.Time `json:"asked"` // UTC, when the hook ran
}

// Check says what is missing in a request that was read from somewhere; ErrBadRequest.
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

// Outcome is what became of a request.
type Outcome struct {
	ByHook      string // "allow" or "deny": a hook's decision was taken; empty when none was
	Done        bool   // there is a result
	Denial      string // what has denied it, in Claude Code's words
	Text        string // of the result
	Interrupted bool   // the person interrupted it; "No" at the desk is the same
}

// Answerer is something in a project's own settings that may answer a permission request before a
// person does, so that the request never comes to the chat or is over at once. No setting of a
// launch takes it away (2.1.328).
type Answerer string

// What may answer.
const (
	AnswersByRule   Answerer = "rules"   // permissions.allow: nothing is asked
	AnswersByHook   Answerer = "hooks"   // a PermissionRequest or PreToolUse hook of the project
	AnswersByPlugin Answerer = "plugins" // a plugin that the project switches on has hooks
)
