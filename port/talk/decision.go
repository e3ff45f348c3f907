package talk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/each"
	"ccbot/internal/exactjson"
	"ccbot/internal/lazyregexp"
)

// Denied is what Claude reads when a person denied without a word.
const Denied = "The user denied this from the chat."

const behaviorAllow = "allow"

// Decision is what the hook prints: Claude Code's own shape.
type Decision struct {
	Behavior           string            `json:"behavior"` // allow or deny
	Message            string            `json:"message,omitempty"`
	Interrupt          bool              `json:"interrupt,omitempty"` // a denial ends the turn, as Esc does
	UpdatedInput       json.RawMessage   `json:"updatedInput,omitempty"`
	UpdatedPermissions []json.RawMessage `json:"updatedPermissions,omitempty"`
}

// Allows says that the tool may run.
func (d Decision) Allows() bool { return d.Behavior == behaviorAllow }

// Allow lets the tool run once, with the input it has.
func Allow(q Request) Decision {
	d := Decision{Behavior: behaviorAllow}
	if q.IsQuestion() || q.IsPlan() {
		d.UpdatedInput = q.Input // without it Claude Code ignores the decision for these two
	}
	return d
}

// AllowForSession lets the tool run and adds the rules of SessionRules for as long as the agent
// lives. It is false when there is none, and for questions and plans.
func AllowForSession(q Request) (Decision, bool) {
	rules := SessionRules(q.Suggestions)
	d := Allow(q)
	d.UpdatedPermissions = each.As(rules, func(r Rule) json.RawMessage { return r.Raw })
	return d, len(rules) > 0 && !q.IsQuestion() && !q.IsPlan()
}

// Deny keeps the tool from running; the turn goes on, and Claude reads the message, else Denied.
func Deny(message string) Decision {
	if message == "" {
		message = Denied
	}
	return Decision{Behavior: "deny", Message: message}
}

// DenyAndStop is Deny that also ends the turn.
func DenyAndStop(message string) Decision {
	d := Deny(message)
	d.Interrupt = true
	return d
}

// AnswerQuestions answers AskUserQuestion: answers holds a label, several joined by ", ", or free
// text for the text of each question.
func AnswerQuestions(q Request, answers map[string]string) (Decision, error) {
	var input map[string]json.RawMessage
	if err := json.Unmarshal(q.Input, &input); err != nil {
		return Decision{}, fmt.Errorf("questions: %w", err)
	}
	input["answers"], _ = json.Marshal(answers) // texts always encode
	updated, err := json.Marshal(input)
	return Decision{Behavior: behaviorAllow, UpdatedInput: updated}, err
}

// ApprovePlan ends plan mode. With allowEdits the session's edits are accepted unasked from then
// on, else it asks before each.
func ApprovePlan(q Request, allowEdits bool) Decision {
	mode := "default"
	if allowEdits {
		mode = "acceptEdits"
	}
	d := Allow(q)
	d.UpdatedPermissions = []json.RawMessage{
		json.RawMessage(`{"type":"setMode","mode":"` + mode + `","destination":"session"}`),
	}
	return d
}

// RequestWaiters are the hooks that wait with a request. A refusal with the code NotFound says that none
// waits with it, at this moment or ever.
type RequestWaiters interface {
	Decide(ctx context.Context, id string, d Decision) error
	// Leave lets a hook go without a decision: the terminal's own dialog decides.
	Leave(ctx context.Context, id string)
	// Waiting are the requests of a session that wait, oldest first.
	Waiting(ctx context.Context, session uuid.UUID) []Request
}

// DecisionRecords say what became of requests, and who else may answer them.
type DecisionRecords interface {
	// Outcome looks in the transcript what became of a request. Not found: it does not say yet.
	Outcome(ctx context.Context, q Request) (o RequestOutcome, found bool, err error)
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
var requestID = lazyregexp.New(`^[A-Za-z0-9_-]{22}$`)

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

// RequestOutcome is what became of a request.
type RequestOutcome struct {
	ToolID      string // of the call
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

// Rule is one change of permissions that "allow for this session" adds: rules or directories.
type Rule struct {
	Raw         json.RawMessage // as Claude Code reads it, destination "session"
	Rules       []ToolRule
	Directories []string
}

// ToolRule allows a tool, as Claude Code writes it. Without content it allows every use.
type ToolRule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// suggestion is all that a suggestion may say.
type suggestion struct {
	Type        string     `json:"type"`
	Rules       []ToolRule `json:"rules,omitempty"`
	Behavior    string     `json:"behavior,omitempty"`
	Directories []string   `json:"directories,omitempty"`
	Destination string     `json:"destination,omitempty"`
}

// SessionRules are those of a payload's own permission_suggestions that "allow for this session"
// returns: rules that allow and directories that are added, each with destination "session". A
// suggestion that changes the mode, removes, replaces or denies, or says anything unknown is left
// out: what a tap gives must be what the message lists. Without a rule there is none: a directory
// alone was seen to change nothing, the same command asks again (2.1.328).
func SessionRules(suggestions []json.RawMessage) []Rule {
	var all []Rule
	for _, raw := range suggestions {
		if r, ok := sessionRule(raw); ok {
			all = append(all, r)
		}
	}
	if !slices.ContainsFunc(all, func(r Rule) bool { return len(r.Rules) > 0 }) {
		return nil
	}
	return all
}

func sessionRule(raw json.RawMessage) (r Rule, ok bool) {
	var s suggestion
	if _, plain := exactjson.Object(raw); !plain || json.Unmarshal(raw, &s) != nil || !says(raw, s) {
		return Rule{}, false
	}
	switch s.Type {
	case "addRules":
		ok = s.Behavior == behaviorAllow && len(s.Rules) > 0 && len(s.Directories) == 0 &&
			!slices.ContainsFunc(s.Rules, func(r ToolRule) bool { return r.Tool == "" })
	case "addDirectories":
		ok = s.Behavior == "" && len(s.Rules) == 0 && len(s.Directories) > 0 &&
			!slices.Contains(s.Directories, "")
	}
	s.Destination = "session"
	made, err := json.Marshal(s)
	return Rule{Raw: made, Rules: s.Rules, Directories: s.Directories}, ok && err == nil
}

// says reports whether a suggestion as it was read is all of its JSON.
func says(raw json.RawMessage, s suggestion) bool {
	var given, read any
	again, err := json.Marshal(s)
	return err == nil && json.Unmarshal(raw, &given) == nil && json.Unmarshal(again, &read) == nil &&
		reflect.DeepEqual(given, read)
}
