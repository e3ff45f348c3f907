package lifecycle

import (
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"ccbot/internal/claudeui"
	"ccbot/internal/glyph"
)

// PromptState is where a prompt is between the chat and the agent.
type PromptState string

const (
	Held     PromptState = "held"     // on disk, not typed
	Typing   PromptState = "typing"   // the mark is on disk; it may be in the box or submitted
	Unproven PromptState = "unproven" // no proof was found; a person decides
)

// Class is how the agent takes a text, which decides what proves its receipt.
type Class string

const (
	ClassPrompt  Class = "prompt"  // UserPromptSubmit names it
	ClassCommand Class = "command" // a slash command: the box is empty again or the transcript names it
	ClassBash    Class = "bash"    // Claude's bash mode: its transcript line
)

// Mark is put on disk before the first key of a prompt is typed.
type Mark struct {
	At      time.Time // proof must be later
	Path    string    // transcript, empty when there is none yet
	Offset  int64     // proof in the transcript must be at or after it
	Enters  int       // how often Enter was sent
	Retreat bool      // pasted, but a dialog came before Enter: the box is to be cleared
}

// Prompt is one text on its way to an agent.
type Prompt struct {
	Key     string    // inbox key
	Session uuid.UUID // whose queue it is in
	Text    string    // normalised
	Class   Class
	State   PromptState
	Mark    *Mark
	Since   time.Time  // when its turn came
	Told    []NoteKind // the reasons for waiting that the person was told
}

// submitted says whether the prompt is a slash command whose Enter was pressed,
// so that what comes next is its doing.
func (p *Prompt) submitted() bool {
	return p.State == Typing && p.Class == ClassCommand && p.Mark != nil && p.Mark.Enters > 0
}

// entered says whether Enter was pressed after the text and no proof was seen yet.
func (p *Prompt) entered() bool {
	return p != nil && p.State == Typing && p.Mark != nil && p.Mark.Enters > 0
}

// shows says whether the text stands in the box. In bash mode the box shows its
// "!" as the sign.
func (p Prompt) shows(b claudeui.Box) bool {
	text := p.Text
	if b.Bash {
		text = strings.TrimPrefix(text, "!")
	}
	return b.Holds(text)
}

// Normalise makes text safe to type and changes nothing else: CRLF and CR
// become LF; C0, C1 and ESC go, except LF and TAB; a trailing backslash gets a
// space (backslash and Enter is a new line to Claude Code, not a submit); `//x`
// is the agent's own `/x`; a leading `!` gets a space, unless the text is a
// single line `!cmd`, Claude's bash mode. ok is false for a blank text, which is
// not typed.
func Normalise(text string) (typed string, class Class, ok bool) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(dropControl, text)
	if strings.TrimSpace(text) == "" {
		return "", "", false
	}
	class = ClassPrompt
	switch {
	case strings.HasPrefix(text, "//"):
		text, class = text[1:], ClassCommand
	case strings.HasPrefix(strings.TrimLeftFunc(text, unnoticed), "/"), leaves[strings.TrimFunc(text, unnoticed)]:
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

// unnoticed says that Claude Code does not look at a character at the start of a text when it looks for a command.
func unnoticed(r rune) bool { return unicode.IsSpace(r) || glyph.Unseen(r) }

// leaves are words that end Claude Code where nothing else stands in the text.
var leaves = map[string]bool{"exit": true, "quit": true, ":q": true, ":q!": true, ":wq": true, ":wq!": true}

func dropControl(r rune) rune {
	if r != '\n' && r != '\t' && unicode.IsControl(r) {
		return -1
	}
	return r
}

// isBash says whether text is one line of Claude's bash mode. `!` alone is not:
// it would leave the box in that mode.
func isBash(text string) bool {
	line, rest, _ := strings.Cut(text, "\n")
	cmd, ok := strings.CutPrefix(line, "!")
	return ok && strings.TrimSpace(rest) == "" && strings.TrimSpace(cmd) != ""
}
