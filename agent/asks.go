package agent

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"ccbot/port/talk"
)

// Asks translates the requests that an agent makes next to its terminal, through ccbot-hook or
// through Requests.
type Asks interface {
	// Of returns a request without the agent's formats.
	Of(q talk.Request) talk.Ask
	// Decide returns the output for a person's answer. The error is a refusal if the answer is not to
	// this content, or not one of its choices.
	Decide(q talk.Request, a talk.Answer) (output json.RawMessage, err error)
}

// Requests are the requests that an agent's server makes of its clients. The server repeats those
// that are open to a client which connects again.
type Requests interface {
	// Connect sets the function that waits for the decision of a request, once, before
	// witness.Presences watches. Its context ends when the request is open no longer, or the server
	// is not reached. It returns the output of Asks; nil leaves the request to the terminal.
	Connect(wait func(ctx context.Context, o Open) (output json.RawMessage, err error))
}

// Open is an open request of a server.
type Open struct {
	PID          int
	ProcStart    uint64    // field 22 of /proc/PID/stat
	ID           string    // of the request, as long as the server runs
	Conversation uuid.UUID // at the terminal
	Dir          string
	Tool         string
	Input        json.RawMessage // an object, for Asks
}
