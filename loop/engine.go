package loop

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
)

// Engine sends the prompts of loops, and knows their sessions.
type Engine interface {
	// Session returns a session's record; ok is false if there is none.
	Session(id uuid.UUID) (r session.Record, ok bool)
	// Unread reports whether there may be a record that could not be read.
	Unread(id uuid.UUID) bool
	// Keep puts a prompt on disk and then into the queue of a session. With a key that was ever kept
	// it does nothing.
	Keep(ctx context.Context, id, key uuid.UUID, text string) error
	// Outcome returns how the turn of a kept prompt stands. known is what an earlier call has
	// returned; a prompt that is finished does not change any more.
	Outcome(ctx context.Context, r session.Record, key uuid.UUID, known *outcome.Prompt) (outcome.Outcome, outcome.Prompt, error)
	// Withdraw takes a prompt back that is not typed yet; otherwise it does nothing.
	Withdraw(ctx context.Context, id, key uuid.UUID) error
	// Interrupt presses Esc. typing.ErrAsks: a dialog is open, and nothing was pressed.
	Interrupt(ctx context.Context, id uuid.UUID) error
	// Spent returns what a session has used since a time.
	Spent(ctx context.Context, id uuid.UUID, since time.Time) (Spent, error)
	// Listen calls heard after each answer that the agent of a session, or a subagent, may have got,
	// until ctx ends.
	Listen(ctx context.Context, id uuid.UUID, heard func())
	// Place returns the repository, the branch and the commit of a folder; empty: unknown.
	Place(ctx context.Context, dir string) (repo, branch, commit string)
	// Top is the top folder of the work tree that a folder is in; empty: it is in none.
	Top(dir string) string
	// Same reports whether two folders are in work trees of one repository.
	Same(dir, other string) bool
	// Snapshot remembers the work tree of a session as a folders.Since; empty: it is unknown.
	Snapshot(ctx context.Context, id uuid.UUID) string
	// Tree identifies the content of the work tree of a session; empty: it is unknown.
	Tree(ctx context.Context, id uuid.UUID) string
	Worktrees
}

// Processes is process.Table.
type Processes interface {
	Identify(pid int) (process.Identity, error)
	Snapshot(ctx context.Context) (process.Snapshot, error)
	Liveness(id process.Identity) process.Liveness
	Wait(ctx context.Context, id process.Identity) error
	End(ctx context.Context, id process.Identity, prove func(process.Process) error, hangUp func(context.Context) error, g process.Grace) (process.Outcome, error)
}
