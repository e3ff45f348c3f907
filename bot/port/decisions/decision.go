package decisions

import (
	"encoding/json"
	"fmt"
)

// Denied is what Claude reads when a person denied without a word.
const Denied = "The user denied this from the chat."

const behaviorAllow = "allow"

// Decision is what the hook prints: Claude Code's own shape.
type Decision struct {
	Behavior           string            `json:"behavior"` // allow or deny
	Message            string            `json:"message,omitempty"`
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
	for _, r := range rules {
		d.UpdatedPermissions = append(d.UpdatedPermissions, r.Raw)
	}
	return d, len(rules) > 0 && !q.IsQuestion() && !q.IsPlan()
}

// Deny keeps the tool from running; the turn goes on, and Claude reads the message, else Denied.
func Deny(message string) Decision {
	if message == "" {
		message = Denied
	}
	return Decision{Behavior: "deny", Message: message}
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
