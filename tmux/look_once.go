package tmux

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Look asks a server once, with one tmux command and without a control client, for its identity and
// its panes, as Client.Server and Client.Panes return them. It changes nothing: it starts no
// server, makes no session, and nudges no dead pane for its status. Of cfg it uses Socket, Session
// (may be empty), Env and Start. The errors are ErrNoTmux, ErrTooOld, ErrDefaultSocket and
// ErrNoServer, which is proven; after any other error nothing is known.
func Look(ctx context.Context, cfg Config) (ServerID, []Pane, error) {
	c, err := onlooker(cfg)
	if err != nil {
		return ServerID{}, nil, err
	}
	if c.absent() {
		return ServerID{}, nil, fmt.Errorf("%w on %s", ErrNoServer, c.socket)
	}
	sep := "ccbot-" + rand.Text() + "|"
	out, err := c.ask(ctx, "display-message", "-p", "#{pid} #{version}", ";", "list-panes", "-a", "-F", paneFormat(sep))
	switch {
	case err != nil && c.absent(): // the server ended during the look
		return ServerID{}, nil, fmt.Errorf("%w on %s", ErrNoServer, c.socket)
	case err != nil:
		return ServerID{}, nil, fmt.Errorf("look at tmux: %w", err)
	}
	server, panes, err := c.readLook(out, sep)
	if err != nil {
		return ServerID{}, nil, fmt.Errorf("look at tmux: %w", err)
	}
	return server, panes, nil
}

// onlooker is a Client that never connects.
func onlooker(cfg Config) (*Client, error) {
	if err := checkServer(cfg); err != nil {
		return nil, err
	}
	binary, err := exec.LookPath("tmux")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoTmux, err)
	}
	return &Client{cfg: cfg, binary: binary, socket: socketPath(cfg.Socket, os.Getenv("TMUX_TMPDIR"), os.Getuid())}, nil
}

// ask runs one tmux command list and returns its output. -N keeps tmux from starting a server again
// that ends at this moment.
func (c *Client) ask(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.binary, append([]string{"-u", "-N", "-S", c.socket}, args...)...)
	cmd.Env, cmd.Dir = c.environment(), "/"
	cmd.WaitDelay = closeGrace
	var fails bytes.Buffer
	cmd.Stderr = &fails
	out, err := cmd.Output()
	switch {
	case err != nil && ctx.Err() != nil: // the process was ended for it
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(fails.String()))
	}
	return string(out), nil
}

// readLook reads a line about the server and the records of its panes.
func (c *Client) readLook(out, sep string) (ServerID, []Pane, error) {
	hello, rows, _ := strings.Cut(out, "\n")
	var pid int
	var release string
	if _, err := fmt.Sscan(hello, &pid, &release); err != nil {
		return ServerID{}, nil, fmt.Errorf("the server says %.80q: %w", hello, err)
	}
	if err := tooOld(release); err != nil {
		return ServerID{}, nil, fmt.Errorf("running server: %w", err)
	}
	start, err := c.cfg.Start(pid)
	if err != nil {
		return ServerID{}, nil, fmt.Errorf("start time of tmux server %d: %w", pid, err)
	}
	panes, err := parsePanes(strings.TrimSuffix(rows, "\n"), sep)
	if err != nil {
		return ServerID{}, nil, err
	}
	return ServerID{Socket: c.socket, PID: pid, Start: start}, once(panes, c.cfg.Session), nil
}
