package news

import (
	"time"

	"github.com/google/uuid"

	"ccbot/port"
)

// Terminal is a terminal that waits for a person.
type Terminal struct {
	Screen string       // plain text; of a dialog only the dialog itself
	Attach string       // command that shows the window at the desk
	Dialog *port.Dialog // buttons are drawn for it; nil: nothing takes keys
}

// Wait is why a prompt waits. It stands in the prompt's entry of the inbox.
type Wait string

// The reasons for waiting.
const (
	Queued      Wait = "queued"       // for the agent to be idle
	HeldDraft   Wait = "held_draft"   // behind a person's draft
	HeldBash    Wait = "held_bash"    // the box is in bash mode
	HeldUnknown Wait = "held_unknown" // it is not known what the agent shows
	HeldScroll  Wait = "held_scroll"  // somebody scrolls in the window: keys would not reach the agent
	HeldSync    Wait = "held_sync"    // keys would reach other panes of the window, too
	HeldSmall   Wait = "held_small"   // the window is too small to show the prompt box
	HeldDialog  Wait = "held_dialog"  // behind a dialog, or a subagent's request
	HeldKeys    Wait = "held_keys"    // the person's key bindings leave no key that submits a text
)

// Start is what a start of the program found and did.
type Start struct {
	Repaired   []Repair
	Unclear    []uuid.UUID // sessions that were left alone, because the evidence contradicts itself
	Newer      int         // records of a newer program, which stay as they are
	Unreadable int         // records that were set aside
	Messages   int         // messages that were set aside, from people and to them
	Booted     time.Time   // when the machine was started; zero: not known
}

// Repair is what was done about one session.
type Repair struct {
	Session uuid.UUID
	Failed  bool
}
