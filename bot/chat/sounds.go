package chat

import (
	"github.com/google/uuid"

	"ccbot/bot/conversation"
	"ccbot/port"
)

// Occasion is the reason of a message. It decides whether the message makes a sound.
type Occasion string

// The occasions that may make a sound. A message without an occasion makes none.
const (
	AgentAsks       Occasion = "agent asks"       // a permission, a question, a plan, a dialog
	Reminder        Occasion = "reminder"         // an unanswered question comes again
	PromptUndecided Occasion = "prompt undecided" // a person must decide about a text
	SecondWriter    Occasion = "second writer"    // another process writes a conversation
	WorkInterrupted Occasion = "work interrupted" // a restart has cut work short
	AgentFailed     Occasion = "agent failed"     // a turn ended with an error
	Crashed         Occasion = "crashed"          // an agent ended, and should not have
	TmuxEnded       Occasion = "tmux ended"       // and with it the agents
	NotSwitched     Occasion = "not switched"     // a mode or a model stays as it was
	Fault           Occasion = "fault"            // a message has no effect, or ccbot cannot work
	LimitUrgent     Occasion = "limit urgent"
	LimitNear       Occasion = "limit near"
	TurnDone        Occasion = "turn done"  // an answer, or the end of a turn without one
	LoopWaits       Occasion = "loop waits" // a loop has ended, or a loop or a schedule needs a person
	OtherDone       Occasion = "other done" // the line that stands for the answer of a session that is not the current one
)

// sounding is the condition for the sound of an occasion.
type sounding int

const (
	always            sounding = iota + 1
	inFront                    // if people read the session in its conversation
	outsideQuietHours          // or in them, if a person has sent the session a prompt since they began
	byDay                      // never in quiet hours
	asChosen                   // outside quiet hours, if the chat wants a sound
)

var soundings = map[Occasion]sounding{
	AgentAsks:       always,
	Reminder:        byDay,
	PromptUndecided: always,
	SecondWriter:    always,
	WorkInterrupted: always,
	AgentFailed:     always,
	TmuxEnded:       always,
	NotSwitched:     always,
	Fault:           always,
	LimitUrgent:     always,
	Crashed:         inFront,
	LimitNear:       outsideQuietHours,
	TurnDone:        outsideQuietHours,
	LoopWaits:       byDay,
	OtherDone:       asChosen,
}

// Sounds reports whether a message makes a sound that comes to a session's conversation now.
func (c *Chat) Sounds(o Occasion, r port.Session) bool {
	if o == TurnDone || o == OtherDone {
		now, _ := c.Book.Records.Get(r.ID) // r may be older than the loop
		if now.Loop != nil && now.Loop.State.Moves() {
			return false // a loop reports its end
		}
	}
	quiet := func() bool { return c.Book.Quiet(r.Conversation, r.ID, c.Now()) }
	switch soundings[o] {
	case always:
		return true
	case inFront:
		return c.Book.IsInFront(r)
	case outsideQuietHours:
		return !quiet()
	case byDay:
		return !c.Book.Quiet(r.Conversation, uuid.Nil, c.Now())
	case asChosen:
		return c.Book.Settings(r.Conversation.ChatID).Reports(r.ID) == conversation.Sound && !quiet()
	}
	return false
}
