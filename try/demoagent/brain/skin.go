package brain

import (
	"time"

	"github.com/google/uuid"

	"ccbot/try/demoagent/script"
	"ccbot/try/demoagent/terminal"
)

// Skin has the files, screens, keys and hooks of one coding agent. Its methods run in
// the session's goroutine and do not wait; [Brain.Async] and [Brain.After] do.
type Skin interface {
	// Open begins the session.
	Open()
	// Press handles one input.
	Press(in terminal.Input)
	// Draw updates the files that show the state of the session and returns the lines of the
	// screen. It is called after every change.
	Draw(width, height int) []string
	// Note writes down an event and runs its hooks. It calls then when the turn may continue.
	Note(e Event, then func())
	// Ask gets permission for a call and calls done with the call as it was permitted. An empty
	// result makes the brain pretend to run the call; another one is the call's result. A refusal
	// that ends the turn is a [Brain.Interrupt] instead.
	Ask(t *Turn, c script.Call, done func(script.Call, script.Result))
	// Do performs a prompt of the kinds [Slash] and [Notice].
	Do(p Prompt)
	// Close ends the session and returns what is printed below the last screen. A crash ends the
	// session without it.
	Close(reason string) string
}

// EventKind is the kind of an [Event].
type EventKind int

// The kinds of events, with their fields. All but Taken and Trouble also have Turn.
const (
	Queued      EventKind = iota // Prompts: a prompt that waits for the end of the turn
	Taken                        // Prompts: they were queued, and their turn begins
	Prompted                     // Prompts, Waited; then begins the answer
	Said                         // Text, Call, Unasked: a part of the answer, with its call
	Ran                          // Call, Result
	Finished                     // then ends the turn
	Failed                       // Text: the error of the API; then ends the turn
	Interrupted                  // the turn ends after the event
	ShellBegan                   // Shell
	ShellEnded                   // Shell, Result with its output
	Trouble                      // Text: a file could not be written
)

// Event is something that happened in the session.
type Event struct {
	Kind    EventKind
	Turn    *Turn
	Prompts []Prompt
	Waited  bool // the prompts were queued before
	Text    string
	Call    *script.Call // nil for none
	Unasked bool         // the call runs without permission
	Result  script.Result
	Shell   *Shell
}

// The kinds of prompts.
const (
	Words  = "prompt"
	Bash   = "bash"
	Slash  = "slash"
	Notice = "notice" // not a person's

	// Dropped is only in the log: what came from the keyboard of a suspended session.
	Dropped = "dropped"
)

// Prompt is something that was submitted.
type Prompt struct {
	Kind    string
	Text    string // as the agent hands it on
	Plain   string // as it was typed
	Pasted  time.Time
	Session uuid.UUID
}
