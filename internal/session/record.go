package session

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/internal/claudeflags"
	"ccbot/internal/clip"
	"ccbot/internal/git"
	"ccbot/internal/keepjson"
	"ccbot/internal/process"
	"ccbot/internal/transcript"
)

// Version is the schema version that this program writes.
const Version = 2

// Limits of a record's history: it is kept for years, and evidence may quote an
// error of any length. The oldest lines go first.
const (
	historyLimit = 100
	whyLimit     = 1000 // bytes
)

// Conversation is where in the chat a session is shown.
type Conversation = address.Conversation

// Server is one life of a tmux server: its socket is reused after a restart,
// its pid with the start time is not.
type Server struct {
	Socket string `json:"socket"`
	PID    int    `json:"pid"`
	Start  uint64 `json:"start"`
}

// Binding says which pane and which process a session's agent is. Window and
// pane ids start again at 0 with every tmux server, so they count only together
// with Server, and the agent only with its start time and boot.
type Binding struct {
	Server  Server           `json:"server"`
	Window  string           `json:"window"`
	Pane    string           `json:"pane"`
	Agent   process.Identity `json:"agent"`
	Command string           `json:"command,omitempty"` // tmux's pane_current_command once the agent was ready
	BoundAt time.Time        `json:"bound_at"`
	// Exe and Argv (a SHA-256 of the arguments, in hex) are what the agent's
	// process was when it was bound: one that runs something else by now is not it.
	Exe  string `json:"exe,omitempty"`
	Argv string `json:"argv_sha256,omitempty"`
	// Adopted says that a person opened the pane: it is never closed. Shell is
	// its process where that is not the agent itself, 0 otherwise.
	Adopted bool `json:"adopted,omitempty"`
	Shell   int  `json:"shell,omitempty"`
}

// PanePID is the process that tmux knows the pane by.
func (b Binding) PanePID() int {
	if b.Shell != 0 {
		return b.Shell
	}
	return b.Agent.PID
}

// Rule names what decided a change: "chat.kill", "recovery.mark_lost".
type Rule string

// BroughtBack is the rule of a record that a person has brought back out of a copy: from then on counts how long it is
// over.
const BroughtBack Rule = "recover.restore"

// Change is one line of a record's history. A note has the same state twice.
type Change struct {
	At   time.Time `json:"at"`
	From State     `json:"from"`
	To   State     `json:"to"`
	Rule Rule      `json:"rule,omitempty"`
	Why  string    `json:"why"` // the evidence, in English
}

// Launch is how an agent was started; a restore gives it the same flags.
type Launch = claudeflags.Launch

// Why a record is closed for good, or how it was lost, where its state does not say it.
const (
	ClosedTransferred = "ownership_transferred" // another record goes on with its conversation
	ClosedStale       = "stale"                 // too old to be meant when its conversation came back
	ClosedReboot      = "reboot"                // the machine went down while it ran
	ClosedTmux        = "tmux_ended"            // its tmux server went down while it ran
)

// Exit is how an agent ended by itself.
type Exit struct {
	Status int       `json:"status"`
	Signal int       `json:"signal,omitempty"`
	Known  bool      `json:"known"` // false: the pane was gone, nobody saw the status
	Screen string    `json:"screen,omitempty"`
	At     time.Time `json:"at"`
}

// Crashed says whether the agent ended in another way than by a clean exit.
func (e Exit) Crashed() bool { return e.Known && (e.Status != 0 || e.Signal != 0) }

// Usage is what the agent's status line last told.
type Usage struct {
	Model   string    `json:"model,omitempty"`
	Context float64   `json:"context_percent"` // used of the context window, 0 to 100; -1: not known
	Cost    float64   `json:"cost_usd"`        // of the session since its start or /clear, in dollars
	At      time.Time `json:"at"`
}

// Same says whether two tell the same, whenever they did.
func (u Usage) Same(other Usage) bool {
	u.At = other.At
	return u == other
}

// Record is ccbot's record of one conversation with an agent. Its ID never
// changes; ClaudeSessionID is Claude Code's and may (/clear, fork).
type Record struct {
	Version          int           `json:"version"`
	ID               uuid.UUID     `json:"id"`
	Name             string        `json:"name"`
	Dir              string        `json:"dir"` // directory of birth, absolute
	Host             string        `json:"host"`
	State            State         `json:"state"`
	ClaudeSessionID  uuid.UUID     `json:"claude_session_id"`
	EarlierClaudeIDs []uuid.UUID   `json:"earlier_claude_ids,omitempty"`
	Conversation     Conversation  `json:"conversation"`
	Owner            int64         `json:"owner"`            // the person who started it
	Origin           string        `json:"origin,omitempty"` // inbox key of the command that made it: a replay finds it
	Binding          *Binding      `json:"binding,omitempty"`
	Final            State         `json:"final,omitempty"` // where stopping leads
	RestoredFrom     State         `json:"restored_from,omitempty"`
	Exit             *Exit         `json:"exit,omitempty"`
	Cleanup          *CleanupError `json:"cleanup,omitempty"`
	// Cursors say up to where the chat has each transcript: the last is the one
	// being written, earlier ones (before a /clear) are drained first.
	Cursors   []transcript.Cursor `json:"cursors,omitempty"`
	Prompts   []string            `json:"prompts,omitempty"` // inbox keys, in order of typing
	Usage     *Usage              `json:"usage,omitempty"`   // nil: not told yet
	CreatedAt time.Time           `json:"created_at"`
	UpdatedAt time.Time           `json:"updated_at"`
	StartedAt time.Time           `json:"started_at,omitzero"` // of the present launch
	ReportsAt time.Time           `json:"reports_at,omitzero"` // SessionStart of the present launch
	ReadyAt   time.Time           `json:"ready_at,omitzero"`   // of the present launch
	EndedAt   time.Time           `json:"ended_at,omitzero"`
	// Asked and Ended are when the end was asked for and when it was reached, on
	// the kernel's clock: who started a process later did it knowing.
	Asked process.Moment `json:"asked_moment,omitzero"`
	Ended process.Moment `json:"ended_moment,omitzero"`
	// Since is when the conversation became this session's own, on the same clock: a
	// process that was there before is nobody's leftover.
	Since process.Moment `json:"since_moment,omitzero"`
	// Exe is the program that the agent was seen to be.
	Exe string `json:"exe,omitempty"`
	// Bound are agents that this record bound and that are not proven gone.
	Bound []process.Identity `json:"bound,omitempty"`
	// Below is what ran below a process that had to be killed; it is on disk
	// before the KILL and ends after it.
	Below []Tool `json:"below,omitempty"`
	// Seconds are the second writers that the person was told of.
	Seconds []process.Identity `json:"second_writers,omitempty"`
	// ForkOf is the Claude id that this conversation began as a copy of.
	ForkOf uuid.UUID `json:"fork_of,omitzero"`
	// Tail is the size of the transcript when the session ended, Known up to where
	// it is known who has written it since. Haunted says that growth was told.
	Tail    int64 `json:"transcript_end,omitempty"`
	Known   int64 `json:"transcript_known,omitempty"`
	Haunted bool  `json:"haunted,omitempty"`
	// Launch is how the present or last agent was started; nil: not by ccbot.
	Launch *Launch `json:"launch,omitempty"`
	// Phase is what the agent was last seen doing (a phase.Now, with PhaseWhat and PhaseUntil), PhaseAt since when.
	Phase      string    `json:"phase,omitempty"`
	PhaseAt    time.Time `json:"phase_at,omitzero"`
	PhaseWhat  string    `json:"phase_what,omitempty"`
	PhaseUntil time.Time `json:"phase_until,omitzero"`
	// Progress is what the transcript tells of the work: turns, to-do items, tokens.
	Progress transcript.Progress `json:"progress,omitzero"`
	// Interruption is the last turn that was cut short; nil: none. See Unfinished.
	Interruption *Interruption `json:"interruption,omitempty"`
	// GitStart and GitNow are the directory's repository at the first launch and at
	// the end of the last turn; nil: there is none, or it did not answer.
	GitStart *git.State `json:"git_start,omitempty"`
	GitNow   *git.State `json:"git_now,omitempty"`
	// Closed is one of the Closed… reasons, or empty.
	Closed string `json:"closed_reason,omitempty"`
	// TookOver is the record whose conversation this one goes on with.
	TookOver uuid.UUID `json:"took_over_from,omitzero"`
	// Unreported says that recovery closed the session and the chat was not told yet.
	Unreported bool     `json:"unreported,omitempty"`
	History    []Change `json:"history,omitempty"`

	unknown keepjson.Unknown // fields of a later program; they survive a rewrite
}

// Tool is a process that ran below one that had to be killed.
type Tool struct {
	Process process.Identity `json:"process"`
	Of      process.Identity `json:"of"` // what had to be killed
}

// CleanupFailure is one thing that an archive could not prove.
type CleanupFailure struct {
	Kind   string `json:"kind"`          // a lifecycle.FailureKind
	PID    int    `json:"pid,omitempty"` // 0 where it is about no process
	Detail string `json:"detail"`        // English
}

// CleanupError keeps what an archive could not prove dead.
type CleanupError struct {
	Processes []process.Identity `json:"processes"`
	Reason    string             `json:"reason"` // the first of Failures, in English
	Failures  []CleanupFailure   `json:"failures,omitempty"`
	Attempts  int                `json:"attempts"`
	NotBefore time.Time          `json:"not_before"`
}

// Become moves the record to state next and notes which rule decided it on what
// evidence, or says that the transition table does not allow it. It changes the
// value only; the worker's save makes it last.
func (r *Record) Become(next State, now time.Time, rule Rule, why string) error {
	if !r.State.CanBecome(next) {
		return &transitionError{From: r.State, To: next}
	}
	r.note(r.change(next, now, rule, why))
	r.State = next
	return nil
}

// Note adds a line to the history that changes no state. The same line as the
// last one only gets its time.
func (r *Record) Note(now time.Time, rule Rule, why string) {
	c := r.change(r.State, now, rule, why)
	if last := len(r.History) - 1; last >= 0 {
		before := r.History[last]
		if before.At = c.At; before == c {
			r.History[last] = c
			return
		}
	}
	r.note(c)
}

func (r *Record) change(to State, now time.Time, rule Rule, why string) Change {
	return Change{At: now.UTC(), From: r.State, To: to, Rule: rule, Why: clip.Bytes(why, whyLimit, "…")}
}

func (r *Record) note(c Change) {
	r.History = append(r.History, c)
	if extra := len(r.History) - historyLimit; extra > 0 {
		r.History = slices.Delete(r.History, 0, extra)
	}
}

// HandedOver says whether another record goes on with the conversation.
func (r *Record) HandedOver() bool { return r.Closed == ClosedTransferred }

// TransferDone says whether a record that was handed over is over and holds nothing more that is its successor's.
func (r *Record) TransferDone() bool {
	return r.HandedOver() && !r.State.Live() && r.Binding == nil && len(r.Prompts)+len(r.Cursors)+len(r.Seconds) == 0
}

// Owns says whether the session can be meant by its conversation: it was neither handed over nor set aside for another.
func (r *Record) Owns() bool { return !r.HandedOver() && r.Closed != ClosedStale }

// Resumable says whether the session can be brought back: no other record goes
// on with its conversation.
func (r *Record) Resumable() bool { return r.State.Over() && !r.HandedOver() }

// Agent is the process that the session is bound to; zero where there is none.
func (r *Record) Agent() process.Identity {
	if r.Binding == nil {
		return process.Identity{}
	}
	return r.Binding.Agent
}

// Interrupted says whether a restore has no window that is known: it was cut short,
// or is about to make one.
func (r *Record) Interrupted() bool { return r.State == Restoring && r.Binding == nil }

// Cursor is the transcript position being followed; ok is false before the
// transcript's path is known.
func (r *Record) Cursor() (c transcript.Cursor, ok bool) {
	if len(r.Cursors) == 0 {
		return transcript.Cursor{}, false
	}
	return r.Cursors[len(r.Cursors)-1], true
}

// HasClaudeID says whether id is the record's present or an earlier Claude id.
func (r *Record) HasClaudeID(id uuid.UUID) bool {
	return r.ClaudeSessionID == id || slices.Contains(r.EarlierClaudeIDs, id)
}

// Crashed reports whether a session is completed by the crash of its agent.
func (r Record) Crashed() bool {
	return r.State == Completed && r.Exit != nil && r.Exit.Crashed()
}

// Clone is a deep copy.
func (r Record) Clone() Record {
	r.EarlierClaudeIDs = slices.Clone(r.EarlierClaudeIDs)
	r.Cursors = slices.Clone(r.Cursors)
	r.Prompts = slices.Clone(r.Prompts)
	r.Bound, r.Below, r.Seconds = slices.Clone(r.Bound), slices.Clone(r.Below), slices.Clone(r.Seconds)
	r.History = slices.Clone(r.History)
	r.unknown = maps.Clone(r.unknown) // the values are never changed in place
	r.Binding = clone(r.Binding)
	r.Exit = clone(r.Exit)
	r.Usage = clone(r.Usage)
	r.Interruption, r.Progress.Open = clone(r.Interruption), clone(r.Progress.Open)
	r.GitStart, r.GitNow = clone(r.GitStart), clone(r.GitNow)
	r.Progress.Tasks = slices.Clone(r.Progress.Tasks)
	r.Launch = clone(r.Launch)
	if r.Launch != nil {
		r.Launch.Flags = slices.Clone(r.Launch.Flags)
	}
	r.Cleanup = clone(r.Cleanup)
	if r.Cleanup != nil {
		r.Cleanup.Processes = slices.Clone(r.Cleanup.Processes)
		r.Cleanup.Failures = slices.Clone(r.Cleanup.Failures)
	}
	return r
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// check says what makes a record unusable.
func (r *Record) check() error {
	switch {
	case r.ID == uuid.Nil:
		return fmt.Errorf("id is missing")
	case !r.State.Valid():
		return fmt.Errorf("state %q is not known", r.State)
	case r.Dir == "":
		return fmt.Errorf("dir is missing")
	case r.ClaudeSessionID == uuid.Nil:
		return fmt.Errorf("claude_session_id is missing")
	case r.CreatedAt.IsZero():
		return fmt.Errorf("created_at is missing")
	}
	return nil
}
