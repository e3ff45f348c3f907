package agent

import (
	"encoding/json"

	"ccbot/port/talk"
)

// Asks translates the requests that an agent makes through ccbot-hook, next to its terminal.
type Asks interface {
	// Of returns a request without the agent's formats.
	Of(q talk.Request) talk.Ask
	// Decide returns the output of the hook for a person's answer. The error is a refusal if the
	// answer is not to this content, or not one of its choices.
	Decide(q talk.Request, a talk.Answer) (output json.RawMessage, err error)
}
