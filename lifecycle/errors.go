package lifecycle

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle/evidence"
)

var (
	// ErrNoAgent means that the session has no living agent to speak to.
	ErrNoAgent = errors.New("the session has no living agent")
	// ErrNoClaude means that Claude Code's command cannot be found.
	ErrNoClaude = errors.New("claude is not installed")
	// ErrChanged means that a process, a dialog or a session is not as it was when somebody decided about it.
	ErrChanged = errors.New("it is not what it was any more")
	// ErrNoTerminal means that a process runs in no terminal that ccbot can type in.
	ErrNoTerminal = errors.New("it runs outside of ccbot's tmux server, or in the background")
	// ErrBoxBusy means that the prompt box cannot be cleared now.
	ErrBoxBusy = errors.New("the prompt box cannot be cleared now")
	// ErrDraftHidden means that the draft holds more than the screen shows, so that clearing it
	// would lose something.
	ErrDraftHidden = errors.New("the draft holds more than the screen shows")
	// ErrNoDialog means that the terminal asks nothing.
	ErrNoDialog = errors.New("no dialog is open")
	// ErrRelayed means that the chat itself has the question of the dialog, so that no option is
	// chosen through the terminal.
	ErrRelayed = errors.New("the dialog is answered in the chat")
	// ErrUnseen means that the terminal cannot be seen now, so that it is unknown where a key would
	// go.
	ErrUnseen = errors.New("the terminal cannot be seen now")
	// ErrBusy means that another operation on the session takes longer than the caller is willing
	// to wait.
	ErrBusy = errors.New("something else is being done with the session")
	// ErrIdle means that there is nothing to interrupt.
	ErrIdle = errors.New("the agent is idle and asks nothing")
	// ErrAsks means that a dialog is open, which Esc would answer.
	ErrAsks = errors.New("a dialog is open")
	// ErrStillWorks means that the agent still works although Esc was pressed.
	ErrStillWorks = errors.New("the agent works on after Esc")
)

// DirError says that no session can be opened in a directory.
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

// StateError says that the session's state does not allow an operation.
type StateError struct {
	State session.State
	Want  string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("the session is %s: it cannot be %s", e.State, e.Want)
}

// MovedError says that an operation is not possible because another session continues this one.
type MovedError struct{ To uuid.UUID }

func (e *MovedError) Error() string {
	return fmt.Sprintf("session %s goes on with its conversation", e.To)
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
	Health  transcript.Health
	Nothing bool // nothing is left in the transcript, although something was said
}

func (e *TranscriptError) Error() string {
	return fmt.Sprintf("transcript %s: %v", e.Health.Path, e.Health.Faults)
}
