package news

import (
	"time"

	"ccbot/bot/port/control"
	"ccbot/bot/port/decisions"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/phase"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/views"

	"github.com/google/uuid"
)

// Note is one piece of news about a session.
type Note struct {
	Kind      Kind
	Session   views.Session
	From      views.Session        // of Transferred: whose conversation the session goes on with; without an ID: nobody's
	Asked     bool                 // of Transferred and Ended: a person has decided it
	Prompt    prompts.Prompt       // of Queued, Held…, Typed, Delivered, TakenBack and Unproven
	InBox     bool                 // of Unproven: the text is seen in the prompt box, not submitted
	Screen    string               // what the terminal shows, plain text; of Dialog only the dialog itself
	Waited    time.Duration        // of NotReporting: since the start
	Attach    string               // command that shows the window at the desk
	Receipt   *Receipt             // of Stopped
	Writers   []desk.Writer        // of SecondWriter and Ghost; none: it is not known who writes
	Draft     string               // of DraftCleared: what a person had typed
	Answerers []decisions.Answerer // of Ready: what in the project may answer requests before a person
	Now       phase.Now            // of HeldDialog and Retrying: what the agent does
	Dialog    *desk.Dialog         // of Dialog, and of NotReporting where the screen takes keys; buttons are drawn for it
}

// Kind says what a note tells.
type Kind string

// The kinds of news.
const (
	Ready        Kind = "ready"         // the agent waits for the first prompt
	NotReporting Kind = "not_reporting" // not ready after a while
	Dialog       Kind = "dialog"        // the terminal asks something
	DialogGone   Kind = "dialog_gone"   // what it asked, here or through a request, is not open any more
	Ended        Kind = "ended"         // the agent ended by itself; Session.Exit says how
	Failed       Kind = "failed"        // it ended before it was ever ready
	Lost         Kind = "lost"          // the pane is proven gone
	Stopped      Kind = "stopped"       // an archive is over; Receipt says what it did
	Queued       Kind = "queued"        // the prompt waits for the agent to be idle
	HeldDraft    Kind = "held_draft"    // the prompt waits behind a person's draft
	HeldBash     Kind = "held_bash"     // the prompt waits, because the box is in bash mode
	HeldUnknown  Kind = "held_unknown"  // the prompt waits, because it is not known what the agent shows
	HeldDialog   Kind = "held_dialog"   // the prompt waits behind a dialog, or a subagent's request
	Typed        Kind = "typed"         // Enter was pressed after the prompt; each time, if one is lost
	Delivered    Kind = "delivered"     // proof that the agent has the prompt
	TakenBack    Kind = "taken_back"    // an interrupt: the prompt is about to be taken out of the box, or of the queue
	Unproven     Kind = "unproven"      // typed perhaps, no proof: the person decides
	SecondWriter Kind = "second_writer" // another process writes the running session's conversation
	Ghost        Kind = "ghost"         // somebody writes the conversation of a session that is over
	DraftCleared Kind = "draft_cleared" // a person's draft is about to be taken out of the box
	Retrying     Kind = "retrying"      // requests of the agent fail and are made again, which takes a while
	Transcript   Kind = "transcript"    // there is a transcript to follow
	Transferred  Kind = "transferred"   // the session goes on with another one's conversation, in a window that a person opened
)

// Start is what a start of the program found and did.
type Start struct {
	Repaired   []Repair
	Unclear    []uuid.UUID // sessions that were left alone, because the evidence contradicts itself
	Newer      int         // records of a newer program, which stay as they are
	Unreadable int         // records that were set aside
	Booted     time.Time   // when the machine was started; zero: not known
}

// Repair is what was done about one session.
type Repair struct {
	Session uuid.UUID
	Failed  bool
}

// Receipt says what an archive did. What could not be proven stands in the session.
type Receipt struct {
	Endings []control.Ending // the agent first; what ended, and what was spared
	Stays   bool             // what is not ccbot's in its window stays open
	Quiet   time.Duration    // it was archived because nothing happened for this long; 0: a person asked
}
