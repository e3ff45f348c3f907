package talk

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/internal/glyph"
)

// PromptQueue takes prompts for a session. Once it has one, the prompt is on its disk, and the chat
// no longer decides about it. A repeated offer changes nothing. refusal.NotFound means that the
// prompt was typed, or is finished, or that a later number is known.
type PromptQueue interface {
	// Queue types a prompt in its turn.
	Queue(ctx context.Context, id uuid.UUID, o Offer) error
	// Keep is like Queue, but also accepts an ended session: the prompt waits until it is restored.
	Keep(ctx context.Context, id uuid.UUID, o Offer) error
}

// Offer is a prompt that the chat hands over to the engine of a session. It is on the chat's disk,
// and is repeated until it was answered.
type Offer struct {
	Key    string
	Number int64  // the order of the chat's offers; none is used again
	Text   string // normalised
	Class  PromptClass
	Since  time.Time // when the chat received it
	// To is the place of the turn that the prompt begins; zero: where the session is shown then.
	To address.Conversation
	// Asks means that a person is asked before To becomes a group that may then read what was said in
	// another chat. A chat of an earlier version, which has no such question, and one person alone are
	// not asked.
	Asks bool
	// Settled is a number up to which the chat has the outcome of all offers and commands; 0: unknown.
	Settled int64
}

// PromptPrefix begins the key of a prompt that is not an update of Telegram.
const PromptPrefix = "p-"

// PromptKey returns the key of the prompt with an id, which is not an update of Telegram.
func PromptKey(id uuid.UUID) string { return PromptPrefix + id.String() }

// PromptDecisions applies people's decisions about a waiting prompt.
type PromptDecisions interface {
	// SendAgain types an unproven prompt again.
	SendAgain(ctx context.Context, id uuid.UUID, key string) error
	// SendAnyway types a prompt although a person's draft is in the box.
	SendAnyway(ctx context.Context, id uuid.UUID, key string) error
	// Drop discards an unproven prompt.
	Drop(ctx context.Context, id uuid.UUID, key string) error
}

// PromptViews changes a person's view of a window.
type PromptViews interface {
	// LeaveView ends the scrolled-back view that the prompt waits for.
	LeaveView(ctx context.Context, id uuid.UUID, key string) error
}

// PromptEdits changes prompts that were not typed yet.
type PromptEdits interface {
	// TakeBack takes a prompt back whose last offer has a number: the chat decides about it again, and
	// the offer is refused from then on, also if it comes only later. With held, a typed prompt is
	// left alone (refusal.NotFound). A prompt that is not there, or finished, is no error.
	TakeBack(ctx context.Context, id uuid.UUID, key string, number int64, held bool) error
	// Withdraw removes a prompt from the queue. number is later than all earlier ones of the prompt;
	// refusal.NotFound means that the prompt was typed before, or is finished.
	Withdraw(ctx context.Context, id uuid.UUID, key string, number int64) error
	// Reword changes the text of a prompt; number and errors are as for Withdraw.
	Reword(ctx context.Context, id uuid.UUID, key string, number int64, text string, class PromptClass) error
}

// PromptOrder changes the order of a queue. A prompt being typed stays first; refusal.NotFound
// means that the prompt itself is being typed, or no longer waits.
type PromptOrder interface {
	// ToFront moves a prompt before all other waiting prompts.
	ToFront(ctx context.Context, id uuid.UUID, key string) error
	// SendNow is like ToFront, and interrupts the running turn with one Esc, never if a dialog is
	// open (refusal.Asks) or a draft is in the box (refusal.BoxBusy). reported is whether
	// nothing was interrupted, or news or the transcript describe it.
	SendNow(ctx context.Context, id uuid.UUID, key string) (reported bool, err error)
	// Halt removes all waiting prompts from the queue: news ask people about each. It presses no
	// key.
	Halt(ctx context.Context, id uuid.UUID) error
}

// TurnEnder ends turns without a person's decision.
type TurnEnder interface {
	// EndTurn presses Esc once, and waits until the turn has ended. The queue stays as it is.
	// refusal.Idle means that no turn runs, refusal.Asks that Esc would answer an open dialog.
	EndTurn(ctx context.Context, id uuid.UUID) error
}

// PromptState is the progress of a prompt that an engine has, or had.
type PromptState string

// The states. After the last four the engine does not have it.
const (
	PromptHeld      PromptState = "held"      // not typed
	PromptTyping    PromptState = "typing"    // being typed, see Mark
	PromptUnproven  PromptState = "unproven"  // typed without proof of receipt: a person decides
	PromptDelivered PromptState = "delivered" // the agent has it, or a command has ended it
	PromptReturned  PromptState = "returned"  // taken back: the chat decides about it
	PromptForgotten PromptState = "forgotten" // it was offered, and its outcome is no longer known
)

// Prompt is one text for an agent, as in news.
type Prompt struct {
	Key   string
	Text  string // as typed
	Class PromptClass
	Mark  *Mark
}

// Mark is the transcript position and the time at which the typing of a prompt began. It is on disk
// before the first key is pressed.
type Mark struct {
	At             time.Time     `json:"at"`                // proof must be later
	Path           string        `json:"path,omitempty"`    // transcript, empty if there is none yet
	Offset         int64         `json:"offset,omitempty"`  // proof in the transcript must be at or after it
	Enters         int           `json:"enters,omitempty"`  // how often Enter was sent, or was about to be
	Retreat        bool          `json:"retreat,omitempty"` // pasted, but a dialog opened: the box must be cleared
	Esc            bool          `json:"esc,omitempty"`     // ccbot has pressed Esc since, or was about to
	Agent          string        `json:"agent,omitempty"`   // the process that it was typed to, opaque
	Age            time.Duration `json:"age,omitempty"`     // the process's age then, by the kernel's clock
	AgentSessionID uuid.UUID     `json:"claude,omitzero"`   // the process's conversation
}

// Cursor is the position of the transcript at which the typing began.
func (m Mark) Cursor() Cursor { return Cursor{Path: m.Path, Offset: m.Offset} }

// PromptClass is the way an agent takes a text.
type PromptClass string

// The classes.
const (
	ClassPlain   PromptClass = "prompt"
	ClassCommand PromptClass = "command" // a slash command
	ClassBash    PromptClass = "bash"    // a command of bash mode
)

// Normalise makes text safe to type and changes nothing else:
//
//   - CRLF and CR become LF; other control characters except TAB are removed.
//   - A trailing backslash gets a space, because backslash and Enter is a new line to Claude
//     Code.
//   - `//x` is the agent's own `/x`.
//   - A leading `!` gets a space, unless the text is a single line `!cmd`, Claude's bash mode.
//
// ok is false for a blank text, which is not typed.
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
		slices.Contains(Leaves(), strings.TrimFunc(text, unnoticed)):
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

// unnoticed reports whether Claude Code ignores a character before a command.
func unnoticed(r rune) bool { return unicode.IsSpace(r) || glyph.Unseen(r) }

// Leaves returns the words that end Claude Code if they are the whole text.
func Leaves() []string { return []string{"exit", "quit", ":q", ":q!", ":wq", ":wq!"} }

func dropControl(r rune) rune {
	if r != '\n' && r != '\t' && unicode.IsControl(r) {
		return -1
	}
	return r
}

// isBash reports whether text is one line of bash mode. A lone `!` is not: it would leave the box
// in that mode.
func isBash(text string) bool {
	line, rest, _ := strings.Cut(text, "\n")
	cmd, ok := strings.CutPrefix(line, "!")
	return ok && strings.TrimSpace(rest) == "" && strings.TrimSpace(cmd) != ""
}
