package port

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
)

// Starter starts agents.
type Starter interface {
	Start(ctx context.Context, q Start) (Session, error)
	// Restore brings an ended session back. It ends leftover processes first, and refuses while any
	// other process writes the conversation or may write it.
	Restore(ctx context.Context, q Restore) (Restored, error)
	// Adopt makes a session of an agent that a person started.
	Adopt(ctx context.Context, q Adopt) (Session, error)
}

// Ender ends agents.
type Ender interface {
	// Archive ends a session with proof; final is StateArchived or StateCompleted. The receipt is
	// sent as news.Stopped.
	Archive(ctx context.Context, id uuid.UUID, final State, cause Cause) error
	// BeginEnd is like Archive but returns once the end is on disk. The end then also survives a
	// restart.
	BeginEnd(ctx context.Context, id uuid.UUID, final State, cause Cause) error
	// EndWriters ends exactly these processes, each only while it is proven to write the session's
	// conversation.
	EndWriters(ctx context.Context, id uuid.UUID, who []ID) ([]Ending, error)
}

// Cause is the reason for an end.
type Cause struct {
	By  int64  // the person in the chat who asks for it; 0: none
	Why string // the evidence, in English
}

// RequestedBy returns the cause of an end requested by a person in the chat; how starts its
// evidence.
func RequestedBy(by int64, how string) Cause {
	return Cause{By: by, Why: fmt.Sprintf("%s by %d", how, by)}
}

// Archiver archives quiet sessions.
type Archiver interface {
	// ArchiveQuiet archives a quiet session. It returns refusal.Changed and does nothing if the
	// session is not quiet, was used in between, has schedules of its own, or cannot be checked. After another error the
	// session may still be ending; its state shows that.
	ArchiveQuiet(ctx context.Context, id uuid.UUID, q Silence) error
}

// Silence is the reason for archiving a quiet session.
type Silence struct {
	Since time.Time     // the last activity, see Look
	Quiet time.Duration // the time without activity; 0: a person asks for the end
	Cause
	Together bool // the caller reports an ordinary end, together with other sessions
}

// MoveSince is from when on a session is shown in the conversation that it moves to.
type MoveSince string

const (
	AtOnce   MoveSince = ""          // also the rest of a turn that runs
	NextTurn MoveSince = "next_turn" // a turn that runs stays where it was asked for
)

// Keeper stores the chat's decisions about a session.
type Keeper interface {
	// Move moves a session to another conversation of the chat.
	Move(ctx context.Context, id uuid.UUID, to address.Conversation, since MoveSince) error
	// SetIdleAfter sets how long a session may be idle before the machine archives it; 0: for ever;
	// nil: as the machine is configured. An unknown session is not an error.
	SetIdleAfter(ctx context.Context, id uuid.UUID, after *time.Duration) error
	// SetBudget stores whether the budgets of a session have something left. It returns
	// refusal.Changed if the session has another turn, or has work while something is said to be left.
	SetBudget(ctx context.Context, id uuid.UUID, b Budget) error
	// Reported marks the start's report about a session as sent. An unknown session is not an
	// error.
	Reported(ctx context.Context, id uuid.UUID) error
	// Forget removes the record of an ended session, all copies of it, and the chat's data about
	// it. The agent's own transcript stays. It returns refusal.WrongState if the session has not
	// ended.
	Forget(ctx context.Context, id uuid.UUID) error
}

// Namer names sessions.
type Namer interface {
	// Rename sets a name that a person chose for a session, and for its window unless a person opened
	// the window. A name already in use gets a numeric suffix. The new name is sent as
	// news.Renamed.
	Rename(ctx context.Context, id uuid.UUID, name string) error
}

// Start is a request for a new session.
type Start struct {
	Name         string // empty: the folder's name; in use: a number is added
	Dir          string // absolute
	Conversation address.Conversation
	Owner        int64
	Origin       string    // key of the requesting message
	Agent        string    // its name; empty: that of ForkOf, otherwise Claude Code
	ForkOf       uuid.UUID // Claude's id of a conversation to copy; nil: a new one
	// Continues is Claude's id of a conversation of no session, to continue; nil: a new one.
	// Errors: refusal.Writers if a process writes it, refusal.Changed if a session has it.
	Continues uuid.UUID
	With      ModeChange // the agent's mode and model; empty: as configured, or as in the conversation
	Budget    BudgetState
}

// Budget is whether the budgets of a session have something left, as the chat has told it. What is
// left is for one turn: after that it is unknown again, under a later number.
type Budget struct {
	State BudgetState `json:"state,omitempty"` // `left`, `unknown`, `spent`; none: the session has no budget
	Turn  int64       `json:"turn,omitempty"`  // the number of the turn
}

// BudgetState is the state of a Budget.
type BudgetState string

// The states. Prompts wait in the last two.
const (
	BudgetNone    BudgetState = ""        // the session has no budget
	BudgetLeft    BudgetState = "left"    // one prompt may be typed
	BudgetUnknown BudgetState = "unknown" // the cost of the last turn is not known yet
	BudgetSpent   BudgetState = "spent"
)

// Next returns the budget when a turn begins.
func (b Budget) Next() Budget {
	if b.State == BudgetLeft {
		b = Budget{BudgetUnknown, b.Turn + 1}
	}
	return b
}

// Restore is a request to bring a session back.
type Restore struct {
	Session uuid.UUID `json:"session"`
	Dir     string    `json:"dir,omitempty"` // absolute; empty: the session's own
	Damaged Damaged   `json:"damaged,omitempty"`
}

// Damaged is the way to resume a damaged transcript; empty: refuse.
type Damaged string

// The ways to resume a damaged transcript.
const (
	UseCopy   Damaged = "copy"  // resume a repaired copy; the original stays as it is
	UseAsItIs Damaged = "as_is" // resume it without repair
)

// Restored is the result of Restore.
type Restored struct {
	Session Session
	Ended   []Ending // leftover processes of its earlier run
}

// Adopt is a request to make a session of an agent that a person started.
type Adopt struct {
	Agent          ID
	AgentSessionID uuid.UUID // the conversation that it must be proven to write
	From           uuid.UUID // the session that had the conversation; nil: none
	Conversation   address.Conversation
	Owner          int64
	Why            string
}

// Ending is the outcome for one process.
type Ending struct {
	Process  Process
	How      string // short code of the method
	Ended    bool
	Verified bool   // the kernel confirmed that it is gone
	Reason   string // short code why it was spared; empty: it was not
}

// Methods of ending.
const (
	AlreadyGone = "already_gone" // the process had ended before
	Forced      = "kill"         // only SIGKILL ended it
)
