package port

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/port/talk"
)

// ID names a process, or a window with what runs in it, for as long as that lives. Only its maker
// can read it.
type ID string

// Keys answers what the terminal of a session asks.
type Keys interface {
	Dialog(ctx context.Context, id uuid.UUID) (Dialog, error)
	// Press presses a key, and Choose an option, of the dialog that has this mark. They give what
	// the terminal asks after it. refusal.Changed: it shows something else, and nothing is pressed.
	Press(ctx context.Context, id uuid.UUID, mark, key string) (Dialog, error)
	Choose(ctx context.Context, id uuid.UUID, mark string, option int) (Dialog, error)
}

// Panes are the terminals of sessions as pictures, with all keys. A key is pressed only where the
// terminal still shows what the person saw.
type Panes interface {
	// Screen gives what is shown, after a key if one is to be pressed. refusal.Changed: something else
	// is shown than where the key belongs, and nothing is pressed.
	Screen(ctx context.Context, id uuid.UUID, press KeyOn) (Screen, error)
}

// KeyOn is a key, one of those of Keys, backtab or interrupt, for the screen that has this mark. The
// zero value is none.
type KeyOn struct{ Key, Mark string }

// Screen is what a terminal shows.
type Screen struct {
	Text string // its rows, with the colours as SGR sequences
	// Whole: it hides nothing of what it asks. Else no key can choose anything.
	Whole bool
	Mark  string // changes with all that is shown, but not with the spinner of a running turn
	// Unasked means that the screen shows a dialog with Dialog.Unasked. No key can choose there.
	Unasked bool
}

// Screens look at the terminal of a session.
type Screens interface {
	// Looks looks at sessions. The processes of the machine are read once for all of them.
	Looks(ctx context.Context, ids ...uuid.UUID) map[uuid.UUID]Look
	// Output looks for what a command of bash mode prints. The zero value: nobody knows.
	Output(ctx context.Context, id uuid.UUID, command string) Output
	// Interrupt presses Esc once, where an agent works, and waits for the end of what it did. What waits
	// in its queue is not typed: news ask about it. told: news or the transcript say what was stopped.
	Interrupt(ctx context.Context, id uuid.UUID) (told bool, err error)
}

// Neighbours are who else writes a session's conversation.
type Neighbours interface {
	// Writers are the processes that write it now, or may, apart from the session's own agent.
	Writers(ctx context.Context, id uuid.UUID) ([]Writer, error)
}

// Windows are those of ccbot's tmux session.
type Windows interface {
	// Attach is the command that shows the window of a session at the desk.
	Attach(id uuid.UUID) string
	// Orphans are the windows that belong to no session, but the ignored ones.
	Orphans(ctx context.Context) ([]Window, error)
	// Ignore has a window mentioned no more as long as the window lives.
	Ignore(ctx context.Context, w Window) error
}

// Notices say of which windows the chat was told.
type Notices interface {
	// NewOrphans are those of which the chat was not told yet.
	NewOrphans(ctx context.Context, of []Window) ([]Window, error)
	// Told notes that the chat was told.
	Told(ctx context.Context, all []Window) error
}

// Dialog is what the terminal asks, as a person is shown it.
type Dialog struct {
	Open     bool     // something takes the keys instead of the prompt box; else nothing else is set
	Lines    []string // what it shows; where it is not recognised, all rows of the screen
	Options  []string // labels as shown; none: a page, or it is not recognised
	Selected int      // index into Options; -1 without options
	Whole    bool     // Lines are all of it: nothing has left the screen, and no row is hidden
	Mark     string   // changes with anything that is shown
	Relayed  bool     // a permission request of the agent waits for the chat
	// Unasked means that the terminal asks for a permission and no request for it waits in the chat,
	// although ccbot started the agent with a hook that makes one.
	Unasked bool
	// Same reports, of the result of a key, that the terminal still asks what the person was shown: only the
	// cursor, a tick or a row below the options has changed.
	Same bool
}

// CanChoose reports whether a person may choose an option from the chat. Of a permission that came
// without its request these are a plain Yes and a plain No: the other options permit more than what
// is shown.
func (d Dialog) CanChoose(option int) bool {
	return !d.Unasked || d.Options[option] == "Yes" || d.Options[option] == "No"
}

// Look is what a session is doing.
type Look struct {
	Now        talk.Activity
	Idle       bool // the prompt box is free: no turn runs, whatever Now says of the last one
	Presence   Presence
	Background bool      // commands that the agent has started still run
	Agents     int       // its agents that work in the background, as far as its screen says
	Draft      bool      // its prompt box holds a text that was not sent, or is not seen
	Quiet      bool      // nobody would miss the agent now: it is idle, nothing runs, nobody is there, and no draft is lost
	Active     time.Time // when something last happened, from either side
	Usage      *Usage    // nil: not known
	Asked      string    // the beginning of what a person has asked last; empty: not known
	PIDs       []int     // the processes of the agent and of all that it has started; none: not known
}

// Presence says whether a person has a session's window before them in a terminal.
type Presence string

// What is known of people at the desk; empty: nobody is known to be there.
const (
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

// Process is a process as a person knows it.
type Process struct {
	ID       ID
	PID      int
	Program  string        // the name by which a person knows it
	Terminal string        // empty: none
	Age      time.Duration // 0: not known
}

// Writer is a process that writes a conversation, or may.
type Writer struct {
	Process
	Dir       string    // where it works, where that may be read
	Claude    uuid.UUID // Claude's id of the conversation
	Proven    bool
	Endable   bool   // a person may have it ended: it is proven, and nothing protects it
	Adoptable bool   // and ccbot can type into the terminal where it runs
	Source    string // short code of the evidence that decided; empty: it is not proven
	Kept      string // short code why no tap ends it; empty: a tap may
	Session   string // name of the session whose agent it is; empty: of none
	Window    *Pane  // where it runs in the foreground on ccbot's tmux server; nil: elsewhere
}

// Pane is a window as people know it.
type Pane struct {
	Window string // tmux's id, "@3"
	Name   string
	Attach string // command that shows it at the desk
}

// Window is a window that belongs to no session.
type Window struct {
	ID ID
	Pane
	Command string // what tmux calls the program in front
	Dir     string // where the agent, or else that program, works
	Dead    bool
	Agent   *Writer   // the one process in front that is proven to write a conversation
	Others  []Process // what else runs in its panes, apart from what the agent has started
	Closes  bool      // it was made for that agent alone, and closes with it
}
