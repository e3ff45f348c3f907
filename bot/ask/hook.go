package ask

import (
	"errors"

	"github.com/google/uuid"

	"ccbot/hooks"
)

// What a hook asks, what it is told, and what else may answer.
type (
	Request  = hooks.Request
	Decision = hooks.Decision
	Answerer = hooks.Answerer
)

// Hooks wait with requests for what people decide. They may be called from anywhere.
type Hooks interface {
	// Decide gives the hook of a request its decision; isNotWaiting of the error: no hook waits.
	Decide(id string, d Decision) error
	// Leave lets the hook of a request go: the terminal decides.
	Leave(id string)
	Waiting(session uuid.UUID) []Request
}

func isNotWaiting(err error) bool { return errors.Is(err, hooks.ErrNotWaiting) }
