package lifecycle

import (
	"errors"
	"fmt"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

var (
	// ErrNoAgent means that the session has no living agent to speak to.
	ErrNoAgent = errors.New("the session has no living agent")
	// ErrNoClaude means that Claude Code's command is not to be found.
	ErrNoClaude = errors.New("claude is not installed")
	// ErrIdle means that there is nothing to interrupt.
	ErrIdle = errors.New("the agent is idle and asks nothing")
)

// DirError is a directory that a session cannot be opened in.
type DirError struct {
	Dir string
	Why DirFault
}

// DirFault says what is wrong with a directory.
type DirFault string

const (
	DirMissing  DirFault = "missing"
	DirNotADir  DirFault = "not a directory"
	DirNoAccess DirFault = "no permission"
)

func (e *DirError) Error() string { return fmt.Sprintf("directory %q: %s", e.Dir, e.Why) }

// StateError is an operation that the session's state does not allow.
type StateError struct {
	State session.State
	Want  string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("the session is %s: it cannot be %s", e.State, e.Want)
}

// WriterError is a refusal to start a second writer of a conversation: Verdict
// is of a process that writes it, or of one for which nobody knows.
type WriterError struct{ Verdict process.Verdict }

func (e *WriterError) Error() string {
	return fmt.Sprintf("process %d: writer of %s: %s (%s)", e.Verdict.Process.PID,
		e.Verdict.SessionID, e.Verdict.Writer, e.Verdict.Why)
}
