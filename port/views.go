package port

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/port/talk"
)

// Views reads the sessions.
type Views interface {
	// Get returns a session; false means that there is none. A session that could not be read has
	// StateUnknown.
	Get(id uuid.UUID) (Session, bool)
	// List returns all sessions, oldest first. With an error it returns those that it knows.
	List() ([]Session, error)
	// History returns the changes of a session, oldest first.
	History(ctx context.Context, id uuid.UUID) ([]Change, error)
}

// Session describes one session. Its ID never changes.
type Session struct {
	ID             uuid.UUID
	Machine        string `json:",omitempty"` // the id of its machine; empty: the chat's own
	Name           string
	FormerNames    []string // earlier names that still find it
	Dir            string   // its address, see folders.Address: absolute, without links
	Start          string   // the address of the folder in which it began; Dir is where it works now
	State          State
	Resumable      bool // it can be resumed
	Forgettable    bool `json:",omitempty"` // its cleanup failed, and each of its processes is proven gone
	Owns           bool // no other session has taken over its conversation or was made for it
	Interrupted    bool // it was being restored when the program ended
	AgentSessionID uuid.UUID
	ForkOf         uuid.UUID // Claude's id of the conversation that it copied
	Conversation   address.Conversation
	TakesPlaces    bool   `json:",omitempty"` // its machine shows it in the place of a prompt when that is typed
	Terms          int64  `json:",omitempty"` // the chat whose limits hold for it; 0: that of Conversation
	Owner          int64  // the person who started it
	Origin         string // key of the start request
	Window         string // the window of its agent, for people; empty: unknown
	Attach         string // the command that shows that window in a terminal; empty: unknown
	Agent          string // its agent's process, opaque; empty: none
	Product        string // its agent's name for people; empty: Claude Code
	Reachable      bool   // a tool of its agent that may use the network can answer the agent's requests
	Mode           string // ccbot's permission mode, ask or bypass; empty: not started by ccbot
	Bypasses       bool   // its agent may act without asking, by its launch or its last noted mode
	Can            Abilities
	Shared         bool   // its agent runs in a person's shell, which stays
	Final          State  // the state that stopping leads to
	Closed         Closed // why it has ended, if the state does not show it
	Exit           *Exit  // how its agent exited by itself
	Failures       []Failure
	Cursors        []talk.Cursor        // the chat's position in each transcript, the current one last
	Earlier        []talk.Shown         `json:",omitempty"` // where turns belong that the chat may not have whole, oldest first
	Next           address.Conversation `json:",omitzero"`  // where it is shown from its next turn on; zero: where it is
	Turns          int                  `json:",omitempty"` // see HasWords
	CountsTurns    bool                 `json:",omitempty"` // its machine counts them in Turns
	Prompts        []string             // keys of the waiting prompts, in order
	IdleAfter      *time.Duration       `json:",omitempty"` // see Keeper.SetIdleAfter
	Budget         Budget               `json:",omitzero"`  // see Keeper.SetBudget
	Unreported     bool                 // a start closed it, and that is not reported yet
	Interruption   *Interruption        // nil: none, or the work was continued
	News           int64                `json:",omitempty"` // number of the kept news that it comes with, or of the last
	Late           bool                 `json:",omitempty"` // they come after later ones, because this program was too old for them
	CreatedAt      time.Time
	StartedAt      time.Time // of the current launch
	EndedAt        time.Time
	Now            talk.Activity // the agent's last noted activity
	NowSince       time.Time
	Loop           *Loop     // its live loop; nil: none
	Scheduled      time.Time // of its next scheduled prompt; zero: none
}

// Cursor returns the cursor of the current transcript.
func (s Session) Cursor() (c talk.Cursor, ok bool) {
	if len(s.Cursors) == 0 {
		return c, false
	}
	return s.Cursors[len(s.Cursors)-1], true
}

// PlaceOf returns where a turn belongs that begins at a position of a transcript.
func (s Session) PlaceOf(turn talk.Cursor) address.Conversation {
	file := func(c talk.Cursor) int { return slices.IndexFunc(s.Cursors, c.IsBeside) } // a /clear begins the next one
	for _, e := range s.Earlier {
		if e.Until.IsBeside(turn) && turn.Precedes(e.Until) || !e.Until.IsBeside(turn) && file(turn) < file(e.Until) {
			return e.In
		}
	}
	return s.Conversation
}

// HasWords reports whether a turn of the session has begun, as far as is known: a machine of an earlier
// version does not count turns.
func (s Session) HasWords() bool { return s.Turns > 0 || !s.CountsTurns }

// Veiled is what a group sees of a session of another chat: its name, its state and the last element of
// its folder, and nothing that a person or an agent wrote. A field is left out unless it is named here.
func (s Session) Veiled() Session {
	return Session{ID: s.ID, Machine: s.Machine, Name: s.Name, Dir: path.Base(s.Dir), State: s.State, Resumable: s.Resumable, Owns: s.Owns,
		Interrupted: s.Interrupted, Conversation: s.Conversation, TakesPlaces: s.TakesPlaces, Turns: s.Turns, CountsTurns: s.CountsTurns, Product: s.Product, Final: s.Final,
		Closed: s.Closed, Can: s.Can, CreatedAt: s.CreatedAt, StartedAt: s.StartedAt, EndedAt: s.EndedAt,
		Now: talk.Activity{Phase: s.Now.Phase}, NowSince: s.NowSince}
}

// MayForget reports whether its record may be forgotten.
func (s Session) MayForget() bool { return s.State.HasEnded() || s.Forgettable }

// WithPresent replaces what of a session counts as it is when news about it are delivered: how it
// is called, the conversation that shows it, and what waits there. Stored news have none of these,
// so that a person who changes or deletes them leaves nothing behind there.
func (s Session) WithPresent(now Session) Session {
	s.Name, s.FormerNames, s.Conversation, s.Terms, s.Owner = now.Name, now.FormerNames, now.Conversation, now.Terms, now.Owner
	s.Next, s.Cursors, s.Earlier, s.Prompts, s.Can, s.Loop = now.Next, now.Cursors, now.Earlier, now.Prompts, now.Can, now.Loop
	return s
}

// Closed is the reason why a session has ended for good or was lost.
type Closed string

// The reasons that the state does not show.
const (
	ClosedReboot Closed = "reboot"     // the machine stopped while it ran
	ClosedTmux   Closed = "tmux_ended" // its tmux server ended while it ran
)

// Exit is the exit of an agent by itself.
type Exit struct {
	Status  int
	Signal  int  // 0: none
	Crashed bool // the exit was not clean
}

// Interruption is a turn cut short by an unrequested end of its agent.
type Interruption struct {
	Prompt      uuid.UUID // names the prompt that continues it; always the same one
	Step        string    // the agent's last tool call, in a line; empty: none was seen
	Done, Tasks int       // of the agent's to-do items
	Waited      bool      // the agent waited for a person
	Alone       bool      // the session may continue without asking a person
}

// Change is one line of a session's history. A note has the same state in From and To.
type Change struct {
	At   time.Time `json:"at"`
	From State     `json:"from"`
	To   State     `json:"to"`
	Rule Rule      `json:"rule,omitempty"`
	Why  string    `json:"why"` // the evidence, in English

	// The person in the chat who asked for it; 0: none, or none that the chat knows.
	By     int64 `json:"by,omitempty"`
	Status int   `json:"status,omitempty"` // how an agent ended by itself: its exit status, or
	Signal int   `json:"signal,omitempty"` // the signal that ended it
}

// Rule names the code that decided a change: "chat.kill", "recovery.mark_lost".
type Rule string

// Failure is a fact that an end could not prove.
type Failure struct {
	Kind   string // short code
	PID    int    // 0: it concerns no process
	Detail string // the full reason, in English
}

// FailureUnknown is the kind if it is unknown whether a process lives or writes.
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

// Works reads the work of sessions.
type Works interface {
	// Work returns the work of a session; the zero value if there is no such session. It runs git,
	// which may take seconds.
	Work(ctx context.Context, id uuid.UUID) (Work, error)
	// Brief is like Work without git and memory. It reads the transcript since the last change of
	// phase.
	Brief(ctx context.Context, id uuid.UUID) (Work, error)
	// Usage returns the use in the agent's status line; nil: it has shown none. It reads one small
	// file.
	Usage(ctx context.Context, id uuid.UUID) (*Usage, error)
}

// Work is the work of a session's agent, and how the agent was started.
type Work struct {
	Phase       talk.Phase // the agent's last noted phase
	PhaseAt     time.Time
	Model       string
	Permissions string   // Claude Code's own permission mode, as last noted
	Flags       []string // of the command line
	Turns       int      // that have ended
	Tasks       []Task
	Tokens      Tokens
	Partly      bool          // turns, tasks and tokens are not counted from the start
	Failed      talk.Activity // how the last turn failed, if none followed; Unknown: unreadable
	Usage       *Usage        // nil: unknown
	Git         *Git          // nil: git did not answer
	Memory      uint64        // of the agent and its descendants, in bytes; 0: unknown
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

// Git is the repository of a session's folder.
type Git struct {
	Outside bool   // the session works outside of the folders that it may be opened in, so nothing was looked at
	Root    string // its top folder; empty: the folder is in no repository
	Branch  string // empty: none is checked out
	Head    string // commit id; empty before the first commit
	Dirty   bool   // a file is changed or untracked
	At      time.Time
	Start   string // the commit at the session's start; empty: unknown, or none
	Changes *Changes
}

// Changes are the differences from that commit, committed or not; nil: unknown.
type Changes struct{ Files, Insertions, Deletions, Untracked int }
