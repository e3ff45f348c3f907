package hosts

import (
	"context"
	"time"

	"ccbot/bot/machine"
)

// Fleet manages the machines of the chat. Its errors are refusals.
type Fleet interface {
	Members
	Joins
}

// Members are the machines of the chat.
type Members interface {
	// Exists reports whether the chat can have other machines.
	Exists() bool
	// Status returns the last report of a machine; id is empty for the chat's own.
	Status(ctx context.Context, id string) machine.Status
	// Remove takes the rights of a machine back. Its sessions go on there. It returns the address of
	// a server that stays connected to the machine until its operator has signed the account; empty:
	// the chat has its own hub.
	Remove(ctx context.Context, id string) (server string, err error)
	// Follow goes on with one start of a machine's folder, see machine.Status.
	Follow(id, start string) error
}

// Joins lets machines in.
type Joins interface {
	// Offer returns a code with which one machine can join under a name.
	Offer(ctx context.Context, name string) (Code, error)
	// Candidate returns the machine that waits for a decision about a name.
	Candidate(name string) (c Candidate, waits bool)
	// Decide lets the candidate in that the person saw, or refuses it.
	Decide(ctx context.Context, c Candidate, admit bool) error
}

// Code lets one machine join until a time.
type Code struct {
	Text  string
	Until time.Time
}

// Candidate is a machine that has proven the secret of a code.
type Candidate struct {
	Code          string // id
	Fingerprint   string
	System, Owner string // as the machine describes itself
	Rivals        int    // other machines that have proven the same secret
}
