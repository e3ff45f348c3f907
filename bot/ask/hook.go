package ask

import (
	"errors"

	"github.com/google/uuid"

	"ccbot/hooks"
)

type (
	// Request is one that a hook waits with.
	Request = hooks.Request
	// Decision is what the hook is told.
	Decision = hooks.Decision
	// Answerer is what answers requests without a person.
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
