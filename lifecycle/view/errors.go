package view

import (
	"ccbot/port/refusal"
	"ccbot/tmux"
)

// The errors of reading a terminal.
var (
	// ErrNoAgent means that the session has no living agent to speak to.
	ErrNoAgent = refusal.New(refusal.NoAgent, "the session has no living agent")
	// ErrUnseen means that the terminal cannot be seen now, so that it is unknown where a key would
	// go.
	ErrUnseen = refusal.New(refusal.Unseen, "the terminal cannot be seen now")
	// ErrSilent means that tmux does not answer: nothing is known of any terminal, and nothing was
	// done.
	ErrSilent = tmux.ErrSilent
)
