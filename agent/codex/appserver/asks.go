package appserver

import (
	"encoding/json"

	"ccbot/internal/glyph"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Asks is the agent.Asks of Codex, which takes no words with a denial.
type Asks struct{}

// maxInput is the size above which only the beginning of a request is shown.
const maxInput = 128 << 10

// Of returns a request as the chat shows it.
func (Asks) Of(q talk.Request) talk.Ask {
	a := talk.Ask{Kind: talk.AskPermission, Title: talk.TitleCommand, Tool: q.Tool, Wordless: true, Whole: len(q.Input) <= maxInput,
		Choices: []talk.Choice{{ID: talk.ChoiceAllow}, {ID: talk.ChoiceDeny}, {ID: talk.ChoiceStop}}}
	var in Input
	if json.Unmarshal(q.Input, &in) != nil {
		return a // without details it cannot be allowed
	}
	kind := talk.BlockCommand
	if in.Patch != "" {
		a.Title, kind = talk.TitleEdit, talk.BlockText
	}
	for _, b := range []talk.Block{{Kind: kind, Text: in.Command + in.Patch}, {Kind: talk.BlockNote, Text: in.Reason}} {
		if b.Text = b.Text[:min(len(b.Text), maxInput)]; b.Text != "" {
			a.Blocks, a.Whole = append(a.Blocks, b), a.Whole && !glyph.Hides(b.Text)
		}
	}
	if len(q.Input) <= maxInput {
		for _, d := range []talk.Detail{{Name: "tool", Text: q.Tool}, {Name: "command", Text: in.Command}, {Name: "patch", Text: in.Patch},
			{Name: "reason", Text: in.Reason}, {Name: "cwd", Text: q.Cwd}} {
			if d.Text != "" {
				a.Details = append(a.Details, d)
			}
		}
	}
	return a
}

// Decide returns the answer for the server.
func (s Asks) Decide(q talk.Request, a talk.Answer) (json.RawMessage, error) {
	ask := s.Of(q)
	if _, offered := ask.Choice(a.Choice); !offered || a.Shown != ask.Digest() || a.Allows() && ask.Details == nil {
		return nil, refusal.New(refusal.Changed, "the answer is not to what this request shows")
	}
	return json.Marshal(map[talk.ChoiceID]Choice{talk.ChoiceAllow: Accept, talk.ChoiceDeny: Decline, talk.ChoiceStop: Cancel}[a.Choice])
}
