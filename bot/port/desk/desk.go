package desk

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/port/views"
)

// Keys answers what the terminal of a session asks.
type Keys interface {
	Dialog(ctx context.Context, id uuid.UUID) (Dialog, error)
	// Press presses a key, and Choose an option, of the dialog that has this mark. They give what
	// the terminal asks after it.
	Press(ctx context.Context, id uuid.UUID, mark, key string) (Dialog, error)
	Choose(ctx context.Context, id uuid.UUID, mark string, option int) (Dialog, error)
}

// Screens look at the terminal of a session.
type Screens interface {
	Look(ctx context.Context, id uuid.UUID) Look
	// Output looks for what a command of bash mode prints. The zero value: nobody knows.
	Output(ctx context.Context, id uuid.UUID, command string) Output
	// Interrupt presses Esc once, where an agent works.
	Interrupt(ctx context.Context, id uuid.UUID) error
}

// Dialog is what the terminal asks, as a person is shown it.
type Dialog struct {
	Open     bool     // something takes the keys instead of the prompt box; when not, nothing else is set
	Lines    []string // what it shows; where it is not recognised, all rows of the screen
	Options  []string // labels as shown; none: a page, or it is not recognised
	Selected int      // index into Options; -1 without options
	Whole    bool     // Lines are all of it: nothing has left the screen, and no row says that others are hidden
	Mark     string   // changes with anything that is shown
	Relayed  bool     // a permission request of the agent waits for the chat
}

// Look is what a session is doing.
type Look struct {
	Phase      Phase
	Presence   Presence
	Background bool         // commands that the agent has started still run
	Usage      *views.Usage // nil: not known
}

// Phase is what an agent does.
type Phase string

// The phases of an agent.
const (
	Unknown           Phase = "unknown"
	Idle              Phase = "idle"
	Working           Phase = "working"
	WaitingPermission Phase = "waiting_permission"
	WaitingAnswer     Phase = "waiting_answer"
)

// Waiting reports whether the agent waits for a person's answer to a dialog.
func (p Phase) Waiting() bool { return p == WaitingPermission || p == WaitingAnswer }

// Presence says whether a person has a session's window before them in a terminal.
type Presence string

// What is known of people at the desk.
const (
	Nobody   Presence = ""
	Attached Presence = "attached" // a terminal shows the window
	Typing   Presence = "typing"   // and keys were pressed there a moment ago
)

// Output is what the terminal shows of a command of bash mode.
type Output struct {
	Runs  bool     // it is seen to run
	Idle  bool     // the agent is seen to be idle: none runs
	Lines []string // the last rows that it has printed
	Above int      // lines above them that are not shown
}
