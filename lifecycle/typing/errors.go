package typing

import (
	"ccbot/internal/prompts"
	"ccbot/port/refusal"
)

var (
	// ErrNoPrompt means that a prompt is typed or finished, or that the session does not hold it.
	ErrNoPrompt = prompts.ErrNoPrompt
	// ErrBoxBusy means that the prompt box cannot be cleared now.
	ErrBoxBusy = refusal.New(refusal.BoxBusy, "the prompt box cannot be cleared now")
	// ErrDraftHidden means that the draft holds more than the screen shows, so that clearing it
	// would lose something.
	ErrDraftHidden = refusal.New(refusal.DraftHidden, "the draft holds more than the screen shows")
	// ErrIdle means that there is nothing to interrupt.
	ErrIdle = refusal.New(refusal.Idle, "the agent is idle and asks nothing")
	// ErrAsks means that a dialog is open, which the cancel key would answer.
	ErrAsks = refusal.New(refusal.Asks, "a dialog is open")
	// ErrStillWorks means that the agent still works although the cancel key was pressed.
	ErrStillWorks = refusal.New(refusal.StillWorks, "the agent still works after the cancel key")
	// ErrWorksOn means that the agent still works although the cancel key was pressed twice in
	// this turn.
	ErrWorksOn = refusal.New(refusal.WorksOn, "the agent still works after another cancel key")
)
