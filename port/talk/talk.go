package talk

import (
	"context"
	"path"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/port/folders"
)

// Transcripts reads what agents and people said. A transcript that does not exist yet is empty.
type Transcripts interface {
	// Next returns up to most items of a session's transcript, oldest first, starting at from. If
	// there are none and wait is set, it blocks until one is written or ctx is done. For an earlier
	// transcript or an ended session it does not block; no items then means the end, and items
	// after the session's end are omitted. Continuing from the last item's Next cursor repeats no
	// item. Errors: refusal.Replaced, refusal.FileIrregular, ctx's error, or an error for the log.
	Next(ctx context.Context, session uuid.UUID, from Cursor, most int, wait bool) ([]Item, error)
	// Between returns the answers and questions between two cursors of one transcript, oldest first.
	// If from is nil, it returns the last answer before the second cursor. cut reports that earlier
	// ones were left out, because the part is too long.
	Between(ctx context.Context, from *Cursor, before Cursor) (items []Item, cut bool, err error)
	// End returns the present end of a cursor's transcript.
	End(ctx context.Context, of Cursor) (Cursor, error)
}

// Pictures opens images and long texts of transcripts.
type Pictures interface {
	// Image opens an image of the item at a cursor. The error is fs.ErrNotExist or fs.ErrInvalid if
	// the transcript no longer has the image.
	Image(ctx context.Context, at Cursor, image Image) (folders.File, error)
	// Words opens a part of a text too long for an item: its first Most bytes, or if beyond, the
	// rest. Errors are those of Image.
	Words(ctx context.Context, at Cursor, rest Rest, beyond bool) (folders.File, error)
}

// CursorStore stores the chat's position in transcripts.
type CursorStore interface {
	// Advance notes that the chat has a transcript up to a cursor. A cursor of a later transcript
	// also completes the earlier ones. The chat stores the cursor itself, and calls Advance again at
	// a start.
	Advance(ctx context.Context, id uuid.UUID, c Cursor) error
}

// Cursor is a position in a transcript. Only its maker can read it; cursors of one transcript are
// ordered by offset.
type Cursor struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"` // start of the first line that is not fully handled, in bytes
	Block  int    `json:"block"`  // first item of that line that is not fully handled
	Part   int    `json:"part"`   // parts of that item already handled; the chat counts them
	// Form names the division into parts that Part counts: parts of another form are other parts.
	Form string `json:"form,omitempty"`
	// Joined is the number of texts, from this one on, that are sent together in an attempt that
	// has begun; 0: this text alone.
	Joined int `json:"joined,omitempty"`
}

// Precedes reports whether c is before another place of its transcript. A cursor inside an item,
// after some of its parts, counts as a place before that item.
func (c Cursor) Precedes(other Cursor) bool {
	return c.Offset < other.Offset || c.Offset == other.Offset && c.Block < other.Block
}

// IsBeside reports whether two cursors are in one transcript, which an agent may have moved into another folder
// in between: its name stays.
func (c Cursor) IsBeside(other Cursor) bool { return path.Base(c.Path) == path.Base(other.Path) }

// Passes reports whether c is a later place of the same transcript than another. Parts of an item
// have an order only within one form.
func (c Cursor) Passes(other Cursor) bool {
	switch {
	case c.Path != other.Path, c == other, c.Precedes(other):
		return false
	case other.Precedes(c), c.Form != other.Form:
		return true
	}
	return c.Part >= other.Part
}

// Shown is the place of the turns that began before a position of a transcript: the session has been
// shown elsewhere since.
type Shown struct {
	Until Cursor               `json:"until"`
	In    address.Conversation `json:"in"`
}

// Item is one statement or action of an agent or a person.
type Item struct {
	At   Cursor // the item's position
	Next Cursor // the position after it

	Kind       Kind
	Time       time.Time // zero: unknown
	Sidechain  bool      // of a subagent
	Meta       bool      // written by a program, not typed by a person
	FromPerson bool      // by a person: a prompt, or a command of the terminal
	Begins     bool      // it begins the agent's turn if none runs
	Ends       Ending    // it ends the agent's turn
	Last       bool      // for a Text that ends a turn, or may in earlier versions of Claude Code
	Text       string
	Failed     Activity    // for APIError, or LocalOutput about a blocked prompt: the activity afterwards
	Cause      FailureKind // of Failed
	Bash       string      // for LocalOutput: the bash command, if known
	Off        bool        // for LocalOutput: ccbot has switched the command off
	Images     []Image
	Rest       *Rest // Text is truncated; nil: it is complete
	Size       int64 // for TooLong, in bytes
	Tool       *Tool // for ToolUse, ToolResult and TaskEnded
}

// Ending is the end of a turn; empty: it runs.
type Ending string

// The endings that a transcript shows.
const (
	EndedTurn   Ending = "done"
	StoppedTurn Ending = "stopped" // a person interrupted it
	FailedTurn  Ending = "failed"  // the API refused a request
)

// Reply is the answer to a text, as far as it was read.
type Reply struct {
	Texts   []string // since the last call of a tool
	Ending  Ending
	Failure Failure // of FailedTurn
}

// Failure is an error that ended a turn, or kept a prompt from beginning one. It stands until the
// agent answers, or a person sends another prompt.
type Failure struct {
	Kind  FailureKind `json:"kind"`
	Text  string      `json:"text"`           // as the agent shows it, or the hook's reason
	Until time.Time   `json:"until,omitzero"` // the end of a limit; zero: unknown
}

// FailureKind is the kind of a failure.
type FailureKind string

// The kinds of failures.
const (
	FailedRequest FailureKind = "request" // the API refused a request, or all its repetitions
	FailedLogin   FailureKind = "login"   // the account or the key is not accepted
	FailedLimit   FailureKind = "limit"   // the account has used what it may use
	FailedHook    FailureKind = "hook"    // a hook has blocked a prompt
	FailedContext FailureKind = "context" // the conversation no longer fits into the model's context
	FailedAccount FailureKind = "account" // the account has no credit
	FailedRefused FailureKind = "refused" // the API refused what a request holds, which may be the message or its conversation
	FailedAgain   FailureKind = "again"   // of an item: the turn before ended with the same refusal, so it is the conversation that is refused
)

// Tool is a tool call, or its end.
type Tool struct {
	ID     string
	Name   string // for a ToolUse
	Step   string // for a ToolUse: the call in one line, a shell command unchanged
	Failed bool   // for a ToolResult
	Denied bool   // for a ToolResult: the tool did not run
	// Background reports that a ToolResult only started a subagent; TaskEnded reports its end.
	Background bool
}

// Rest is a text that is too long for an item and stays in the transcript.
type Rest struct {
	Offset int64 `json:"offset"`        // in bytes from the start of the item's line
	Length int64 `json:"length"`        // in bytes, as written there
	Raw    bool  `json:"raw,omitempty"` // it is the line itself
	Most   int64 `json:"most"`          // the number of bytes sent without a request
}

// Image is an image whose data stays in the transcript.
type Image struct {
	MediaType string // "image/png"
	Offset    int64  // of its base64 data, in bytes from the start of the item's line
	Length    int64  // of its base64 data; zero: not readable
}

// Kind is the kind of an item.
type Kind string

// The kinds of items that the chat uses. It ignores others.
const (
	Text               Kind = "text"     // of the agent
	Thinking           Kind = "thinking" // of the agent
	ToolUse            Kind = "tool_use"
	ToolResult         Kind = "tool_result"
	TaskEnded          Kind = "task_over"     // a background task of a tool has ended
	UserPrompt         Kind = "user_prompt"   // a person's message
	LocalCommand       Kind = "local_command" // of the terminal
	Interrupt          Kind = "interrupt"     // a person stopped the turn
	APIError           Kind = "api_error"     // the error as Claude Code shows it
	TurnEnd            Kind = "turn_end"
	LocalOutput        Kind = "local_output"        // the output of a command
	PlanBegun          Kind = "plan_begun"          // a conversation begins with a plan that an earlier one has made
	GoalPaused         Kind = "goal_paused"         // the agent no longer begins turns by itself until a goal is reached
	ScheduleFired      Kind = "schedule_fired"      // a schedule of the agent's own begins a turn with Text
	PermissionDecision Kind = "permission_decision" // a hook's answer was applied
	TooLong            Kind = "too_long"            // a line too long to read
)
