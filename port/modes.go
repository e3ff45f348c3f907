// Package modes is how the chat reads and switches what a session's agent runs with: its permission
// mode and its model.
package port

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Mode is a permission mode, in Claude Code's own words.
type Mode string

// The permission modes. Only the first three are switched to; the others are only read.
const (
	ModeManual      Mode = "default"
	ModeAcceptEdits Mode = "acceptEdits"
	ModePlan        Mode = "plan"
	ModeAuto        Mode = "auto"
	ModeBypass      Mode = "bypassPermissions"
)

// The modes and models that people may choose, each in the order of their buttons. Auto and bypass ask nobody: they
// are never chosen from the chat.
var (
	Modes  = []Mode{ModeManual, ModeAcceptEdits, ModePlan}
	Models = []string{"Opus", "Sonnet", "Haiku", "Fable"} // as Claude Code's list names them
)

// Offered reports whether a person may have the mode switched to.
func (m Mode) Offered() bool { return slices.Contains(Modes, m) }

// ModelFlag is a model of Models as Claude Code's command line takes it.
func ModelFlag(model string) string { return strings.ToLower(model) }

// ModeChange is what a person wants the agent to run with. An empty field wants nothing.
type ModeChange struct {
	Mode  Mode
	Model string // as Claude Code's list of models names it: "Opus", "Sonnet"
}

// ModeState is what an agent runs with.
type ModeState struct {
	Mode  Mode       // as its screen shows it; empty: the screen does not show it
	Model string     // as last reported, "Opus 5.5"; empty: not known
	Want  ModeChange // what is not switched yet
	Waits bool       // what is wanted is done when the prompt box is free: a turn runs, or something else is in the way
}

// ModeSwitcher reads and switches.
type ModeSwitcher interface {
	// Switch gives what the session's present agent runs with, and wants something else of it; an empty
	// wish only reads. A wish is on disk when Switch returns, and is carried out before the next prompt
	// is typed; news.Switched says what came of it. A later wish takes the place of an earlier one.
	Switch(ctx context.Context, id uuid.UUID, want ModeChange) (ModeState, error)
}

// SwitchOutcome is what came of a change.
type SwitchOutcome string

// The outcomes.
const (
	SwitchDone     SwitchOutcome = ""         // it was read back
	SwitchNoSuch   SwitchOutcome = "no_such"  // the agent offers no such mode or model
	SwitchUnread   SwitchOutcome = "unread"   // the terminal does not show the mode, or the list of models
	SwitchNotTaken SwitchOutcome = "no_key"   // the agent did not take a key, and no other was pressed
	SwitchNewAgent SwitchOutcome = "no_agent" // another agent runs by now: the wish was for the one before
)
