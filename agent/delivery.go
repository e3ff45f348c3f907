package agent

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Delivery gives texts to an agent by one call. It is for an agent that takes them so; into the
// prompt box of any other agent ccbot pastes them.
type Delivery interface {
	// Deliver gives a text to a process. It proves that this process takes the call, and that the
	// conversation is the one at its terminal; otherwise the error is ErrNotDelivered. After any
	// other error it is unknown whether the agent has the text. The agent notes id with it.
	Deliver(ctx context.Context, to Recipient, id uuid.UUID, text string) error
	// HasReceipt reports whether a conversation shows a text that was delivered.
	HasReceipt(conversation uuid.UUID, of Sent) (bool, error)
}

// Sent is a text that was delivered.
type Sent struct {
	ID   uuid.UUID
	Text string
	At   time.Time // the call was made after that
}

// Recipient is the agent that a text is for.
type Recipient struct {
	PID          int
	ProcStart    uint64 // field 22 of /proc/PID/stat
	Conversation uuid.UUID
}

// ErrNotDelivered means that the agent does not have the text, and will not get it.
var ErrNotDelivered = errors.New("agent: the text was not delivered")
