package port

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
)

// Starter makes agents run.
type Starter interface {
	Start(ctx context.Context, q Start) (Session, error)
	// Restore brings a session back. Leftovers of it are ended first; while any other process
	// writes its conversation, or may, it refuses.
	Restore(ctx context.Context, q Restore) (Restored, error)
	// Adopt makes a session of an agent that a person started.
	Adopt(ctx context.Context, q Adopt) (Session, error)
}

// Ender ends agents.
type Ender interface {
	// Archive ends a session with proof; final is Archived or Completed. What it did comes as news
	// with a receipt.
	Archive(ctx context.Context, id uuid.UUID, final State, cause Cause) error
	// BeginEnd is Archive that returns when the end is on disk: from then on it is carried out, also
	// after a restart.
	BeginEnd(ctx context.Context, id uuid.UUID, final State, cause Cause) error
	// EndWriters ends exactly these processes, each only while it is proven to write the session's
	// conversation.
	EndWriters(ctx context.Context, id uuid.UUID, who []ID) ([]Ending, error)
}

// Cause is why a session is to end.
type Cause struct {
	By  int64  // the person of the chat who asks for it; 0: none
	Why string // the evidence, in English
}

// AskedBy returns the cause of an end that a person of the chat asks for; how begins its evidence.
func AskedBy(by int64, how string) Cause { return Cause{By: by, Why: fmt.Sprintf("%s by %d", how, by)} }

// Archiver archives sessions that are quiet.
type Archiver interface {
	// ArchiveQuiet archives a session in which nothing has happened. Changed: it is not quiet, something
	// has happened, or that is unknown; nothing is done then. After another error the session may be
	// ending all the same: its state says so.
	ArchiveQuiet(ctx context.Context, id uuid.UUID, q Silence) error
}

// Silence is why a session is archived in which nothing happens.
type Silence struct {
	Since time.Time     // the last sign of life, see port.Look
	Quiet time.Duration // for how long nothing has happened since; 0: a person asks for the end
	Cause
	Together bool // who asks tells an ordinary end, with those of other sessions
}

// Keeper keeps what the chat decides about a session.
type Keeper interface {
	// Move has a session shown in another place.
	Move(ctx context.Context, id uuid.UUID, to address.Conversation) error
	// Reported notes that the chat was told of what a start did to a session, if that is still there.
	Reported(ctx context.Context, id uuid.UUID) error
	// Forget removes the record of a session that is over, and all copies of it, with what the chat keeps of the
	// session. The agent's own transcript stays. refusal.WrongState: the session is not over.
	Forget(ctx context.Context, id uuid.UUID) error
}

// Namer names sessions.
type Namer interface {
	// Rename gives a session a name that a person chose, and its window too, unless a person opened that;
	// where another session has the name, a number is added. The new name comes as news.Renamed.
	Rename(ctx context.Context, id uuid.UUID, name string) error
}

// Start is a session that a person wants.
type Start struct {
	Name         string // empty: the folder's name; taken: a number is added
	Dir          string // absolute
	Conversation address.Conversation
	Owner        int64
	Origin       string    // key of the message that asks for it
	ForkOf       uuid.UUID // Claude's id of a conversation to begin with a copy of; nil: a new one
	// Continues is Claude's id of a conversation that no session has, to go on with; nil: a new one.
	// refusal.Writers: somebody writes it. refusal.Changed: a session has it.
	Continues uuid.UUID
	With      ModeChange // what its agent runs with; empty: as configured, or as the conversation was
}

// Restore is a session that a person wants back.
type Restore struct {
	Session uuid.UUID `json:"session"`
	Dir     string    `json:"dir,omitempty"` // another than the session's own, absolute; empty: the session's own
	Damaged Damaged   `json:"damaged,omitempty"`
}

// Damaged says what to do with a transcript that a resume would stumble over; empty: refuse.
type Damaged string

// What can be done with a damaged transcript.
const (
	UseCopy   Damaged = "copy"  // resume a repaired copy; the original stays as it is
	UseAsItIs Damaged = "as_is" // resume it all the same
)

// Restored is a session that came back.
type Restored struct {
	Session Session
	Ended   []Ending // leftovers of its earlier life that were still there
}

// Adopt is an agent that a person started and wants as a session.
type Adopt struct {
	Agent        ID
	Claude       uuid.UUID // the conversation that it must be proven to write
	From         uuid.UUID // the session that had the conversation; nil: none
	Conversation address.Conversation
	Owner        int64
	Why          string
}

// Ending is what became of one process.
type Ending struct {
	Process  Process
	How      string // short code of the way
	Ended    bool
	Verified bool   // the kernel confirmed that it is gone
	Reason   string // short code why it was left alone; empty otherwise
}

// Ways of an ending.
const (
	AlreadyGone = "already_gone" // the process had ended before
	Forced      = "kill"         // nothing less ended it
)
