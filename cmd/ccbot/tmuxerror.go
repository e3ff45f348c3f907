package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ccbot/cmd/ccbot/config"
	"ccbot/internal/logkey"
	"ccbot/tmux"
)

// tmuxPatience is how long a start waits for tmux before it logs that it waits: tmux answers within
// milliseconds, or hangs.
const tmuxPatience = 2 * time.Second

// ensureTmux makes sure that the server and the session exist, and says what to look at when tmux
// hangs.
func (s *system) ensureTmux(ctx context.Context) error {
	slow := time.AfterFunc(tmuxPatience, func() {
		s.log.Warn("tmux_does_not_answer", logkey.Server, s.TmuxCommand(), logkey.Look, s.TmuxCommand()+" ls")
	})
	defer slow.Stop()
	err := s.tmux.Ensure(ctx)
	if ctx.Err() != nil { // ccbot was stopped; tmux is not to blame
		return err
	}
	return machineError(s.Config, err)
}

// machineError says what a person can do about tmux.
func machineError(c config.Config, err error) error {
	silent := errors.Is(err, tmux.ErrNotSent) || errors.Is(err, tmux.ErrLost) || errors.Is(err, context.DeadlineExceeded)
	if !silent {
		return toInstall(err)
	}
	server := "the default server, CCBOT_TMUX_SOCKET is not set"
	if c.TmuxSocket != "" {
		server = "server -L " + c.TmuxSocket
	}
	return fmt.Errorf("tmux does not answer (%s). Look with `%s ls`; where that hangs too, a client or the server does: "+
		"`ps -ef | grep tmux` shows them. ccbot ends neither: end a client that hangs by hand, then start again; "+
		"ending the server ends its sessions: %w", server, c.TmuxCommand(), err)
}
