package claudeask

import (
	"encoding/json"
	"slices"
	"strings"

	"ccbot/internal/each"
	"ccbot/port/talk"
)

// Former returns the content of a request that was stored without it, and the answer that a stored
// hook's output stands for. The answer is nil without an output that can be read.
func Former(q talk.Request, output json.RawMessage) (talk.Ask, *talk.Answer) {
	ask := Of(q)
	var d Decision
	if json.Unmarshal(output, &d) != nil || d.Behavior == "" {
		return ask, nil
	}
	a := talk.Answer{Choice: talk.ChoiceAllow, Shown: ask.Digest()}
	switch {
	case d.Behavior != behaviorAllow && d.Interrupt:
		a.Choice = talk.ChoiceStop
	case d.Behavior != behaviorAllow:
		a.Choice = talk.ChoiceDeny
	case ask.Kind == talk.AskPlan && slices.ContainsFunc(d.UpdatedPermissions, isEdits):
		a.Choice = talk.ChoiceApproveEdits
	case ask.Kind == talk.AskPlan:
		a.Choice = talk.ChoiceApprove
	case len(ask.Pages) > 0:
		var input struct {
			Answers map[string]string `json:"answers"`
		}
		if json.Unmarshal(d.UpdatedInput, &input) != nil {
			return ask, nil
		}
		a.Choice, a.Answers = talk.ChoiceAnswer, each.As(ask.Pages, func(p talk.Page) string { return input.Answers[p.Text] })
	case len(d.UpdatedPermissions) > 0:
		a.Choice = talk.ChoiceAllowSession
	}
	_, a.Text, _ = strings.Cut(d.Message, wrote)
	return ask, &a
}

// isEdits reports whether a permission lets the session make all edits. The plan of an agent, which
// the output also has, says nothing about that.
func isEdits(permission json.RawMessage) bool {
	var p struct {
		Mode string `json:"mode"`
	}
	return json.Unmarshal(permission, &p) == nil && p.Mode == "acceptEdits"
}
