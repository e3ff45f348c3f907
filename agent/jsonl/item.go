package jsonl

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ccbot/internal/clip"
	"ccbot/port/talk"
)

// The kinds of items. Other is text that comes neither from the person nor from the agent (injected
// reminders, compact summaries, notices).
const (
	Other      talk.Kind = "other"
	Text       talk.Kind = "text"        // assistant text
	Thinking   talk.Kind = "thinking"    // assistant thinking
	ToolUse    talk.Kind = "tool_use"    // Tool.Name, Tool.ID, Tool.Input
	ToolResult talk.Kind = "tool_result" // Tool.ID, Tool.IsError, Text, Images
	// The words of a person, without what Claude Code adds to them.
	UserPrompt      talk.Kind = "user_prompt"
	Interrupt       talk.Kind = "interrupt" // "[Request interrupted by user…]"; no turn end follows it
	APIError        talk.Kind = "api_error" // the error text as Claude Code shows it
	TurnEnd         talk.Kind = "turn_end"
	CompactBoundary talk.Kind = "compact_boundary" // the conversation was compacted here
	QueueOperation  talk.Kind = "queue_operation"  // Operation "enqueue" (Text is the prompt), "dequeue", …
	LocalCommand    talk.Kind = "local_command"    // "/name args" or "!command", as typed
	LocalOutput     talk.Kind = "local_output"     // the output of a local command; Text may be blank
	PlanBegun       talk.Kind = "plan_begun"       // the conversation begins with a plan that an earlier one has made
	GoalPaused      talk.Kind = "goal_paused"      // the agent no longer begins turns by itself until a goal is reached
	ScheduleFired   talk.Kind = "schedule_fired"   // a schedule of the agent's own begins a turn; Text is its prompt
	// TooLong stands for a line that does not fit in memory even without its long strings: Size.
	// Nothing else is known of it.
	TooLong talk.Kind = "too_long"
	// PermissionDecision: Claude Code took a hook's answer to a permission; Tool.ID, Text "allow"
	// or "deny".
	PermissionDecision talk.Kind = "permission_decision"
)

// Item is one content block of a transcript line.
type Item struct {
	// The item's place; Part, Form and Joined are set only when the reader was opened there.
	At   talk.Cursor
	Next talk.Cursor // the place to continue after it

	Kind      talk.Kind
	UUID      string    // of the line
	MessageID string    // of the assistant message; its blocks are on several lines
	Time      time.Time // zero when the line has none
	Sidechain bool      // of a subagent
	Meta      bool      // injected, not typed by a person
	// Of a Text that ends the agent's turn, or may: no call of a tool comes after it, as far as its
	// line says.
	Last bool

	Text string
	// Text is only the beginning of this string; nil: it is whole. Of TooLong: the line.
	Rest      *talk.Rest
	Tool      *Tool
	Images    []talk.Image
	Command   string       // LocalCommand and LocalOutput: the command's name with its sign, "/compact"
	Operation string       // QueueOperation
	Off       bool         // LocalOutput: ccbot has switched the command off
	Refused   string       // LocalOutput: the prompt that a hook did not let through
	Size      int64        // TooLong, in bytes
	Failure   talk.Failure // APIError, and LocalOutput that says that a hook has blocked a prompt
	Status    int          // APIError: of HTTP; 0: none is known
	// ToolResult: the call has only started a task in the background.
	Background bool
	TaskEnded  *talk.Tool // Other: the call whose task in the background has ended with the item
}

// Spoken reports whether the item is addressed to the person; all other items show how the answer
// came about.
func (i Item) Spoken() bool {
	spoken := i.Kind == APIError || i.Kind == Interrupt || i.hasText() && strings.TrimSpace(i.Text) != ""
	return spoken && !i.Sidechain && !i.Meta
}

// Runs is the Ending of a turn that has not ended.
const Runs talk.Ending = ""

// Ends returns the way in which the agent's turn ends with the item. After an interrupt or an error
// of the API, no TurnEnd follows.
func (i Item) Ends() talk.Ending {
	switch {
	case i.Sidechain || i.Meta:
	case i.Kind == TurnEnd:
		return talk.EndedTurn
	case i.Kind == Interrupt:
		return talk.StoppedTurn
	case i.Kind == APIError:
		return talk.FailedTurn
	}
	return Runs
}

// Begins reports whether the item begins a turn if none runs.
func (i Item) Begins() bool {
	return slices.Contains([]talk.Kind{UserPrompt, Text, Thinking, ToolUse}, i.Kind) && !i.Sidechain && !i.Meta
}

// IsFromPerson reports whether the item is a person's prompt or command.
func (i Item) IsFromPerson() bool {
	return (i.Kind == UserPrompt || i.Kind == LocalCommand) && !i.Sidechain && !i.Meta
}

// Tool is one call of a tool or the answer to one.
type Tool struct {
	Name    string // of a ToolUse; the others only have the ID
	ID      string
	Input   json.RawMessage
	IsError bool
	Denial  string // "user-rejected" and the like when a ToolResult says that the tool did not run
}

// Step describes a call in one line: a shell command as it is, any other call as the tool's name
// and its subject.
func (t Tool) Step() string {
	for _, key := range subjects {
		subject := strings.Join(strings.Fields(gjson.GetBytes(t.Input, key).Str), " ")
		if subject == "" { // without any the name has to do
			continue
		}
		if key == "command" {
			return clip.Runes(subject, MaxText)
		}
		return clip.Runes(t.Name+" "+subject, MaxText)
	}
	return clip.Runes(t.Name, MaxText)
}

// subjects are the inputs that best describe a call, even without the tool's name.
var subjects = []string{"command", "file_path", "notebook_path", "url", "pattern", "query", "description"}

// MaxText is the longest text that is kept of a step, a failure or a task, in characters.
const MaxText = 200
