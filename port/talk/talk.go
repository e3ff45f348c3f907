package talk

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"
)

// Transcripts are what agents and people have said. A transcript that does not exist yet is empty.
type Transcripts interface {
	// Next gives what stands from a cursor on in a transcript of a session, oldest first, and at most
	// so many items. Where there is nothing it waits until something is written, or ctx ends. It does
	// not wait for an earlier transcript, nor for a session that is over: there no items are the end,
	// and what was written after the session's own end is left out. Who goes on behind the last item
	// is not told of any item twice. Errors: refusal.Replaced, refusal.FileIrregular, that of the context, or one
	// for the log.
	Next(ctx context.Context, session uuid.UUID, from Cursor, most int) ([]Item, error)
	// Said is what was said from a cursor on and before another one of the same transcript, and what
	// was asked between, oldest first. Without the first cursor it is the last answer before the second.
	Said(ctx context.Context, from *Cursor, before Cursor) ([]Item, error)
	// End is the present end of a cursor's transcript.
	End(ctx context.Context, of Cursor) (Cursor, error)
}

// Pictures are the contents of images and of long texts in transcripts.
type Pictures interface {
	// Image opens an image of the item at a cursor. The caller closes the picture. The error is
	// fs.ErrNotExist or fs.ErrInvalid if the transcript does not have the image any more.
	Image(ctx context.Context, at Cursor, image Image) (Picture, error)
	// Words opens a part of a text that is too long for an item: its first Most bytes, or what comes after them. The caller
	// closes the part. Errors are those of Image.
	Words(ctx context.Context, at Cursor, rest Rest, beyond bool) (Picture, error)
}

// Shown keeps how far the chat has what was said.
type Shown interface {
	// Advance notes that the chat has a transcript up to a cursor. A cursor of a later transcript
	// says that the earlier ones are shown.
	Advance(ctx context.Context, id uuid.UUID, c Cursor) error
}

// Cursor is a place in a transcript. Only who has made one knows what it says; two cursors of one
// transcript are in the order of their offsets.
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

// Precedes reports whether c is before another place of its transcript. A cursor inside an item, after
// some of its parts, counts as a place before that item.
func (c Cursor) Precedes(other Cursor) bool {
	return c.Offset < other.Offset || c.Offset == other.Offset && c.Block < other.Block
}

// Item is one thing that an agent or a person has said or done.
type Item struct {
	At   Cursor // where the item stands
	Next Cursor // where to continue after it

	Kind      Kind
	Time      time.Time // zero: not known
	Sidechain bool      // of a subagent
	Meta      bool      // put there by a program, not typed by a person
	Asked     bool      // by a person: a prompt, or a command of the terminal
	Begins    bool      // it begins the agent's turn if none runs
	Ends      Ending    // it ends the agent's turn
	Last      bool      // of a Text that ends a turn, or may: earlier versions of Claude Code do not say
	Text      string
	Failed    Activity // of APIError, and of LocalOutput about a blocked prompt: what it leaves the agent in
	Bash      string   // of LocalOutput: the bash command that printed it, where that is known
	Images    []Image
	Rest      *Rest // Text is only the beginning; nil: it is whole
	Size      int64 // of TooLong, in bytes
	Tool      *Tool // of ToolUse, ToolResult and TaskOver
}

// Ending is the way in which a turn has ended; empty: it runs.
type Ending string

// The endings that a transcript shows.
const (
	EndedTurn   Ending = "done"
	StoppedTurn Ending = "stopped" // a person has interrupted it
	FailedTurn  Ending = "failed"  // the API has refused a request
)

// Tool is a call of a tool, or the end of one.
type Tool struct {
	ID     string
	Name   string // of a ToolUse
	Step   string // of a ToolUse: the call in one line, a shell command as it is
	Failed bool   // of a ToolResult
	Denied bool   // of a ToolResult: the tool did not run
	// Background says of a ToolResult that a subagent was only started; TaskOver tells of its end.
	Background bool
}

// Rest is a text in a transcript that is too long for an item, and stays there.
type Rest struct {
	Offset int64 `json:"offset"`        // in bytes from the start of the item's line
	Length int64 `json:"length"`        // in bytes, as it is written there
	Raw    bool  `json:"raw,omitempty"` // it is the line itself
	Most   int64 `json:"most"`          // so many bytes of it are sent unasked
}

// Image is an image in a transcript, whose data stays there.
type Image struct {
	MediaType string // "image/png"
	Offset    int64  // of its base64 data, in bytes from the start of the item's line
	Length    int64  // of its base64 data; zero: not readable
}

// Picture is the content of an image or of a text, of Size bytes.
type Picture struct {
	Body interface {
		io.ReaderAt
		io.Closer
	}
	Size int64
}

// Kind is what an item is.
type Kind string

// The kinds of items that the chat looks at. It passes any other.
const (
	Text               Kind = "text"     // of the agent
	Thinking           Kind = "thinking" // of the agent
	ToolUse            Kind = "tool_use"
	ToolResult         Kind = "tool_result"
	TaskOver           Kind = "task_over"     // what a tool had started in the background is over
	UserPrompt         Kind = "user_prompt"   // what a person has sent
	LocalCommand       Kind = "local_command" // of the terminal
	Interrupt          Kind = "interrupt"     // a person has stopped the turn
	APIError           Kind = "api_error"     // the error as Claude Code shows it
	TurnEnd            Kind = "turn_end"
	LocalOutput        Kind = "local_output"        // what a command has printed
	PermissionDecision Kind = "permission_decision" // a hook's answer was taken
	TooLong            Kind = "too_long"            // a line that is too long to be read
)
