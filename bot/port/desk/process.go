package desk

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// ID names a process or a window of the agent's machine for as long as that lives. Only its maker
// can read it.
type ID string

// Neighbours are who else writes a session's conversation.
type Neighbours interface {
	// Writers are the processes that write it at this moment, or may, apart from the session's own
	// agent.
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
	Source    string // short code of the evidence that decided
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
	Dir     string
	Dead    bool
	Agent   *Writer   // the one process in front of its panes that is proven to write a conversation; nil: none, or several
	Others  []Process // what else runs in its panes, apart from what the agent has started
	Closes  bool      // it was made for that agent alone, and closes with it
}
