package recovery

import (
	"context"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Tmux lists the windows that exist. tmux.ErrNoServer is proof that there is no server; after any
// other error this is unknown.
type Tmux interface {
	Panes(ctx context.Context) ([]tmux.Pane, error)
	Server(ctx context.Context) (tmux.ServerID, error)
}

// Processes returns what the kernel knows of one process.
type Processes interface {
	Self() process.Identity
	Inspect(pid int) (process.Process, error)
	Liveness(id process.Identity) process.Liveness
}

// Records returns all sessions.
type Records interface {
	// Shared returns all records, oldest first. They must not be changed.
	Shared() []session.Record
	Get(id uuid.UUID) (session.Record, bool)
	// Unloaded are the records that could not be read.
	Unloaded() []session.Unloaded
}

// Evidence finds agents and writers. It changes nothing, and an error means that the answer is
// unknown.
type Evidence interface {
	// Survey looks at all processes once. After an error the result still has the liveness of the
	// agents.
	Survey(ctx context.Context, records []session.Record) (evidence.Survey, error)
	Windows(ctx context.Context, panes []tmux.Pane) ([]evidence.Window, error)
	RunsBelowAgent(ctx context.Context, id process.Identity) (bool, error)
	StartedFor(r session.Record, p process.Process) bool
}

// Lives are the changes to a session, each made on the session's own worker. These methods do not
// report to the chat what is in the Report.
type Lives interface {
	Reattach(id uuid.UUID) error
	// Settle looks at a live session again, and carries out what lifecycle.Decide says then.
	Settle(ctx context.Context, id uuid.UUID, rule session.Rule) error
	Abandon(ctx context.Context, id uuid.UUID, rule session.Rule, why, closed string) error
	Close(ctx context.Context, id uuid.UUID, rule session.Rule, why, closed string) error
	Note(ctx context.Context, id uuid.UUID, rule session.Rule, why string) error
	EndLeftovers(ctx context.Context, id uuid.UUID, rule session.Rule) ([]ending.Ending, error)
	Adopt(ctx context.Context, q lifecycle.AdoptRequest) (session.Record, error)
}
