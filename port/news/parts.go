package news

import (
	"github.com/google/uuid"

	"ccbot/port"
)

// Terminal is a terminal that waits for a person.
type Terminal struct {
	Screen string       // plain text; for a dialog, only the dialog
	Attach string       // command that shows the window in a terminal
	Dialog *port.Dialog // buttons are made from it; nil: nothing takes keys
}

// Wait is the reason why a prompt waits. It is stored in the prompt's inbox entry.
type Wait string

// The reasons for waiting.
const (
	Queued      Wait = "queued"       // until the agent is idle
	HeldDraft   Wait = "held_draft"   // after a person's draft
	HeldBash    Wait = "held_bash"    // the box is in bash mode
	HeldUnknown Wait = "held_unknown" // the agent's screen is not recognised
	HeldScroll  Wait = "held_scroll"  // the window is scrolled back: keys would not reach the agent
	HeldSync    Wait = "held_sync"    // keys would also reach other panes of the window
	HeldSmall   Wait = "held_small"   // the window is too small to show the prompt box
	HeldDialog  Wait = "held_dialog"  // after a dialog, or a subagent's request
	HeldBudget  Wait = "held_budget"  // a cap of the session is reached
	HeldCosts   Wait = "held_costs"   // the session has a cap, and its cost is unknown
	HeldKeys    Wait = "held_keys"    // the person's key bindings have no key that submits a text
)

// Repair is a session that recovery changed.
type Repair struct {
	Session uuid.UUID
	Failed  bool
}
