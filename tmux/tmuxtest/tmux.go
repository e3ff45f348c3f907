package tmuxtest

import (
	"context"

	"ccbot/tmux"
)

// Tmux has all methods of *tmux.Client; Fake has the same ones. Packages that use tmux declare
// interfaces with the few methods that they need.
type Tmux interface {
	Run(ctx context.Context) error
	Ensure(ctx context.Context) error
	Server(ctx context.Context) (tmux.ServerID, error)
	Answers(ctx context.Context) error
	Environment(ctx context.Context, names []string) (map[string]string, error)
	Panes(ctx context.Context) ([]tmux.Pane, error)
	Pane(ctx context.Context, id tmux.PaneID) (tmux.Pane, error)
	PaneAndScreen(ctx context.Context, id tmux.PaneID) (p tmux.Pane, screen string, shown bool, err error)
	Viewers(ctx context.Context) ([]tmux.Viewer, error)
	NewWindow(ctx context.Context, s tmux.Spec) (tmux.Pane, error)
	Paste(ctx context.Context, g tmux.Guard, text string) error
	Enter(ctx context.Context, g tmux.Guard) error
	Press(ctx context.Context, g tmux.Guard, k tmux.Key) error
	LeaveView(ctx context.Context, g tmux.Guard) error
	ClosePane(ctx context.Context, g tmux.Guard) error
	Capture(ctx context.Context, p tmux.PaneID, lines int) (string, error)
	Rename(ctx context.Context, g tmux.Guard, tag, name string) error
	AttachCommand(w tmux.WindowID, windowName string) string
	OnChange(f func())
}

var (
	_ Tmux = (*tmux.Client)(nil)
	_ Tmux = (*Fake)(nil)
)
