package tmux

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// answerTimeout bounds every operation, so that a person gets an answer within five seconds. tmux
// answers within milliseconds, or it is stopped.
const answerTimeout = 4 * time.Second

// Client works with one tmux server. Its methods may be called from any goroutine; they need Run to
// be running and wait up to answerTimeout for it to connect. After a call that was not answered in
// time, the others fail at once with ErrSilent, until the server answers that call.
type Client struct {
	place   place
	notify  chan struct{}
	kick    chan struct{} // shortens a pause between attempts
	ensure  chan struct{} // holds the one right to make a server or session
	silence silence

	// greeting is held while the server greets the control client, and while a server is started: a session that is made meanwhile
	// crashes the server, as in waitForEarlier.
	greeting sync.Mutex

	mu       sync.Mutex
	conn     *connection   // nil if not connected
	greeted  *connection   // the one that waits for the server's greeting; nil if none does
	server   ServerID      // of conn
	version  string        // of the last server that was greeted
	attempt  chan struct{} // closed and replaced after every attempt to connect
	lastErr  error         // of the last attempt
	onChange []func()
	nudged   map[PaneID]bool // dead panes for whose status the server was given a child's end
}

// validName matches the names that a session and an instance may have: they contain
// no character that has a meaning in a tmux target or format.
var validName = lazyregexp.New(`^[\p{L}\p{N}_][\p{L}\p{N}_-]*$`)

// New finds tmux and asks its version, nothing more. The error is ErrNoTmux, ErrTooOld,
// ErrDefaultSocket, or a mistake in the configuration.
func New(cfg Config) (*Client, error) {
	for what, name := range map[string]string{"session": cfg.Session, "instance": cfg.Instance} {
		if !validName.MatchString(name) {
			return nil, fmt.Errorf("tmux %s %q: want letters, digits, '_' and '-'", what, name)
		}
	}
	p, err := findPlace(cfg)
	if err != nil {
		return nil, err
	}
	if _, err := checkVersion(p.binary, p.env); err != nil {
		return nil, err
	}
	if p.envTool, err = exec.LookPath("env"); err != nil {
		return nil, fmt.Errorf("find env: %w", err)
	}
	return &Client{
		place:   p,
		notify:  make(chan struct{}, 1),
		kick:    make(chan struct{}, 1),
		ensure:  make(chan struct{}, 1),
		attempt: make(chan struct{}),
		nudged:  make(map[PaneID]bool),
	}, nil
}

// await returns the connection. It waits for one until ctx ends, but only as long as a server may
// exist.
func (c *Client) await(ctx context.Context) (*connection, ServerID, error) {
	kicked := false
	for {
		c.mu.Lock()
		conn, greeted, server, attempt, lastErr := c.conn, c.greeted, c.server, c.attempt, c.lastErr
		c.mu.Unlock()
		for _, one := range []*connection{conn, greeted} {
			if one != nil && !one.ended() && one.silent() {
				return nil, ServerID{}, fmt.Errorf("%w: %w", ErrNotSent, ErrSilent)
			}
		}
		if conn != nil && !conn.ended() {
			return conn, server, nil
		}
		if c.place.absent() {
			return nil, ServerID{}, fmt.Errorf("%w on %s", ErrNoServer, c.place.socket)
		}
		if !kicked {
			pause.Poke(c.kick)
			kicked = true
		}
		select {
		case <-attempt:
		case <-ctx.Done():
			err := fmt.Errorf("%w: not connected", unanswered(ctx, ErrNotSent))
			if lastErr != nil { // nil: the first attempt goes on
				err = fmt.Errorf("%w: %w", err, lastErr)
			}
			return nil, ServerID{}, err
		}
	}
}

// Server returns the server to which the client is connected.
func (c *Client) Server(ctx context.Context) (ServerID, error) {
	ctx, cancel := withAnswerTimeout(ctx)
	defer cancel()
	_, server, err := c.await(ctx)
	return server, err
}

// Answers returns nil if the server answers a question that changes nothing, or if there is none.
func (c *Client) Answers(ctx context.Context) error {
	_, err := c.lines(ctx, "display-message", command("display-message", "-p", "#{pid}"))
	if errors.Is(err, ErrNoServer) {
		return nil
	}
	return err
}

// do sends one line and waits for its answer. build gets the call's marker, a random text that
// cannot be guessed. The name is for errors.
func (c *Client) do(ctx context.Context, name string, build func(marker string) string) (answer, *call, error) {
	ctx, cancel := withAnswerTimeout(ctx)
	defer cancel()
	call := newCall(build)
	a, err := c.send(ctx, call)
	if err != nil {
		return answer{}, call, fmt.Errorf("tmux %s: %w", name, err)
	}
	if len(a.fails) > 0 {
		return a, call, &commandError{Command: name, Text: strings.Join(a.fails, "; ")}
	}
	return a, call, nil
}

// send waits for a connection and for the answer. If a connection ends before it took the call, the
// call is given to the next one.
func (c *Client) send(ctx context.Context, call *call) (answer, error) {
	for {
		conn, _, err := c.await(ctx)
		if err != nil {
			return answer{}, err
		}
		a, err := conn.do(ctx, call)
		if ctx.Err() == nil && errors.Is(err, ErrNotSent) {
			continue
		}
		return a, err
	}
}

// lines runs one line of commands and returns their output.
func (c *Client) lines(ctx context.Context, name, text string) ([]string, error) {
	a, _, err := c.do(ctx, name, func(string) string { return text })
	return a.lines, err
}

// The pauses between attempts to connect. The longest pause is also the longest time until a
// foreign server is noticed; an operation checks at once.
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

// OnSilence adds a function that is called once when a command has been open for 30 seconds, and
// once more when the server answers again. Never more than one call runs at a time.
func (c *Client) OnSilence(f func(ctx context.Context, silent bool)) { c.silence.add(f) }

// Run keeps the control client connected until ctx ends, which is not an error. It never starts a
// server; Ensure does.
func (c *Client) Run(ctx context.Context) error {
	c.place.removeStalePastes()
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

// tell calls the OnChange and OnSilence functions, one after the other.
func (c *Client) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.notify:
		}
		c.mu.Lock()
		notified := c.onChange
		c.mu.Unlock()
		c.silence.tell(ctx)
		for _, f := range notified {
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
		c.place.cfg.Log.DebugContext(ctx, "tmux_not_connected", logkey.Error, err, logkey.Pause, wait)
		if !pause.Until(ctx, wait, c.kick) {
			failures++
		}
	}
}

// connect attaches a control client and returns when it is gone.
func (c *Client) connect(ctx context.Context) (connected bool, err error) {
	defer func() { c.attempted(err) }()
	greeted := sync.OnceFunc(c.greeting.Unlock)
	c.greeting.Lock()
	defer greeted()
	if c.place.absent() {
		c.silence.forget()
		return false, ErrNoServer
	}
	if err := c.place.private(); err != nil {
		return false, err
	}
	if err := c.place.waitForEarlier(ctx); err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := newConnection(c.changed, func(is bool) { c.silence.set(is, c.changed) })
	var group errgroup.Group
	group.Go(func() error { return conn.serve(ctx, c.place.serverProgram(), c.place.controlArgv(), c.place.env) })
	server, err := c.greet(ctx, conn)
	greeted()
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

// ServerVersion returns the version of the server that was connected last, or "".
func ServerVersion(c *Client) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// greet asks the server for its identity, and prepares the session to which the client is attached.
// It waits as long as the server holds the connection: a server that hangs answers after its
// return.
func (c *Client) greet(ctx context.Context, conn *connection) (ServerID, error) {
	noteGreeted := func(conn *connection) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.greeted = conn
	}
	noteGreeted(conn)
	defer noteGreeted(nil)
	call := newCall(func(marker string) string {
		return command("display-message", "-p", marker+"-hello #{pid} #{version}") +
			" ; " + command("set-option", "-t", "="+c.place.control+":", "destroy-unattached", "off")
	})
	a, err := conn.do(ctx, call)
	if err != nil {
		return ServerID{}, fmt.Errorf("greet server: %w", err)
	}
	said, _ := a.after(call.marker + "-hello")
	server, version, err := c.place.identify(said)
	if err != nil {
		return ServerID{}, fmt.Errorf("greet server: %w", err)
	}
	c.mu.Lock()
	c.version = version
	c.mu.Unlock()
	return server, nil
}
