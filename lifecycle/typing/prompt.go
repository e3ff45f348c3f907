package typing

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/address"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// PromptState is the progress of a prompt between the chat and the agent.
type PromptState string

const (
	Held     PromptState = "held"     // on disk, and not typed
	Typing   PromptState = "typing"   // the mark is on disk; the text may be in the box, or submitted
	Unproven PromptState = "unproven" // no proof of its arrival was found; a person decides
)

// Prompt is one text on its way to an agent.
type Prompt struct {
	Key     string               // inbox key
	Number  int64                // of the chat's last offer
	Session uuid.UUID            // the session that has it in its queue
	To      address.Conversation // the place of the turn that it begins; zero: where the session is shown then
	Asks    bool                 // see talk.Offer
	Text    string               // normalised
	// Class determines the proof of arrival: a UserPromptSubmit names a plain prompt; after a slash
	// command the box is empty again, or the transcript names it; a command of bash mode has its line
	// in the transcript.
	Class    talk.PromptClass
	State    PromptState
	Mark     *talk.Mark
	Since    time.Time   // when its turn came
	Reported []news.Wait // the reasons for waiting that were reported to the person

	Repeated bool // it was pasted a second time, because the box was empty and Enter was never pressed
}

// forNews returns the prompt in the form that news have.
func (p *Prompt) forNews() talk.Prompt {
	shown := talk.Prompt{Key: p.Key, Text: p.Text, Class: p.Class}
	if p.Mark != nil {
		mark := *p.Mark // typing continues and changes it
		shown.Mark = &mark
	}
	return shown
}

// submitted reports whether the prompt is a slash command whose Enter was pressed. If so, the next
// change of the screen is its effect.
func (p *Prompt) submitted() bool {
	return p.State == Typing && p.Class == talk.ClassCommand && p.Mark != nil && p.Mark.Enters > 0
}

// Ends reports whether the text ends the agent when it is submitted.
func (p *Prompt) Ends(by agent.Manners) bool {
	return slices.Contains(by.Ends, strings.TrimSpace(p.Text))
}

// isLineless reports whether the agent writes no line of an interrupt when the prompt is stopped.
func (p *Prompt) isLineless(by agent.Manners) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(p.Text), " ")
	if p.Class == talk.ClassBash {
		name = "!"
	}
	return p.Class != talk.ClassPlain && slices.Contains(by.Lineless, name)
}

// retreats reports whether the prompt's text has to be taken out of the box before it is typed
// again.
func (p *Prompt) retreats() bool { return p.State == Typing && p.Mark != nil && p.Mark.Retreat }

// IsWaiting reports whether the prompt has to be typed as soon as nothing is in the way.
func (p *Prompt) IsWaiting() bool { return p.State == Held || p.retreats() }

// IsEntered reports whether Enter was pressed after the text and no proof was seen yet.
func (p *Prompt) IsEntered() bool {
	return p != nil && p.State == Typing && p.Mark != nil && p.Mark.Enters > 0
}

// shows reports whether the text is in the box. In bash mode the box shows the "!" as its sign and
// not as text.
func (p Prompt) shows(v view.View) bool {
	text, b := p.Text, v.Screen.Box
	if b.Bash && p.Class != talk.ClassBash {
		return false // Enter would run it
	}
	if b.Bash {
		text = strings.TrimPrefix(text, "!")
	}
	return v.Holds(text)
}

// literally reports whether the box contains the text letter by letter. White space does not count,
// because rows wrap anywhere.
func (p Prompt) literally(b agent.Box) bool {
	return p.beginsWith(b) && len(letters(b.Text)) == len(letters(p.Text))
}

// beginsWith reports whether the box contains the text or its beginning, as literally does.
func (p Prompt) beginsWith(b agent.Box) bool {
	return !b.Empty && !b.Bash && b.Whole && strings.HasPrefix(letters(p.Text), letters(b.Text))
}

// letters returns a text without white space.
func letters(s string) string { return strings.Join(strings.Fields(s), "") }

// runs reports whether the screen shows that the agent runs this prompt, a bash mode command whose
// Enter was pressed while the agent was idle. Until the command has ended, nothing else shows that
// the prompt arrived.
func (p *Prompt) runs(v view.View) bool {
	if !p.IsEntered() || p.Class != talk.ClassBash {
		return false
	}
	sh, _ := v.Shell()
	return v.Runs(sh, p.Text)
}
