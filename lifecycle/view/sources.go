package view

import (
	"context"

	"github.com/google/uuid"

	"ccbot/hooks"
	"ccbot/internal/process"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// PaneReader finds panes. Errors other than tmux.ErrNoPane and tmux.ErrNoServer mean that it is
// unknown whether a pane is there.
type PaneReader interface {
	Server(ctx context.Context) (tmux.ServerID, error)
	Pane(ctx context.Context, id tmux.PaneID) (tmux.Pane, error)
}

// Screens reads what panes show, and which terminals show them.
type Screens interface {
	// PaneAndScreen is Pane and Capture in one round trip; shown is false if only the screen is not
	// known.
	PaneAndScreen(ctx context.Context, id tmux.PaneID) (p tmux.Pane, screen string, shown bool, err error)
	Capture(ctx context.Context, id tmux.PaneID, lines int) (string, error)
	// Viewers lists the terminals that people have attached.
	Viewers(ctx context.Context) ([]tmux.Viewer, error)
}

// Processes reads the process table, and waits for the end of a process.
type Processes interface {
	evidence.Processes
	Wait(ctx context.Context, id process.Identity) error
}

// Relays knows the permission requests that the chat can answer.
type Relays interface {
	// Waiting lists the requests of a session whose hook still waits, oldest first.
	Waiting(ctx context.Context, session uuid.UUID) []hooks.Request
}
