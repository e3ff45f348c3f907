package lifecycle

import (
	"cmp"
	"errors"
	"fmt"

	coding "ccbot/agent"
	"ccbot/internal/each"
	"ccbot/internal/session"
	"ccbot/internal/wording"
	"ccbot/lifecycle/evidence"
	"ccbot/port/refusal"
)

var (
	// ErrChanged means that a process or a session is not as it was when a person decided about it.
	ErrChanged = refusal.New(refusal.Changed, "it has changed")
	// ErrNoTerminal means that a process runs in no terminal that ccbot can type in.
	ErrNoTerminal = refusal.New(refusal.NoTerminal, "it runs outside of ccbot's tmux server, or in the background")
	// ErrBusy means that another operation on the session takes longer than the caller is willing
	// to wait.
	ErrBusy = errors.New("something else is being done with the session")
)

// DirError says that no session can be opened in a directory.
type DirError struct {
	Dir string
	Why DirFault
}

// DirFault is a fault of a directory.
type DirFault string

const (
	DirMissing  DirFault = "missing"
	DirNotADir  DirFault = "not a directory"
	DirNoAccess DirFault = "no permission"
	DirNotText  DirFault = "its path is not UTF-8"
)

func (e *DirError) Error() string { return fmt.Sprintf("directory %q: %s", e.Dir, e.Why) }

// Masked implements wording.Worded.
func (e *DirError) Masked(m wording.Mask) string {
	return "directory " + m.Path(e.Dir) + ": " + string(e.Why)
}

var dirCodes = map[DirFault]refusal.Code{DirMissing: refusal.DirMissing, DirNotADir: refusal.DirNotADir, DirNotText: refusal.DirNotText}

// As makes the error a refusal, like the other methods of that name below.
func (e *DirError) As(target any) bool {
	return refusal.Error{Code: cmp.Or(dirCodes[e.Why], refusal.DirNoAccess), Dir: e.Dir, Reason: string(e.Why), Err: e}.Into(target)
}

// StateError says that the session's state does not allow an operation.
type StateError struct {
	State session.State
	Want  string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("the session is %s: it cannot be %s", e.State, e.Want)
}

// As returns the refusal that a person sees.
func (e *StateError) As(target any) bool {
	return refusal.Error{Code: refusal.WrongState, State: e.State, Open: e.State.Open(), Err: e}.Into(target)
}

// WriterError is the refusal to start a second writer of a conversation: each of Writers writes the
// conversation, or may write it.
type WriterError struct{ Writers []evidence.Writer }

func (e *WriterError) Error() string {
	first := e.Writers[0]
	return fmt.Sprintf("%d other writers, the first is process %d (proven: %t, %s)",
		len(e.Writers), first.PID, first.Proven, first.Why)
}

// TranscriptError says that a resume would fail on a damaged transcript.
type TranscriptError struct {
	Health  coding.Health
	Nothing bool // nothing is left in the transcript, although there was text
	Deleted bool // there is no file
}

func (e *TranscriptError) Error() string {
	return fmt.Sprintf("transcript %s: %v", e.Health.Path, e.Health.Faults)
}

// Masked implements wording.Worded.
func (e *TranscriptError) Masked(m wording.Mask) string {
	return fmt.Sprintf("transcript %s: %v", m.Path(e.Health.Path), e.Health.Faults)
}

// As returns the refusal that a person sees.
func (e *TranscriptError) As(target any) bool {
	r := refusal.Error{Code: refusal.Damaged, Err: e}
	switch {
	case e.Deleted:
		r.Code = refusal.Deleted
	case e.Nothing:
		r.Code = refusal.NothingLeft
	}
	r.Faults = each.As(e.Health.Faults, func(fault coding.Fault) string { return string(fault) })
	return r.Into(target)
}
