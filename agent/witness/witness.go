// Package witness is a part of the contract of coding agents, package agent: it tells their
// processes, and what these say about themselves.
//
// It promises that a zero value means that nothing is known. It sees no process itself.
package witness

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/watch"
)

// Status is the state that an agent reports. Unknown values are possible.
type Status string

const (
	Idle    Status = "idle"    // the prompt box takes text
	Shell   Status = "shell"   // as Idle, while shells that a turn has started run in the background
	Busy    Status = "busy"    // a turn runs
	Waiting Status = "waiting" // a dialog is open; see Presence.WaitingFor
)

// Presence is the file of an agent about its process. A field that it lacks is zero.
type Presence struct {
	PID        int
	SessionID  uuid.UUID // the conversation
	Dir        string    // in which the agent works, absolute
	ProcStart  uint64    // field 22 of /proc/PID/stat; 0 when it is not known
	Status     Status
	StatusAt   time.Time // since when it has the status; UTC, zero when it is not known
	Version    string    // of the agent
	WaitingFor string    // the reason of a waiting agent, in its words
	Permission bool      // it waits for a permission; an agent may also name a question so
	Answer     bool      // it waits for the answer to a question
	Page       bool      // it shows a dialog of no turn: what a person has opened, or a question of the program itself
	UpdatedAt  time.Time // UTC, zero when it is not known
	// Attach is the command that shows the conversation, if the agent has moved it from this process
	// into its own background; empty: it has not.
	Attach string
}

// Presences reads the presence files of an agent.
type Presences interface {
	// Read returns the file of a process. The error is fs.ErrNotExist if there is none; after any
	// other error the state of the process is unknown.
	Read(ctx context.Context, pid int) (Presence, error)
	// List returns all files. unread has the errors of files that could not be read, by their pids;
	// err is about all.
	List(ctx context.Context) (files []Presence, unread map[int]error, err error)
	// Watch calls changed for each file that was made, changed or removed, and at times for others,
	// until ctx ends.
	Watch(ctx context.Context, folders *watch.Watcher, log *slog.Logger, changed func(pid int)) error
}

// Witness knows an agent's processes by their command lines.
type Witness interface {
	// Names returns the basenames of the agent's programs and scripts.
	Names() []string
	// Conversations returns the conversations that a command line writes, even if they contradict
	// each other. It is called for each process at each scan, and depends on args alone. An id must
	// be in its canonical form, and at the end of an argument.
	Conversations(args []string) []uuid.UUID
	// PrintsOnce reports whether a command line starts an agent that prints one answer and ends.
	PrintsOnce(args []string) bool
}

// Locks knows who holds the locks of an agent's conversations, for an agent that writes only what
// it has locked.
type Locks interface {
	// Held returns the locked conversations by the pids of the holders, a process with several too.
	// After an error it is unknown who writes.
	Held() (map[int][]uuid.UUID, error)
}

// Served is a Witness whose agent runs in two processes: one at the terminal, and as its child a
// server that writes the conversation. Without one of them the agent has ended.
type Served interface {
	// IsServer reports whether a command line is that of the server.
	IsServer(args []string) bool
}
