package port

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/port/talk"
)

// ID names a process, or a window and its programs, for their lifetime. Only its maker can read it.
type ID string

// Keys answers the dialog in a session's terminal.
type Keys interface {
	Dialog(ctx context.Context, id uuid.UUID) (Dialog, error)
	// Press presses a key, and Choose selects an option, of the dialog with this fingerprint. They
	// return the dialog shown afterwards, or refusal.Changed if the fingerprint differs; then no key
	// is pressed.
	Press(ctx context.Context, id uuid.UUID, fingerprint, key string) (Dialog, error)
	Choose(ctx context.Context, id uuid.UUID, fingerprint string, option int) (Dialog, error)
}

// KeyContinue is the key of Press for an agent that is suspended. It is no key of the terminal, but a signal.
const KeyContinue = "continue"

// Panes shows the terminals of sessions as pictures and presses any key there.
type Panes interface {
	// Screen returns the screen, after pressing a key if press has one. It returns refusal.Changed
	// and presses nothing if the terminal no longer shows the screen with the key's fingerprint.
	Screen(ctx context.Context, id uuid.UUID, press KeyOn) (Screen, error)
}

// KeyOn is a key for the screen with this fingerprint: a key of Keys, backtab or interrupt. The
// zero value presses nothing.
type KeyOn struct{ Key, Fingerprint string }

// Screen is the content of a terminal.
type Screen struct {
	Text string // rows, with colours as SGR sequences
	// Whole reports whether all of a dialog is visible. Otherwise no key can choose an option.
	Whole       bool
	Fingerprint string // changes with the content, except the spinner of a running turn
	// Unasked reports whether the screen shows a dialog with Dialog.Unasked. No key can choose
	// there.
	Unasked bool
}

// Screens inspects the terminals of sessions.
type Screens interface {
	// Inspect returns the state of the sessions. It scans the process table once.
	Inspect(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]Status, error)
	// Output returns the output of a bash mode command; the zero value means unknown.
	Output(ctx context.Context, id uuid.UUID, command string) (Output, error)
	// Interrupt presses Esc once if the agent works, and waits until the turn has ended. Queued
	// prompts are not typed; news ask about them. reported is whether news or the transcript
	// describe the interrupted work.
	Interrupt(ctx context.Context, id uuid.UUID) (reported bool, err error)
}

// WriterFinder finds other writers of a session's conversation.
type WriterFinder interface {
	// Writers returns the processes that write it or may write it, except the session's own agent.
	Writers(ctx context.Context, id uuid.UUID) ([]Writer, error)
}

// Windows reads the windows of ccbot's tmux session.
type Windows interface {
	// Orphans returns the windows that belong to no session, except ignored ones.
	Orphans(ctx context.Context) ([]Window, error)
	// Ignore hides a window from Orphans for the window's lifetime.
	Ignore(ctx context.Context, w Window) error
}

// Notices records which windows the chat has reported.
type Notices interface {
	// NewOrphans returns the windows not reported yet.
	NewOrphans(ctx context.Context, of []Window) ([]Window, error)
	// MarkReported marks windows as reported.
	MarkReported(ctx context.Context, all []Window) error
}

// Dialog is a dialog in a terminal, as a person sees it.
type Dialog struct {
	Open        bool     // if false, the prompt box takes the keys and no other field is set
	Lines       []string // its text; if not recognised, all rows of the screen
	Options     []string // labels as shown; none: a page, or not recognised
	Selected    int      // index into Options; -1 without options
	Whole       bool     // Lines are complete: no row has scrolled off or is hidden
	Fingerprint string   // changes with the content
	Relayed     bool     // a permission request of the agent waits in the chat
	Stops       bool     // the key "x" stops the command or agent in the background that it is about
	// Enters reports whether Enter may be pressed although not all of it is visible: it is a list that a person has opened, and asks
	// nothing.
	Enters bool
	// Suspends reports whether the agent is suspended: KeyContinue is the only key that helps.
	Suspends bool
	// Unasked reports whether the terminal asks for a permission without a request in the chat,
	// although ccbot started the agent with a hook that makes one.
	Unasked bool
	// ByPolicy reports that it is Unasked because a policy of the machine keeps the agent from running ccbot's hook.
	ByPolicy bool
	// Same reports, after a key, whether the terminal still shows the same dialog: only the cursor,
	// a tick or a row below the options has changed.
	Same bool
}

// CanChoose reports whether a person may choose an option from the chat. If the permission came
// without its request, only a plain Yes or No is allowed: the other options permit more than is
// shown.
func (d Dialog) CanChoose(option int) bool {
	return !d.Unasked || option < len(d.Options) && (d.Options[option] == "Yes" || d.Options[option] == "No")
}

// Status is the state of a session.
type Status struct {
	Now          talk.Activity
	Idle         bool // the prompt box is free: no turn runs, even if Now describes the last one
	Presence     Presence
	Background   bool      // commands that the agent started still run, or may
	Commands     int       // the number of these commands; 0: none, or unknown
	Agents       int       // its background agents, as shown on its screen
	Schedules    int       // the agent's own, which end with its process
	Draft        bool      // its prompt box has unsent text, or is not visible
	Quiet        bool      // the agent is idle and unused, and no draft is lost; see Schedules
	Active       time.Time // the last activity of either side
	Usage        *Usage    // nil: unknown
	LastQuestion string    // the start of the last question; empty: unknown
	PIDs         []int     // the processes of the agent and its descendants; none: unknown
}

// Presence is the presence of a person at a session's window.
type Presence string

// The kinds of presence; empty: no person is known to be present.
const (
	Attached Presence = "attached" // a terminal shows the window
	Typing   Presence = "typing"   // keys were also pressed there a moment ago
)

// Output is the visible output of a bash mode command.
type Output struct {
	Runs  bool     // it is known to run
	Idle  bool     // the agent is idle, so no command runs
	Lines []string // the last rows printed
	Above int      // the number of lines above them
}

// Process describes a process for a person.
type Process struct {
	ID       ID
	PID      int
	Program  string        // the name that people know
	Terminal string        // empty: none
	Age      time.Duration // 0: unknown
}

// Writer is a process that writes a conversation or may write it.
type Writer struct {
	Process
	Dir            string    // its working directory, if readable
	AgentSessionID uuid.UUID // Claude's id of the conversation
	Proven         bool
	Endable        bool   // a person may end it: it is proven and not protected
	Adoptable      bool   // also, ccbot can type into its terminal
	Source         string // short code of the deciding evidence; empty: not proven
	Kept           string // short code why no tap ends it; empty: a tap may
	Session        string // name of the session whose agent it is; empty: none
	Window         *Pane  // its window on ccbot's tmux server, if in the foreground; nil: elsewhere
}

// Pane describes a window for a person.
type Pane struct {
	Window string // tmux's id, "@3"
	Name   string
	Attach string // command that shows it in a terminal
}

// Window is a window that belongs to no session.
type Window struct {
	Machine string `json:",omitempty"` // as in Session
	ID      ID
	Pane
	Command string // tmux's name of the foreground program
	Dir     string // the folder of the agent, or of the foreground program
	Dead    bool
	Agent   *Writer   // the only foreground process proven to write a conversation
	Others  []Process // other programs in its panes, except the agent's descendants
	Closes  bool      // it was made for that agent alone, and closes with it
}
