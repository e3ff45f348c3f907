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

// The size of windows nobody looks at. tmux alone would take 80×24, in which Claude Code folds what
// is read from its screen.
const (
	width  = "120"
	height = "40"
)

// forever is how long a __main__ window sleeps, in seconds; "infinity" is not known everywhere.
const forever = "2147483647"

// Ensure makes what is missing of: the server, the session of ccbot's windows with its sleeping
// __main__ window, the control client's session. It returns when the client is connected.
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

// missing is the commands that complete the session, empty when it is complete.
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

// sleeper is the arguments of a new session with a sleeping window.
func (c *Client) sleeper() []string {
	return []string{"-n", mainWindow, "-x", width, "-y", height, "-c", literal(c.home()), "--", "sleep", forever}
}

// home is where a window opens that a person makes in our sessions.
func (c *Client) home() string {
	for _, kv := range c.cfg.Env {
		if dir, ok := strings.CutPrefix(kv, "HOME="); ok && filepath.IsAbs(dir) {
			return dir
		}
	}
	return "/"
}

// ensureServer starts a server where none is. A server that is going away still holds its socket for
// some hundred milliseconds and fails what is started then, so it tries again.
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

// scope puts argv into a systemd scope when we run under systemd, so that stopping ccbot's unit does
// not end the agents. systemd-run needs the way to the user's manager in its environment; where env
// itself does not have it, it is removed again before argv.
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

// environment is that of every tmux process of ours. Never nil: os/exec takes nil for our own.
func (c *Client) environment() []string { return append([]string{}, c.cfg.Env...) }

// controlArgv attaches the control client, making its session if somebody closed it. -N: without a
// server it fails. no-output keeps the panes' output out, ignore-size our size.
func (c *Client) controlArgv() []string {
	argv := []string{c.binary, "-u", "-N", "-S", c.socket, "-C", "new-session", "-A", "-s", c.control, "-f", "no-output,ignore-size"}
	return append(argv, c.sleeper()...)
}

// absent is proven when nothing listens on the socket. A server whose socket file was removed is
// "absent" too and lives on: what runs in panes is judged by its process, not by this.
func (c *Client) absent() bool {
	conn, err := net.DialTimeout("unix", c.socket, time.Second)
	if err == nil {
		conn.Close()
		return false
	}
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// privateDir makes the socket's folder as tmux -L does, and like it refuses one that others may enter.
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
