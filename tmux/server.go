package tmux

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/ownfile"
	"ccbot/internal/pause"
)

// The size of windows that nobody looks at. tmux's own default is 80×24, and at that size Claude
// Code folds rows that ccbot reads from its screen.
const (
	width  = "120"
	height = "40"
)

// forever is how long a __main__ window sleeps, in seconds; "infinity" is not known everywhere.
const forever = "2147483647"

// Ensure makes what is missing of three things: the server, the session of ccbot's windows with its
// sleeping __main__ window, and the control client's session. It returns when the client is
// connected.
func (c *Client) Ensure(ctx context.Context) error {
	select {
	case c.ensure <- struct{}{}:
		defer func() { <-c.ensure }()
	case <-ctx.Done():
		return fmt.Errorf("ensure tmux: %w", ctx.Err())
	}
	if err := c.ensureServer(ctx); err != nil {
		return err
	}
	panes, err := c.Panes(ctx)
	if err != nil {
		return fmt.Errorf("ensure session %s: %w", c.cfg.Session, err)
	}
	if text := c.missing(panes); text != "" {
		_, err = c.lines(ctx, "new-session", text)
	}
	if err != nil && !strings.Contains(err.Error(), "duplicate session") {
		return fmt.Errorf("ensure session %s: %w", c.cfg.Session, err)
	}
	return nil
}

// missing returns the commands that complete the session, empty when it is complete.
func (c *Client) missing(panes []Pane) string {
	own := slices.DeleteFunc(slices.Clone(panes), func(p Pane) bool { return p.Session != c.cfg.Session })
	isMain := func(p Pane) bool { return p.WindowName == mainWindow }
	target := "=" + c.cfg.Session + ":"
	switch {
	case len(own) == 0:
		args := append([]string{"-d", "-s", c.cfg.Session}, c.sleeper()...)
		// A user's destroy-unattached would end the session before anyone can attach; the option
		// comes in the same list, before tmux looks.
		return command("new-session", args...) +
			" ; " + command("set-option", "-t", target, "destroy-unattached", "off")
	case !slices.ContainsFunc(own, isMain):
		return command("new-window", "-d", "-t", target, "-n", mainWindow, "-c", "/", "--", "sleep", forever)
	}
	return ""
}

// sleeper returns the arguments of a new session with a sleeping window.
func (c *Client) sleeper() []string {
	return []string{"-n", mainWindow, "-x", width, "-y", height, "-c", literal(c.home()), "--", "sleep", forever}
}

// home is the directory of windows that a person opens in ccbot's sessions.
func (c *Client) home() string {
	for _, kv := range c.cfg.Env {
		if dir, ok := strings.CutPrefix(kv, "HOME="); ok && filepath.IsAbs(dir) {
			return dir
		}
	}
	return "/"
}

// ensureServer starts a server if none runs. A server that is ending still holds its socket for
// some hundred milliseconds, and a start at that moment fails, so ensureServer tries again.
func (c *Client) ensureServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	for tries := 0; ; tries++ {
		var err error
		if c.absent() {
			err = c.startServer(ctx)
		}
		if err == nil {
			_, _, err = c.await(ctx)
		}
		if err == nil {
			return nil
		}
		if pause.For(ctx, pause.Doubled(firstPause, answerTimeout, tries)) != nil {
			return fmt.Errorf("ensure tmux server: %w", err)
		}
	}
}

func (c *Client) startServer(ctx context.Context) error {
	if err := privateDir(filepath.Dir(c.socket)); err != nil {
		return fmt.Errorf("start tmux server: %w", err)
	}
	argv := append([]string{c.binary, "-u", "-S", c.socket, "new-session", "-d", "-s", c.control}, c.sleeper()...)
	scoped, env := scope(argv, c.environment(), os.LookupEnv, exec.LookPath)
	err := start(ctx, scoped, env)
	if err != nil && len(scoped) != len(argv) && c.absent() {
		// A system service has no user manager. The server then lives in our own control group and
		// may end with us.
		c.cfg.Log.WarnContext(ctx, "tmux_server_without_scope", logkey.Error, err)
		err = start(ctx, argv, c.environment())
	}
	if err != nil {
		return fmt.Errorf("start tmux server: %w", err)
	}
	c.cfg.Log.InfoContext(ctx, "tmux_server_started", logkey.Socket, c.socket)
	return nil
}

func start(ctx context.Context, argv, env []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = env, "/"
	cmd.WaitDelay = closeGrace
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// scope puts argv into a systemd scope when ccbot runs under systemd, so that stopping ccbot's unit
// does not end the agents. systemd-run needs the address of the user's manager in its environment.
// Variables for that which env itself does not have are removed again before argv runs.
func scope(argv, env []string, lookup func(string) (string, bool), find func(string) (string, error)) (scoped, scopedEnv []string) {
	if _, ok := lookup("INVOCATION_ID"); !ok {
		return argv, env
	}
	run, err := find("systemd-run")
	if err != nil {
		return argv, env
	}
	scoped = []string{run, "--user", "--scope", "--quiet", "--collect", "--", "env"}
	scopedEnv = slices.Clone(env)
	for _, name := range []string{"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} {
		value, ok := lookup(name)
		if !ok || slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			continue
		}
		scopedEnv = append(scopedEnv, name+"="+value)
		scoped = append(scoped, "-u", name)
	}
	return append(scoped, argv...), scopedEnv
}

// environment is the environment of every tmux process that ccbot starts. It is never nil, because
// for nil os/exec would take ccbot's own.
func (c *Client) environment() []string { return append([]string{}, c.cfg.Env...) }

// controlArgv attaches the control client, and makes its session if somebody closed it. -N makes it
// fail when there is no server. no-output suppresses the output of the panes; ignore-size keeps our
// size from mattering.
func (c *Client) controlArgv() []string {
	argv := []string{c.binary, "-u", "-N", "-S", c.socket, "-C", "new-session", "-A", "-s", c.control, "-f", "no-output,ignore-size"}
	return append(argv, c.sleeper()...)
}

// absent is proven when nothing listens on the socket. A server whose socket file was removed is
// "absent" too, although it lives on; therefore programs in panes are judged by their processes,
// and not by this.
func (c *Client) absent() bool {
	conn, err := net.DialTimeout("unix", c.socket, time.Second)
	if err == nil {
		conn.Close()
		return false
	}
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// privateDir makes the socket's folder as tmux -L does, and like tmux it refuses a folder that
// other users may enter.
func privateDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || ownfile.Owner(info) != os.Getuid() || info.Mode().Perm()&0o007 != 0 {
		return fmt.Errorf("%s is not a private folder of ours", dir)
	}
	return nil
}
