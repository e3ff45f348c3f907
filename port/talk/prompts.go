package talk

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"ccbot/internal/glyph"
)

// PromptQueue takes prompts for a session.
type PromptQueue interface {
	// Queue has a prompt typed when its turn comes.
	Queue(ctx context.Context, id uuid.UUID, key string) error
	// Keep is Queue for a session that may be over: the prompt waits until it comes back.
	Keep(ctx context.Context, id uuid.UUID, key string) error
	// Wake has the session looked at now.
	Wake(id uuid.UUID)
}

// PromptDecisions are what people decide about a prompt that waits for them.
type PromptDecisions interface {
	// SendAgain types an unproven prompt again.
	SendAgain(ctx context.Context, id uuid.UUID, key string) error
	// SendAnyway types a prompt although a person's draft is in the box.
	SendAnyway(ctx context.Context, id uuid.UUID, key string) error
	// Drop gives an unproven prompt up.
	Drop(ctx context.Context, id uuid.UUID, key string) error
}

// PromptViews are what a person sees of a window in a terminal.
type PromptViews interface {
	// LeaveView leaves the view that a person has scrolled back, for a prompt that waits for that.
	LeaveView(ctx context.Context, id uuid.UUID, key string) error
}

// PromptEdits change prompts that were not typed.
type PromptEdits interface {
	// Withdraw takes a prompt out of the queue.
	Withdraw(ctx context.Context, id uuid.UUID, key string) error
	Reword(ctx context.Context, id uuid.UUID, key, text string, class PromptClass) error
}

// PromptOrder is in which order the prompts of a queue are typed. A prompt that is being typed stays the first
// one; refusal.NotFound: the prompt itself is being typed, or waits no more.
type PromptOrder interface {
	// ToFront has a prompt typed before all others that wait.
	ToFront(ctx context.Context, id uuid.UUID, key string) error
	// SendNow is ToFront, and interrupts the turn that runs: one Esc, never with a dialog open
	// (refusal.Asks) or a draft in the box (refusal.BoxBusy). told: nothing was interrupted, or news or
	// the transcript say what was.
	SendNow(ctx context.Context, id uuid.UUID, key string) (told bool, err error)
	// Halt takes all prompts that wait out of the queue: news ask people about each. No key is pressed.
	Halt(ctx context.Context, id uuid.UUID) error
}

// Prompt is one text on its way, as news tell of it.
type Prompt struct {
	Key   string
	Text  string // as it is typed
	Class PromptClass
	Mark  *Mark
}

// Mark is where and when the typing of a prompt began. It is on disk before the first key is
// pressed.
type Mark struct {
	At      time.Time     `json:"at"`                // proof must be later
	Path    string        `json:"path,omitempty"`    // transcript, empty when there is none yet
	Offset  int64         `json:"offset,omitempty"`  // proof in the transcript must be at or after it
	Enters  int           `json:"enters,omitempty"`  // how often Enter was sent, or was about to be
	Retreat bool          `json:"retreat,omitempty"` // the text was pasted, but a dialog came before Enter: the box has to be cleared
	Esc     bool          `json:"esc,omitempty"`     // ccbot has pressed Esc since, or was about to press it
	Agent   string        `json:"agent,omitempty"`   // the process to which the prompt was typed, opaque
	Age     time.Duration `json:"age,omitempty"`     // the age of that process at that time, by the kernel's clock
	Claude  uuid.UUID     `json:"claude,omitzero"`   // the conversation of the process
}

// PromptClass is how the agent takes a text.
type PromptClass string

// The classes of texts.
const (
	ClassPlain   PromptClass = "prompt"
	ClassCommand PromptClass = "command" // a slash command
	ClassBash    PromptClass = "bash"    // a command of bash mode
)

// Normalise makes text safe to type and changes nothing else: CRLF and CR become LF; C0, C1 and ESC
// go, except LF and TAB; a trailing backslash gets a space (backslash and Enter is a new line to
// Claude Code, not a submit); `//x` is the agent's own `/x`; a leading `!` gets a space, unless the
// text is a single line `!cmd`, Claude's bash mode. ok is false for a blank text, which is not
// typed.
func Normalise(text string) (typed string, class PromptClass, ok bool) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(dropControl, text)
	if strings.TrimSpace(text) == "" {
		return "", "", false
	}
	class = ClassPlain
	switch {
	case strings.HasPrefix(text, "//"):
		text, class = text[1:], ClassCommand
	case strings.HasPrefix(strings.TrimLeftFunc(text, unnoticed), "/"),
		leaves[strings.TrimFunc(text, unnoticed)]:
		class = ClassCommand
	case isBash(text):
		class = ClassBash
	case strings.HasPrefix(text, "!"):
		text = " " + text
	}
	if strings.HasSuffix(text, `\`) {
		text += " "
	}
	return text, class, true
}

// unnoticed says that Claude Code does not look at a character at the start of a text when it looks
// for a command.
func unnoticed(r rune) bool { return unicode.IsSpace(r) || glyph.Unseen(r) }

// leaves are words that end Claude Code where nothing else stands in the text.
var leaves = map[string]bool{
	"exit": true, "quit": true, ":q": true, ":q!": true, ":wq": true, ":wq!": true}

func dropControl(r rune) rune {
	if r != '\n' && r != '\t' && unicode.IsControl(r) {
		return -1
	}
	return r
}

// isBash says whether text is one line of Claude's bash mode. `!` alone is not: it would leave the
// box in that mode.
func isBash(text string) bool {
	line, rest, _ := strings.Cut(text, "\n")
	cmd, ok := strings.CutPrefix(line, "!")
	return ok && strings.TrimSpace(rest) == "" && strings.TrimSpace(cmd) != ""
}
