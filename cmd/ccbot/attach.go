package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"

	"ccbot/bot/port/views"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

func attachCommand(environ []string, stderr io.Writer) *cobra.Command {
	return &cobra.Command{Use: "attach NAME|ID", Args: oneSession("attach"), Short: "Show the window of a session in this terminal",
		Long: `Show the window of a session in this terminal. Inside the tmux server in which the session
runs it switches there; from anywhere else it attaches.`,
		Example: "  ccbot attach api",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDesk(environ, stderr)
			if err != nil {
				return err
			}
			r, err := d.find(args[0], func(r views.Session) bool { return r.Live })
			if err != nil {
				return err
			}
			argv, env, err := d.attaching(cmd.Context(), environ, r, stderr)
			if err != nil {
				return err
			}
			program, err := exec.LookPath(argv[0])
			if err != nil {
				return toInstall(fmt.Errorf("%w: %w", tmux.ErrNoTmux, err))
			}
			return fmt.Errorf("run %s: %w", program, syscall.Exec(program, argv, env))
		}}
}

// attaching is the tmux command that shows the window of a session, and the environment that it needs. The error says
// why there is no window.
func (d desk) attaching(ctx context.Context, environ []string, r views.Session, stderr io.Writer) (argv, environment []string, err error) {
	record, _ := d.store.Get(r.ID)
	window, err := d.windowOf(ctx, environ, record, stderr)
	if err != nil {
		return nil, nil, err
	}
	argv = []string{"tmux"}
	if d.TmuxSocket != "" {
		argv = append(argv, "-L", d.TmuxSocket)
	}
	vars := env.ToMap(environ)
	if isSocket(vars["TMUX"], d.socketPath(vars)) {
		return append(argv, "switch-client", "-t", window.String()), environ, nil
	}
	// tmux refuses to attach inside another server, unless it is not told of that one.
	outside := slices.DeleteFunc(slices.Clone(environ), func(one string) bool { return strings.HasPrefix(one, "TMUX=") })
	return append(argv, "attach-session", "-t", window.String()), outside, nil
}

// windowOf finds the window in which a session's agent runs.
func (d desk) windowOf(ctx context.Context, environ []string, r session.Record, stderr io.Writer) (tmux.WindowID, error) {
	name := terminal.Printable(r.Name)
	switch {
	case !r.State.Live():
		return tmux.WindowID{}, fmt.Errorf("%s has no window: it is %s; `ccbot resume %s` brings it back", name, r.State, terminal.ShellWord(r.Name))
	case r.Binding == nil:
		return tmux.WindowID{}, fmt.Errorf("%s has no window yet: it is %s", name, r.State)
	}
	table, err := process.NewTable()
	if err != nil {
		return tmux.WindowID{}, err
	}
	seen, _, err := look(ctx, d.Config, environ, d.store, table, quietLog(d.Config, stderr))
	if err != nil {
		return tmux.WindowID{}, err
	}
	server, _ := seen.Server(ctx) // its error is that of the panes
	panes, err := seen.Panes(ctx)
	if err != nil {
		return tmux.WindowID{}, machineError(d.Config, err)
	}
	for _, pane := range panes {
		if lifecycle.SameServer(server, *r.Binding) && pane.ID.String() == r.Binding.Pane {
			return pane.Window, nil
		}
	}
	return tmux.WindowID{}, fmt.Errorf("the window of %s is gone: tmux (%s) does not have it; `ccbot status %s` says what is left",
		name, d.TmuxCommand(), terminal.ShellWord(r.Name))
}

// socketPath is where tmux has the socket of the server in use.
func (d desk) socketPath(vars map[string]string) string {
	dir, name := vars["TMUX_TMPDIR"], d.TmuxSocket
	if dir == "" {
		dir = "/tmp"
	}
	if name == "" {
		name = "default"
	}
	return filepath.Join(dir, fmt.Sprintf("tmux-%d", os.Getuid()), name)
}

// isSocket reports whether $TMUX of a terminal names that socket.
func isSocket(inside, path string) bool {
	here, _, _ := strings.Cut(inside, ",")
	a, errA := os.Stat(here)
	b, errB := os.Stat(path)
	return errors.Join(errA, errB) == nil && os.SameFile(a, b)
}
