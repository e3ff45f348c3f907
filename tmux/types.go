package tmux

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config says with which tmux server a Client works, and under which names.
type Config struct {
	// Socket is a `tmux -L` name. Empty is the user's default server, which New refuses in a test
	// binary.
	Socket string
	// Session is the tmux session of ccbot's windows: letters, digits, '_' and '-'.
	Session string
	// Instance makes the session of the control client unique: ccbot-ctl-<instance>.
	Instance string
	// Env ("K=V") is the whole environment of a server that ccbot starts. tmux hands the
	// environment of the first client to every later pane, so ccbot's own environment never goes
	// there.
	Env []string
	Log *slog.Logger
	// Start returns the start time of a process, for ServerID.
	Start func(pid int) (uint64, error)
	// Runs reports whether a process with these arguments runs. nil: it is not asked.
	Runs func(ctx context.Context, argv []string) bool
}

// ServerID names one tmux server for its whole life.
type ServerID struct {
	Socket string `json:"socket"` // path of the socket
	PID    int    `json:"pid"`
	Start  uint64 `json:"start"` // as Config.Start gives it
}

// Pane is a pane as the server sees it at one moment.
type Pane struct {
	ID         PaneID
	Window     WindowID
	Session    string
	WindowName string
	// WindowIndex is the window's number in Session, as people see and type it. The number changes
	// when the window is moved, so use the id to name a window to tmux.
	WindowIndex int
	PID         int // of the process tmux started in it; kept after its death
	// Command is pane_current_command, as Guard compares it. On Linux it is made of argv[0] of the
	// foreground process: up to the first space, then the last path element. So "/opt/my
	// tools/agent" is "my": read the name here, do not derive it from a path.
	Command string
	// pane_current_path: its working directory, links resolved; empty when not readable
	Path       string
	Dead       bool // the process ended and remain-on-exit holds the pane
	DeadStatus int  // exit status; -1 when a signal ended it, or when tmux does not know yet
	// the signal that ended it; 0 when it exited, or when tmux does not know (yet; 3.2 never)
	DeadSignal int
	InMode     bool // copy mode and the like: keys would not reach the process
	// Synchronized means that input of the pane also goes to the other panes of its window.
	Synchronized  bool
	Width, Height int    // in cells
	Tag           string // @ccbot_session of the window
	Title         string // pane_title, which programs in the pane choose
	// Attached counts the clients attached to the session, control-mode ones too. It does not count
	// the clients of a grouped session (new-session -t): Viewers has them.
	Attached int
	Active   bool // the active pane of its window
	// WindowPanes is the number of panes in the window: more than one if a person has split it.
	WindowPanes int
	Scrolled    int // rows that have left the pane at its top; a capture has only those below them
	// Touched is the second in which a terminal was last attached to a session with the window, or
	// a key was pressed there. Text that ccbot types does not count, nor do keys typed through a
	// control-mode terminal.
	Touched time.Time
}

// Viewer is a person's terminal that is attached to the tmux server.
type Viewer struct {
	Window WindowID // the window it shows
	// Session is the session to which the terminal is attached. The session of a person in a group
	// (new-session -t ccbot) has another name, ccbot-2. It shows the same windows, but has a
	// separate current window.
	Session  string
	TTY      string // "/dev/pts/3"
	ReadOnly bool   // attached with -r: it cannot type
	// LastKey is the time of the last key there, in whole seconds; zero if no key was pressed since
	// the second of the attach. For tmux a paste, the mouse and a change of focus count as keys, if
	// they are reported at all, and so does a key for tmux itself; in a split window the key may
	// have gone to another pane. Output, a resize and keys typed by ccbot do not count.
	LastKey time.Time
}

// Spec is a window to make.
type Spec struct {
	Name  string            // shown to people; any text
	Tag   string            // @ccbot_session: <instance>/<record id>
	Dir   string            // absolute and existing: tmux takes a missing one for HOME, silently
	Env   map[string]string // added
	Unset []string          // removed, by exact name
	Argv  []string          // absolute command first; no shell stands between
	At    func(step string) // called after each step; nil: none is
}

// Guard lists the properties that a pane must have for an operation to happen. tmux itself
// compares, in the same command that acts.
type Guard struct {
	Pane PaneID
	PID  int // pane_pid
	// Command is pane_current_command; empty is not compared.
	Command string
	// emptied is the tag of the window of a pane in which tmux could not start a process; empty: it
	// has a process.
	emptied string
}

// Key is a key that may be pressed, except Enter, which has its own method.
type Key string

// The keys that Press accepts, in addition to the digits "0" to "9" and C- with a letter of
// controls.
const (
	KeyEscape Key = "Escape"
	KeyClear  Key = "C-u"
	KeyUp     Key = "Up"
	KeyDown   Key = "Down"
	KeyLeft   Key = "Left"
	KeyRight  Key = "Right"
	KeyTab    Key = "Tab"
	KeySpace  Key = "Space"

	KeyBackTab   Key = "BTab" // Shift and Tab
	KeyInterrupt Key = "C-c"
	KeyModels    Key = "M-p"
	KeySession   Key = "s"
	KeyYes       Key = "y" // an answer that is typed in a dialog
	KeyNo        Key = "n"
	KeyStop      Key = "x" // on a page that offers it
)

// Valid reports whether Press takes the key.
func (k Key) Valid() bool {
	switch k {
	case KeyEscape, KeyClear, KeyUp, KeyDown, KeyLeft, KeyRight, KeyTab, KeySpace,
		KeyBackTab, KeyInterrupt, KeyModels, KeySession, KeyYes, KeyNo, KeyStop:
		return true
	}
	if letter, ok := strings.CutPrefix(string(k), "C-"); ok {
		return len(letter) == 1 && strings.Contains(controls, letter)
	}
	_, err := strconv.ParseUint(string(k), 10, 8)
	return err == nil && len(k) == 1
}

// controls are the letters whose control key differs from every other key, and neither suspends nor
// ends a program.
const controls = "abefgklnopqrstuvwxy"

// WindowID is tmux's id of a window, "@3". It is unique for the life of one server; the next server
// uses it again. Every method refuses the zero value with ErrNoTarget, because tmux itself takes an
// empty target for "the current one".
type WindowID struct{ n uint32 } // the number plus one

// PaneID is tmux's id of a pane, "%3". Its life and its zero value are as for WindowID.
type PaneID struct{ n uint32 }

// ParseWindowID reads "@3".
func ParseWindowID(s string) (WindowID, error) {
	n, err := parseID('@', s)
	return WindowID{n}, err
}

// ParsePaneID reads "%3".
func ParsePaneID(s string) (PaneID, error) {
	n, err := parseID('%', s)
	return PaneID{n}, err
}

// Valid reports whether the id names a window.
func (w WindowID) Valid() bool { return w.n != 0 }

// Valid reports whether the id names a pane.
func (p PaneID) Valid() bool { return p.n != 0 }

// String is "@3", and empty for the zero value.
func (w WindowID) String() string { return formatID('@', w.n) }

// String is "%3", and empty for the zero value.
func (p PaneID) String() string { return formatID('%', p.n) }

func parseID(kind byte, s string) (uint32, error) {
	digits, ok := strings.CutPrefix(s, string(kind))
	if !ok || digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, fmt.Errorf("tmux id %q: want %c and a number", s, kind)
	}
	// The number has 31 bits, so that one can be added to it on every platform.
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("tmux id %q: %w", s, err)
	}
	return uint32(n) + 1, nil
}

func formatID(kind byte, n uint32) string {
	if n == 0 {
		return ""
	}
	return string(kind) + strconv.FormatUint(uint64(n-1), 10)
}

// OldestFirst returns the panes, sorted by the age of their windows and then by their own age.
func OldestFirst(panes []Pane) []Pane {
	return slices.SortedFunc(slices.Values(panes), func(a, b Pane) int {
		return cmp.Or(compareIDs(a.Window.String(), b.Window.String()), compareIDs(a.ID.String(), b.ID.String()))
	})
}

// compareIDs compares two tmux ids of one kind; "%9" comes before "%10".
func compareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
