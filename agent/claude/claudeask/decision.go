package claudeask

import (
	"encoding/json"
	"fmt"
	"strings"

	"ccbot/internal/each"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Tools with layouts of their own.
const (
	toolBash = "Bash"
	toolEdit = "Edit"
	toolPlan = "ExitPlanMode"
)

const (
	behaviorAllow = "allow"
	// denied is the message to Claude after a denial without a text.
	denied = "The user denied this from the chat."
	// wrote separates the denial from the person's words.
	wrote = " They wrote: "
)

// ErrNotShown is returned for an answer to another request than the one that waits.
var ErrNotShown = refusal.New(refusal.Changed, "the answer is not to what this request shows")

// Decision is the hook's output, in Claude Code's format.
type Decision struct {
	Behavior           string            `json:"behavior"` // allow or deny
	Message            string            `json:"message,omitempty"`
	Interrupt          bool              `json:"interrupt,omitempty"` // also end the turn, as Esc does
	UpdatedInput       json.RawMessage   `json:"updatedInput,omitempty"`
	UpdatedPermissions []json.RawMessage `json:"updatedPermissions,omitempty"`
}

// Asks is the agent.Asks of Claude Code.
type Asks struct{}

// Of reads the input of the tool.
func (Asks) Of(q talk.Request) talk.Ask { return Of(q) }

// Decide writes a Decision.
func (Asks) Decide(q talk.Request, a talk.Answer) (json.RawMessage, error) {
	d, err := Decide(q, a)
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

// Decide returns the hook's output for a person's answer. The error is ErrNotShown if the answer is
// not to this content, or not one of its choices.
func Decide(q talk.Request, a talk.Answer) (d Decision, err error) {
	ask := Of(q)
	if _, offered := ask.Choice(a.Choice); !offered || a.Shown != ask.Digest() || a.Allows() && ask.Details == nil {
		return Decision{}, ErrNotShown
	}
	switch a.Choice {
	case talk.ChoiceDeny, talk.ChoiceStop:
		return Decision{Behavior: "deny", Message: message(ask, a), Interrupt: a.Choice == talk.ChoiceStop}, nil
	case talk.ChoiceAnswer:
		d.UpdatedInput, err = answered(q.Input, ask.Pages, a.Answers)
	case talk.ChoiceApprove, talk.ChoiceApproveEdits:
		d.UpdatedInput = q.Input // without it Claude Code ignores the decision
		d.UpdatedPermissions = []json.RawMessage{modeAfterPlan(a.Choice == talk.ChoiceApproveEdits)}
	case talk.ChoiceAllowEdits:
		d.UpdatedPermissions = []json.RawMessage{json.RawMessage(acceptEdits)}
	case talk.ChoiceAllowSession:
		d.UpdatedPermissions = each.As(sessionRules(q.Suggestions), func(r rule) json.RawMessage { return r.raw })
	}
	d.Behavior = behaviorAllow
	return d, err
}

// modeAfterPlan ends plan mode. With edits the session then makes edits without asking, otherwise
// it asks before each.
func modeAfterPlan(edits bool) json.RawMessage {
	if edits {
		return json.RawMessage(acceptEdits)
	}
	return json.RawMessage(`{"type":"setMode","mode":"default","destination":"session"}`)
}

// answered adds the answers, by the texts of the questions, to the input of AskUserQuestion.
func answered(raw json.RawMessage, pages []talk.Page, answers []string) (json.RawMessage, error) {
	if len(answers) != len(pages) {
		return nil, ErrNotShown
	}
	all := make(map[string]string, len(pages))
	for i, p := range pages {
		all[p.Text] = answers[i]
	}
	var input map[string]json.RawMessage
	if err := json.Unmarshal(raw, &input); err != nil {
		return nil, fmt.Errorf("questions: %w", err)
	}
	input["answers"], _ = json.Marshal(all) // texts always encode
	return json.Marshal(input)
}

// message returns the English text that Claude reads after a denial, like its own messages.
func message(ask talk.Ask, a talk.Answer) string {
	text := denied
	switch ask.Kind {
	case talk.AskPlan:
		text = "The user does not approve the plan yet (said in the chat): keep planning."
	case talk.AskQuestion:
		text = "The user skipped the question, in the chat."
		if len(ask.Pages) > 1 {
			text = "The user skipped the questions, in the chat."
		}
	}
	if a.Text != "" {
		text += wrote + a.Text
	}
	return text
}

// Quotes reports whether a text of Claude Code contains the message of a denial.
func Quotes(text string, q talk.Request, a talk.Answer) bool {
	return !a.Allows() && strings.Contains(text, message(q.Ask, a))
}
