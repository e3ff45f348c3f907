package tmux

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"ccbot/internal/pause"
)

// answerTimeout bounds every operation. tmux answers within milliseconds, or it is stopped.
const answerTimeout = 10 * time.Second

// mainWindow keeps a session alive when all other windows are gone.
const mainWindow = "__main__"

// Client works with one tmux server. Its methods may be called from any goroutine; they need Run to
// be running and wait up to ten seconds for it to connect.
type Client struct {
	cfg     Config
	binary  string // tmux
	envTool string // env
	socket  string // path
	control string // name of the control client's session
	notify  chan struct{}
	kick    chan struct{} // shortens a pause between attempts
	ensure  chan struct{} // holds the one right to make a server or session

	mu       sync.Mutex
	conn     *connection   // nil while there is none
	server   ServerID      // of conn
	version  string        // of the last server that was greeted
	attempt  chan struct{} // closed and replaced after every attempt to connect
	lastErr  error         // of the last attempt
	onChange []func()
	nudged   map[PaneID]bool // dead panes for whose status the server was given a child's end
}

// validName matches the names that a session, an instance and a window key may have: they contain
// no character that has a meaning in a tmux target or format.
var validName = regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_-]*$`)

// New finds tmux and asks its version, nothing more. The error is ErrNoTmux, ErrTooOld,
// ErrDefaultSocket, or a mistake in the configuration.
func New(cfg Config) (*Client, error) {
	if err := checkConfig(cfg); err != nil {
		return nil, err
	}
	binary, err := exec.LookPath("tmux")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoTmux, err)
	}
	if _, err := checkVersion(binary, cfg.Env); err != nil {
		return nil, err
	}
	envTool, err := exec.LookPath("env")
	if err != nil {
		return nil, fmt.Errorf("find env: %w", err)
	}
	c := &Client{
		cfg: cfg, binary: binary, envTool: envTool,
		socket:  socketPath(cfg.Socket, os.Getenv("TMUX_TMPDIR"), os.Getuid()),
		control: "ccbot-ctl-" + cfg.Instance,
		notify:  make(chan struct{}, 1),
		kick:    make(chan struct{}, 1),
		ensure:  make(chan struct{}, 1),
		attempt: make(chan struct{}),
		nudged:  make(map[PaneID]bool),
	}
	if c.cfg.Log == nil {
		c.cfg.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func checkConfig(cfg Config) error {
	switch {
	case !validName.MatchString(cfg.Session):
		return fmt.Errorf("tmux session %q: want letters, digits, '_' and '-'", cfg.Session)
	case !validName.MatchString(cfg.Instance):
		return fmt.Errorf("tmux instance %q: want letters, digits, '_' and '-'", cfg.Instance)
	}
	return checkServer(cfg)
}

// checkServer checks what names the server. A test binary is known by the flags of `go test`.
func checkServer(cfg Config) error {
	switch {
	case flag.Lookup("test.v") != nil && (cfg.Socket == "" || cfg.Socket == "default"):
		return ErrDefaultSocket
	case strings.ContainsAny(cfg.Socket, "/\x00"):
		return fmt.Errorf("tmux socket %q: want a name, not a path", cfg.Socket)
	case cfg.Start == nil:
		return errors.New("tmux: Config.Start is missing")
	}
	return nil
}

// socketPath is the socket that `tmux -L name` uses. tmux falls back to /tmp when TMUX_TMPDIR does
// not exist.
func socketPath(name, tmpdir string, uid int) string {
	if name == "" {
		name = "default"
	}
	dir, err := filepath.EvalSymlinks(tmpdir)
	if tmpdir == "" || err != nil {
		dir = "/tmp"
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
	}
	return filepath.Join(dir, fmt.Sprintf("tmux-%d", uid), name)
}

// await returns the connection. It waits for one until ctx ends, but only as long as a server may
// exist.
func (c *Client) await(ctx context.Context) (*connection, ServerID, error) {
	kicked := false
	for {
		c.mu.Lock()
		conn, server, attempt, lastErr := c.conn, c.server, c.attempt, c.lastErr
		c.mu.Unlock()
		if conn != nil && !conn.ended() {
			return conn, server, nil
		}
		if c.absent() {
			return nil, ServerID{}, fmt.Errorf("%w on %s", ErrNoServer, c.socket)
		}
		if !kicked {
			pause.Poke(c.kick)
			kicked = true
		}
		select {
		case <-attempt:
		case <-ctx.Done():
			return nil, ServerID{}, fmt.Errorf("%w: not connected: %w", ErrNotSent, errors.Join(ctx.Err(), lastErr))
		}
	}
}

// Server returns the server to which the client is connected.
func (c *Client) Server(ctx context.Context) (ServerID, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	_, server, err := c.await(ctx)
	return server, err
}

// do sends one line and waits for its answer. build gets the call's marker, a random text that
// nobody else can know. The name is for errors.
func (c *Client) do(ctx context.Context, name string, build func(marker string) string) (answer, *call, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
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
