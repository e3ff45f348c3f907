package port

import (
	"context"
	"strings"

	"github.com/google/uuid"
)

// Mode is a permission mode, as its agent names it.
type Mode string

// The permission modes that have names in the chat.
const (
	ModeManual      Mode = "default"
	ModeAcceptEdits Mode = "acceptEdits"
	ModePlan        Mode = "plan"
	ModeAuto        Mode = "auto"
	ModeBypass      Mode = "bypassPermissions"
)

// ModeChange is a request for a mode or a model. An empty field changes nothing.
type ModeChange struct {
	Mode  Mode
	Model string // as in Abilities.Models
}

// ModeState is the mode and the model of an agent.
type ModeState struct {
	Mode  Mode       // as on its screen; empty: not shown
	Model string     // as last reported, "Opus 5.5"; empty: unknown
	Want  ModeChange // the requested change, not made yet
	Waits bool       // the change waits until the prompt box is free
}

// Runs reports whether the agent's model is a model of that name.
func (s ModeState) Runs(model string) bool {
	return s.Model == model || strings.HasPrefix(s.Model, model+" ")
}

// ModeSwitcher reads and switches the mode and the model.
type ModeSwitcher interface {
	// Switch returns the state of the session's agent and requests a change; an empty change only
	// reads. A request is on disk when Switch returns, and is carried out before the next prompt is
	// typed; news.Switched reports the outcome. A later request replaces an earlier one.
	Switch(ctx context.Context, id uuid.UUID, want ModeChange) (ModeState, error)
}

// SwitchOutcome is the outcome of a change.
type SwitchOutcome string

// The outcomes.
const (
	SwitchDone     SwitchOutcome = ""         // the change was read back
	SwitchNoSuch   SwitchOutcome = "no_such"  // the agent offers no such mode or model
	SwitchUnread   SwitchOutcome = "unread"   // the terminal shows no mode, or no list of models
	SwitchNotTaken SwitchOutcome = "no_key"   // the agent ignored a key, and no other was pressed
	SwitchNewAgent SwitchOutcome = "no_agent" // the request was for an earlier agent
)
