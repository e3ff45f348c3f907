package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/ownfile"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/tmux"
)

func (c *call) attachCommand() *cobra.Command {
	return &cobra.Command{Use: "attach NAME|ID", Args: oneSession, Short: "Show the window of a session in this terminal",
		Long: `Show the window of a session in this terminal. Inside the session's tmux server it switches to
the window; elsewhere it attaches.`,
		Example: "  ccbot attach api",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, r, err := c.session(args[0], func(r port.Session) bool { return r.State.Live() })
			if err != nil {
				return err
			}
			record, _ := d.Store.Get(r.ID)
			window, err := windowOf(cmd.Context(), d, record)
			if err != nil {
				return err
			}
			argv, env := attaching(d.Config, c.environ, window)
			program, err := exec.LookPath(argv[0])
			if err != nil {
				return offline.TmuxError(d.Config, fmt.Errorf("%w: %w", tmux.ErrNoTmux, err))
			}
			return fmt.Errorf("run %s: %w", program, syscall.Exec(program, argv, env))
		}}
}

// attaching is the tmux command that shows a window, and the environment that it needs.
func attaching(c config.Config, environ []string, window tmux.WindowID) (argv, environment []string) {
	argv = []string{"tmux"}
	if c.TmuxSocket != "" {
		argv = append(argv, "-L", c.TmuxSocket)
	}
	vars := env.ToMap(environ)
	socket := filepath.Join(cmp.Or(vars["TMUX_TMPDIR"], "/tmp"), fmt.Sprintf("tmux-%d", os.Getuid()), cmp.Or(c.TmuxSocket, "default"))
	if inside, _, _ := strings.Cut(vars["TMUX"], ","); ownfile.Same(inside, socket) {
		return append(argv, "switch-client", "-t", window.String()), environ
	}
	// tmux refuses to attach inside another server, unless TMUX is removed.
	outside := slices.DeleteFunc(slices.Clone(environ), func(one string) bool { return strings.HasPrefix(one, "TMUX=") })
	return append(argv, "attach-session", "-t", window.String()), outside
}

// windowOf finds the window in which a session's agent runs. The error is the reason why it has
// none.
func windowOf(ctx context.Context, d offline.View, r session.Record) (tmux.WindowID, error) {
	name := terminal.Printable(r.Name)
	switch {
	case !r.State.Live():
		return tmux.WindowID{}, fmt.Errorf("%s has no window: it is %s; `ccbot resume %s` brings it back", name, r.State, terminal.ShellWord(r.Name))
	case r.Binding == nil:
		return tmux.WindowID{}, fmt.Errorf("%s has no window yet: it is %s", name, r.State)
	}
	seen := d.Tmux(ctx)
	server, err := seen.Server(ctx)
	if err != nil {
		return tmux.WindowID{}, offline.TmuxError(d.Config, err)
	}
	same := view.SameServer(server, d.Table.Self().Boot, *r.Binding)
	if same == process.Maybe {
		return tmux.WindowID{}, fmt.Errorf("it is not known which window %s has: ccbot noted it in another time namespace", name)
	}
	for _, pane := range seen.All {
		if same == process.Yes && pane.ID.String() == r.Binding.Pane {
			return pane.Window, nil
		}
	}
	return tmux.WindowID{}, fmt.Errorf("the window of %s is gone: tmux (%s) does not have it; `ccbot status %s` shows what is left",
		name, d.TmuxCommand(), terminal.ShellWord(r.Name))
}
