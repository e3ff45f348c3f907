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

// Denied is the message to Claude if a person denied without a text.
const Denied = "The user denied this from the chat."

const behaviorAllow = "allow"

// Decision is the hook's output, in Claude Code's format.
type Decision struct {
	Behavior           string            `json:"behavior"` // allow or deny
	Message            string            `json:"message,omitempty"`
	Interrupt          bool              `json:"interrupt,omitempty"` // also end the turn, as Esc does
	UpdatedInput       json.RawMessage   `json:"updatedInput,omitempty"`
	UpdatedPermissions []json.RawMessage `json:"updatedPermissions,omitempty"`
}

// Allows reports whether the tool may run.
func (d Decision) Allows() bool { return d.Behavior == behaviorAllow }

// Allow runs the tool once, with its input unchanged.
func Allow(q Request) Decision {
	d := Decision{Behavior: behaviorAllow}
	if q.IsQuestion() || q.IsPlan() {
		d.UpdatedInput = q.Input // without it Claude Code ignores the decision for these two
	}
	return d
}

// AllowForSession runs the tool and adds the rules of SessionRules for the agent's lifetime. ok is
// false without rules, and for questions and plans.
func AllowForSession(q Request) (Decision, bool) {
	rules := SessionRules(q.Suggestions)
	d := Allow(q)
	d.UpdatedPermissions = each.As(rules, func(r Rule) json.RawMessage { return r.Raw })
	return d, len(rules) > 0 && !q.IsQuestion() && !q.IsPlan()
}

// Deny denies the tool; the turn continues, and Claude reads the message, or Denied if it is empty.
func Deny(message string) Decision {
	if message == "" {
		message = Denied
	}
	return Decision{Behavior: "deny", Message: message}
}

// DenyAndStop is like Deny but also ends the turn.
func DenyAndStop(message string) Decision {
	d := Deny(message)
	d.Interrupt = true
	return d
}

// AnswerQuestions answers AskUserQuestion. answers maps the text of each question to a label,
// several labels joined by ", ", or free text.
func AnswerQuestions(q Request, answers map[string]string) (Decision, error) {
	var input map[string]json.RawMessage
	if err := json.Unmarshal(q.Input, &input); err != nil {
		return Decision{}, fmt.Errorf("questions: %w", err)
	}
	input["answers"], _ = json.Marshal(answers) // texts always encode
	updated, err := json.Marshal(input)
	return Decision{Behavior: behaviorAllow, UpdatedInput: updated}, err
}

// ApprovePlan ends plan mode. With allowEdits the session then makes edits without asking,
// otherwise it asks before each.
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

// RequestWaiters manages the hooks that wait with a request. refusal.NotFound means that none waits
// with it now.
type RequestWaiters interface {
	Decide(ctx context.Context, id string, d Decision) error
	// Leave releases a hook without a decision: the terminal's own dialog decides.
	Leave(ctx context.Context, id string)
	// Waiting returns the waiting requests of a session, oldest first.
	Waiting(ctx context.Context, session uuid.UUID) []Request
}

// DecisionRecords finds the outcome of requests, and what else may answer them.
type DecisionRecords interface {
	// Outcome reads the outcome of a request from the transcript. found is false if there is none
	// yet.
	Outcome(ctx context.Context, q Request) (o RequestOutcome, found bool, err error)
	// Answerers returns what in a session's project may answer a request before a person does.
	Answerers(ctx context.Context, session uuid.UUID) []Answerer
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

// Request is a permission request of an agent.
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

// IsQuestion reports whether the agent asks the person a question (AskUserQuestion).
func (q Request) IsQuestion() bool { return q.Tool == toolQuestion }

// IsPlan reports whether the agent presents its plan (ExitPlanMode).
func (q Request) IsPlan() bool { return q.Tool == toolPlan }

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

// RequestOutcome is the outcome of a request.
type RequestOutcome struct {
	ToolID      string // of the call
	ByHook      string // "allow" or "deny": a hook's decision was taken; empty when none was
	Done        bool   // there is a result
	Denial      string // the reason of the denial, in Claude Code's words
	Text        string // text of the result
	Interrupted bool   // the person interrupted it, or answered No in the terminal
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

// Rule is a permission change that "allow for this session" adds: rules or directories.
type Rule struct {
	Raw         json.RawMessage // for Claude Code, with destination "session"
	Rules       []ToolRule
	Directories []string
}

// ToolRule allows a tool, in Claude Code's format. Without content it allows every use.
type ToolRule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// suggestion has all known fields of a suggestion.
type suggestion struct {
	Type        string     `json:"type"`
	Rules       []ToolRule `json:"rules,omitempty"`
	Behavior    string     `json:"behavior,omitempty"`
	Directories []string   `json:"directories,omitempty"`
	Destination string     `json:"destination,omitempty"`
}

// SessionRules returns the permission_suggestions for "allow for this session": rules that allow,
// and added directories, each with destination "session". It leaves out a suggestion that changes
// the mode, removes, replaces or denies, or has an unknown field: a tap must grant exactly what the
// message lists. Without a rule it returns none, because a directory alone changes nothing: the
// same command asks again (2.1.328).
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
	if _, plain := exactjson.Object(raw); !plain || json.Unmarshal(raw, &s) != nil || !contains(raw, s) {
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

// contains reports whether s has all of the suggestion's JSON.
func contains(raw json.RawMessage, s suggestion) bool {
	var given, read any
	again, err := json.Marshal(s)
	return err == nil && json.Unmarshal(raw, &given) == nil && json.Unmarshal(again, &read) == nil &&
		reflect.DeepEqual(given, read)
}
