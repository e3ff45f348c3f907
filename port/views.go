package port

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/port/talk"
)

// Views reads the sessions there are.
type Views interface {
	Get(id uuid.UUID) (Session, bool)
	// List is all of them, oldest first.
	List() []Session
	// History is what happened to a session, oldest first.
	History(id uuid.UUID) ([]Change, error)
}

// Session is what the chat knows of one session. Its ID never changes.
type Session struct {
	ID              uuid.UUID
	Name            string
	FormerNames     []string // that still lead to it
	Dir             string   // absolute, without links
	State           State
	Live            bool // a process may be running for it
	Open            bool // it is live, and nobody has asked for its end
	Over            bool // it has ended, and so has all that belonged to it
	Resumable       bool // it can be brought back
	Owns            bool // its conversation may stand for it: no other session has taken it over, or was made for it
	Interrupted     bool // it was coming back when the program ended
	ClaudeSessionID uuid.UUID
	ForkOf          uuid.UUID // Claude's id of the conversation that it began as a copy of
	Conversation    address.Conversation
	Owner           int64  // the person who started it
	Origin          string // key of the start that was asked for
	Window          string // what its agent runs in, for people; empty: nothing known
	Agent           string // its agent's process, opaque; empty: none
	Mode            string // ccbot's permission mode, ask or bypass; empty: ccbot has not started the agent
	Shared          bool   // its agent runs in a person's shell, which stays
	Final           State  // where stopping leads
	Closed          Closed // why it is over, where the state does not say it
	Exit            *Exit  // how its agent ended by itself
	Failures        []Failure
	Cursors         []talk.Cursor // up to where the chat has each transcript, the one being written last
	Prompts         []string      // keys of the prompts that wait, in order
	Unreported      bool          // a start closed it, and the chat was not told yet
	Interruption    *Interruption // after which nobody has gone on; nil: none
	CreatedAt       time.Time
	StartedAt       time.Time // of the present launch
	EndedAt         time.Time
	Now             talk.Activity // what its agent does, as last noted
	NowSince        time.Time
}

// Cursor is the cursor of the transcript that is being written.
func (s Session) Cursor() (c talk.Cursor, ok bool) {
	if len(s.Cursors) == 0 {
		return c, false
	}
	return s.Cursors[len(s.Cursors)-1], true
}

// State is where a session is in its life.
type State string

// The states of a session.
const (
	StateRunning       State = "running"
	StateRestoring     State = "restoring"
	StateStopping      State = "stopping"
	StateArchived      State = "archived"
	StateCompleted     State = "completed"
	StateCleanupFailed State = "cleanup_failed" // a process could not be proven dead
	StateLost          State = "lost"
	StateFailed        State = "failed" // it ended before it was ever ready
	StateAbandoned     State = "abandoned"
)

// Closed is why a session is over for good, or how it was lost.
type Closed string

// The reasons that a state does not say.
const (
	ClosedReboot Closed = "reboot"     // the machine went down while it ran
	ClosedTmux   Closed = "tmux_ended" // its tmux server went down while it ran
)

// Exit is how an agent ended by itself.
type Exit struct {
	Status  int
	Signal  int  // 0: none
	Crashed bool // in another way than by a clean exit
}

// Interruption is a turn that was cut short by the end of its agent, which nobody had asked for.
type Interruption struct {
	Prompt      uuid.UUID // names the prompt that goes on: the same one whenever it is asked for
	Step        string    // the agent's last call of a tool, in a line; empty: none was seen
	Done, Tasks int       // of the agent's to-do items
	Waited      bool      // the agent waited for a person
	Alone       bool      // the session may go on without a person's word
}

// Change is one line of a session's history; a note has the same state twice.
type Change struct {
	At       time.Time
	From, To State
	Rule     string // what decided it
	Why      string // the evidence, in English

	By             int64 // the person of the chat who asked for it; 0: none
	Status, Signal int   // how an agent ended by itself
}

// Failure is one thing that an end could not prove.
type Failure struct {
	Kind   string // short code
	PID    int    // 0 where it is about no process
	Detail string // all of it, in English
}

// FailureUnknown is the kind of what could not be proven of whether a process lives, or writes.
const FailureUnknown = "unknown"

// Usage is the agent's last status line.
type Usage struct {
	Model string `json:"model,omitempty"`
	// Context is the used part of the context window, 0 to 100; -1: unknown.
	Context float64 `json:"context_percent"`
	// Cost is the session's cost since its start or /clear, in dollars.
	Cost float64   `json:"cost_usd"`
	At   time.Time `json:"at"`
}

// Same reports whether both have the same values, apart from the time.
func (u Usage) Same(other Usage) bool {
	u.At = other.At
	return u == other
}

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
	Phase       talk.Phase // what the agent does, as last noted
	PhaseAt     time.Time
	Model       string
	Permissions string   // Claude Code's own permission mode, as last noted
	Flags       []string // of the command line
	Turns       int      // that have ended
	Tasks       []Task
	Tokens      Tokens
	Partly      bool          // turns, to-do items and tokens are not counted from the beginning of the conversation
	Failed      talk.Activity // how the last turn has failed, as the transcript has it now; nobody has gone on since; Unknown: it cannot be read
	Usage       *Usage        // nil: not known
	Git         *Git          // nil: git did not answer
	Memory      uint64        // of the agent and all that it has started, in bytes; 0: not known
}

// Task is one to-do item of an agent.
type Task struct {
	ID     string `json:"id,omitempty"`
	Text   string `json:"text"`
	Status string `json:"status"` // pending, in_progress, completed, or a later version's word
}

// Tokens are summed over the answers of a conversation.
type Tokens struct {
	Input         int64 `json:"input"`
	CacheCreation int64 `json:"cache_creation"`
	CacheRead     int64 `json:"cache_read"`
	Output        int64 `json:"output"`
}

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
