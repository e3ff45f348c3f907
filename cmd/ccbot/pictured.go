package main

import (
	"context"
	"errors"
	"fmt"

	"ccbot/internal/process"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// errOnlyLooks refuses what a verb that only looks must not do.
var errOnlyLooks = errors.New("this is a look, and changes nothing")

// pictured is tmux as one look has found it.
type pictured struct {
	server tmux.ServerID
	panes  []tmux.Pane
	err    error // of the look
}

var _ lifecycle.Tmux = pictured{}

// Server is the server that was looked at.
func (p pictured) Server(context.Context) (tmux.ServerID, error) { return p.server, p.err }

// Panes are all of its panes.
func (p pictured) Panes(context.Context) ([]tmux.Pane, error) { return p.panes, p.err }

// Pane is one of them.
func (p pictured) Pane(_ context.Context, id tmux.PaneID) (tmux.Pane, error) {
	for _, pane := range p.panes {
		if pane.ID == id {
			return pane, p.err
		}
	}
	if p.err != nil {
		return tmux.Pane{}, p.err
	}
	return tmux.Pane{}, fmt.Errorf("%w: %s", tmux.ErrNoPane, id)
}

// AttachCommand is empty: there is nothing to attach to in a picture.
func (pictured) AttachCommand(tmux.WindowID, string) string { return "" }

// Viewers were not looked at.
func (pictured) Viewers(context.Context) ([]tmux.Viewer, error) { return nil, errOnlyLooks }

// Capture reads a screen, which was not looked at.
func (pictured) Capture(context.Context, tmux.PaneID, int) (string, error) { return "", errOnlyLooks }

// Ensure starts nothing.
func (pictured) Ensure(context.Context) error { return errOnlyLooks }

// NewWindow makes none.
func (pictured) NewWindow(context.Context, tmux.Spec) (tmux.Pane, error) {
	return tmux.Pane{}, errOnlyLooks
}

// Paste types nothing.
func (pictured) Paste(context.Context, tmux.Guard, string) error { return errOnlyLooks }

// Enter types nothing.
func (pictured) Enter(context.Context, tmux.Guard) error { return errOnlyLooks }

// Press types nothing.
func (pictured) Press(context.Context, tmux.Guard, tmux.Key) error { return errOnlyLooks }

// ClosePane closes none.
func (pictured) ClosePane(context.Context, tmux.Guard) error { return errOnlyLooks }

// harmless is a process table that ends nothing.
type harmless struct{ *process.Table }

// End ends nothing.
func (harmless) End(context.Context, process.Identity, func(process.Process) error, func(context.Context) error,
	process.Grace) (process.Outcome, error) {
	return process.Outcome{}, errOnlyLooks
}
