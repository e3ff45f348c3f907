package dialog

import "ccbot/port/refusal"

var (
	// ErrChanged means that the dialog or the screen is not the one that the person saw.
	ErrChanged = refusal.New(refusal.Changed, "the terminal shows something else")
	// ErrNoDialog means that the terminal asks nothing.
	ErrNoDialog = refusal.New(refusal.NoDialog, "no dialog is open")
	// ErrRelayed means that the chat itself has the question of the dialog, so that no option is
	// chosen through the terminal.
	ErrRelayed = refusal.New(refusal.Relayed, "the dialog is answered in the chat")
)
