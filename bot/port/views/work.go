package views

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/phase"
)

// Works looks at the work of sessions.
type Works interface {
	// Work is what is known of a session's work; of no session it is the zero value. It asks git, which may take
	// seconds.
	Work(ctx context.Context, id uuid.UUID) Work
	// Brief is Work without what git and the kernel say. It reads the transcript from the last change of the phase on.
	Brief(ctx context.Context, id uuid.UUID) Work
	// Usage is what the agent uses, as its status line has it; nil: not known. It reads one small file.
	Usage(id uuid.UUID) *Usage
}

// Work is what the agent of a session has done, and how it was started.
type Work struct {
	Phase       phase.Phase // what the agent does, as last noted
	PhaseAt     time.Time
	Model       string
	Permissions string   // Claude Code's own permission mode, as last noted
	Flags       []string // of the command line
	Turns       int      // that have ended
	Tasks       []Task
	Tokens      Tokens
	Partly      bool      // turns, to-do items and tokens are not counted from the beginning of the conversation
	Failed      phase.Now // how the last turn has failed, as the transcript has it now; nobody has gone on since; Unknown: it cannot be read
	Usage       *Usage    // nil: not known
	Git         *Git      // nil: git did not answer
	Memory      uint64    // of the agent and all that it has started, in bytes; 0: not known
}

// Task is one to-do item of an agent.
type Task struct {
	ID     string
	Text   string
	Status string // pending, in_progress, completed, or a later version's word
}

// Tokens are summed over the answers of a conversation.
type Tokens struct{ Input, CacheCreation, CacheRead, Output int64 }

// Git is the repository that a session's folder is in.
type Git struct {
	Root    string // its top folder; empty: the folder is in no repository
	Branch  string // empty: none is checked out
	Head    string // commit id; empty before the first commit
	Dirty   bool   // something is changed or not tracked
	At      time.Time
	Start   string // the commit at the session's start; empty: not known, or none
	Changes *Changes
}

// Changes are what the work tree has beside that commit, committed since or not; nil: not known.
type Changes struct{ Files, Insertions, Deletions, Untracked int }
