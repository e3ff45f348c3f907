package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// The pauses between attempts to connect. The longest pause is also the longest time until a server
// that somebody else has started is noticed; an operation looks at once.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 30 * time.Second
)

// OnChange adds a function that is called when something may have changed: a window came or went,
// or the server answers again or is gone. It is a hint to look. Never more than one call runs at a
// time, and several changes may lead to one call. There is no call for the end of a process (its
// pane stays, dead), for the end of one of several panes in a window, and for changes of Viewers.
func (c *Client) OnChange(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onChange = append(c.onChange, f)
}

// Run keeps the control client connected until ctx ends, which is not an error. It never starts a
// server; Ensure does.
func (c *Client) Run(ctx context.Context) error {
	c.removeStalePastes()
	var group errgroup.Group
	group.Go(func() error {
		c.tell(ctx)
		return nil
	})
	group.Go(func() error {
		c.keepConnected(ctx)
		return nil
	})
	return group.Wait()
}

// tell calls the OnChange functions, one after the other.
func (c *Client) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.notify:
		}
		c.mu.Lock()
		told := c.onChange
		c.mu.Unlock()
		for _, f := range told {
			f()
		}
	}
}

func (c *Client) changed() { pause.Poke(c.notify) }

func (c *Client) keepConnected(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		connected, err := c.connect(ctx)
		if connected {
			failures = 0
			c.changed()
		}
		if ctx.Err() != nil {
			return
		}
		wait := pause.Doubled(firstPause, longestPause, failures)
		c.cfg.Log.DebugContext(ctx, "tmux_not_connected", logkey.Error, err, logkey.Pause, wait)
		if !pause.Until(ctx, wait, c.kick) {
			failures++
		}
	}
}

// connect attaches a control client and returns when it is gone.
func (c *Client) connect(ctx context.Context) (connected bool, err error) {
	defer func() { c.attempted(err) }()
	if c.absent() {
		return false, ErrNoServer
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := newConnection(c.changed)
	var group errgroup.Group
	group.Go(func() error { return conn.serve(ctx, c.controlArgv(), c.environment()) })
	server, err := c.greet(ctx, conn)
	if err == nil {
		c.setConnection(conn, server)
		defer c.setConnection(nil, ServerID{})
		c.changed()
		<-conn.done
	}
	cancel()
	return err == nil, errors.Join(err, group.Wait())
}

// setConnection makes the connection known to the callers that wait for one.
func (c *Client) setConnection(conn *connection, server ServerID) {
	c.mu.Lock()
	c.conn, c.server = conn, server
	clear(c.nudged) // ids of another server mean other panes
	c.mu.Unlock()
	if conn != nil {
		c.attempted(nil)
	}
}

// attempted wakes all callers that wait for a connection.
func (c *Client) attempted(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastErr = err
	close(c.attempt)
	c.attempt = make(chan struct{})
}

// ServerVersion is the version of the server that was connected last; empty: there was none.
func ServerVersion(c *Client) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// greet asks the server for its identity, and prepares the session to which the client is attached.
func (c *Client) greet(ctx context.Context, conn *connection) (ServerID, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	a, err := conn.do(ctx, newCall(func(marker string) string {
		return command("display-message", "-p", marker+"-hello #{pid} #{version}") +
			" ; " + command("set-option", "-t", "="+c.control+":", "destroy-unattached", "off")
	}))
	if err != nil {
		return ServerID{}, fmt.Errorf("greet server: %w", err)
	}
	var pid int
	var release string
	for _, line := range a.lines {
		if _, rest, ok := strings.Cut(line, "-hello "); ok {
			if _, err := fmt.Sscan(rest, &pid, &release); err != nil {
				return ServerID{}, fmt.Errorf("greet server: %q: %w", line, err)
			}
		}
	}
	if pid == 0 {
		return ServerID{}, fmt.Errorf("greet server: no pid in %q %q", a.lines, a.fails)
	}
	// A server keeps running when the package is updated, so the version of the program is not
	// enough.
	if err := tooOld(release); err != nil {
		return ServerID{}, fmt.Errorf("running server: %w", err)
	}
	c.mu.Lock()
	c.version = release
	c.mu.Unlock()
	start, err := c.cfg.Start(pid)
	if err != nil {
		return ServerID{}, fmt.Errorf("start time of tmux server %d: %w", pid, err)
	}
	return ServerID{Socket: c.socket, PID: pid, Start: start}, nil
}
