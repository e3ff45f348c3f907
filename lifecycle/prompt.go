package lifecycle

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/bot/port/prompts"
	"ccbot/internal/claudeui"
)

// PromptState is where a prompt is between the chat and the agent.
type PromptState string

const (
	Held     PromptState = "held"     // on disk, not typed
	Typing   PromptState = "typing"   // the mark is on disk; it may be in the box or submitted
	Unproven PromptState = "unproven" // no proof was found; a person decides
)

// Class is how the agent takes a text, which decides what proves its receipt.
type Class = prompts.Class

const (
	ClassPrompt  = prompts.Plain   // UserPromptSubmit names it
	ClassCommand = prompts.Command // a slash command: the box is empty again or the transcript names it
	ClassBash    = prompts.Bash    // Claude's bash mode: its transcript line
)

// Mark is put on disk before the first key of a prompt is typed.
type Mark struct {
	At      time.Time     // proof must be later
	Path    string        // transcript, empty when there is none yet
	Offset  int64         // proof in the transcript must be at or after it
	Enters  int           // how often Enter was sent
	Retreat bool          // pasted, but a dialog came before Enter: the box is to be cleared
	Esc     bool          // ccbot pressed Esc since, or was about to
	Agent   string        // the process it was typed to, as process.Identity.Text writes it
	Age     time.Duration // of that process then, by the kernel's clock
	Claude  uuid.UUID     // the conversation of the process
}

// Prompt is one text on its way to an agent.
type Prompt struct {
	Key     string    // inbox key
	Session uuid.UUID // whose queue it is in
	Text    string    // normalised
	Class   Class
	State   PromptState
	Mark    *Mark
	Since   time.Time   // when its turn came
	Told    []news.Wait // the reasons for waiting that the person was told

	Repeated bool // it was pasted a second time, because the box was empty and Enter was never pressed
}

// shown is the prompt as news tell of it.
func (p *Prompt) shown() prompts.Prompt {
	shown := prompts.Prompt{Key: p.Key, Text: p.Text, Class: p.Class}
	if p.Mark != nil {
		shown.Mark = &prompts.Mark{At: p.Mark.At, Path: p.Mark.Path, Offset: p.Mark.Offset}
	}
	return shown
}

// submitted says whether the prompt is a slash command whose Enter was pressed,
// so that what comes next is its doing.
func (p *Prompt) submitted() bool {
	return p.State == Typing && p.Class == ClassCommand && p.Mark != nil && p.Mark.Enters > 0
}

// ends says whether the text is one that ends Claude Code as it is submitted.
func (p *Prompt) ends() bool {
	return slices.Contains([]string{"exit", "quit", ":q", ":q!", ":wq", ":wq!", "/exit", "/quit"}, strings.TrimSpace(p.Text))
}

// retreats says whether the prompt is to be taken out of the box before it is typed.
func (p *Prompt) retreats() bool { return p.State == Typing && p.Mark != nil && p.Mark.Retreat }

// waits says whether the prompt is to be typed when nothing is in the way.
func (p *Prompt) waits() bool { return p.State == Held || p.retreats() }

// entered says whether Enter was pressed after the text and no proof was seen yet.
func (p *Prompt) entered() bool {
	return p != nil && p.State == Typing && p.Mark != nil && p.Mark.Enters > 0
}

// shows says whether the text stands in the box. In bash mode the box shows its
// "!" as the sign.
func (p Prompt) shows(b claudeui.Box) bool {
	text := p.Text
	if b.Bash && p.Class != ClassBash {
		return false // Enter would run it
	}
	if b.Bash {
		text = strings.TrimPrefix(text, "!")
	}
	return b.Holds(text)
}

// literally says whether the box has the text letter by letter, but for white space: rows wrap anywhere.
func (p Prompt) literally(b claudeui.Box) bool {
	letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return !b.Empty && !b.Bash && b.Whole() && letters(b.Text) == letters(p.Text)
}
