package appserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"ccbot/internal/process"
	"ccbot/internal/sockpeer"
)

// Processes reads one process; the error is process.ErrGone if it has ended.
type Processes interface {
	Inspect(pid int) (process.Process, error)
}

// Conn is a connection to a server. Only one goroutine at a time may use it, except that Answer may
// run at the same time as Next.
type Conn struct {
	ws     *websocket.Conn
	mu     sync.Mutex // of writes
	last   int        // id of the last call
	events []message  // read while a call waited
}

// message is a request, its response, or a notification.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// maxMessage bounds one message: an item may have the whole output of a command.
const maxMessage = 64 << 20

// socketOf returns the socket in the command line of a server: --listen unix://PATH.
func socketOf(args []string) (string, error) {
	i := slices.Index(args, "--listen")
	if i < 0 || i+1 >= len(args) {
		return "", errors.New("appserver: the server has no --listen")
	}
	path, is := strings.CutPrefix(args[i+1], "unix://")
	if !is || !filepath.IsAbs(path) {
		return "", fmt.Errorf("appserver: --listen %q is no absolute Unix socket", args[i+1])
	}
	return path, nil
}

// Dial connects to a server, which must be the process with a pid and a start time.
func Dial(ctx context.Context, processes Processes, pid int, start uint64) (*Conn, error) {
	server, err := processes.Inspect(pid)
	if err != nil {
		return nil, fmt.Errorf("appserver: read the server: %w", err)
	}
	if server.Start != start {
		return nil, fmt.Errorf("appserver: process %d is another one: %w", pid, process.ErrGone)
	}
	path, err := socketOf(server.Args)
	if err != nil {
		return nil, err
	}
	raw, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("appserver: %w", err)
	}
	if err := prove(raw, processes, server.Identity); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return open(ctx, raw)
}

// prove checks that the process which listens at the socket is the server.
func prove(raw net.Conn, processes Processes, server process.Identity) error {
	unix, is := raw.(*net.UnixConn)
	if !is {
		return errors.New("appserver: no Unix socket")
	}
	control, err := unix.SyscallConn()
	if err != nil {
		return fmt.Errorf("appserver: %w", err)
	}
	failed := control.Control(func(fd uintptr) { err = proveFile(int(fd), processes, server) })
	return errors.Join(err, failed)
}

func proveFile(fd int, processes Processes, server process.Identity) error {
	pid, _, still, done, err := sockpeer.Credentials(fd)
	if err != nil {
		return fmt.Errorf("appserver: read the listener: %w", err)
	}
	defer done()
	now, err := processes.Inspect(pid)
	if err == nil {
		err = still()
	}
	if err != nil {
		return fmt.Errorf("appserver: read the listener: %w", err)
	}
	if now.Identity != server {
		return fmt.Errorf("appserver: process %d listens, and not %d", pid, server.PID)
	}
	return nil
}

// open makes the connection a WebSocket and introduces ccbot.
func open(ctx context.Context, raw net.Conn) (*Conn, error) {
	dial := func(context.Context, string, string) (net.Conn, error) { return raw, nil }
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	ws, _, err := websocket.Dial(ctx, "ws://codex/", &websocket.DialOptions{HTTPClient: client}) //nolint:bodyclose // the library closes it
	if err != nil {
		return nil, errors.Join(fmt.Errorf("appserver: %w", err), raw.Close())
	}
	ws.SetReadLimit(maxMessage)
	c := &Conn{ws: ws}
	hello := map[string]any{"clientInfo": map[string]string{"name": "ccbot", "title": "ccbot", "version": "1"},
		"capabilities": map[string]bool{"experimentalApi": true}}
	err = c.call(ctx, "initialize", hello, nil)
	if err == nil {
		err = c.write(ctx, message{Method: "initialized"})
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close ends the connection at once.
func (c *Conn) Close() error { return c.ws.CloseNow() }

func (c *Conn) write(ctx context.Context, m message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("appserver: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ws.Write(ctx, websocket.MessageText, data); err != nil {
		return fmt.Errorf("appserver: %w", err)
	}
	return nil
}

func (c *Conn) read(ctx context.Context) (m message, err error) {
	_, data, err := c.ws.Read(ctx)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return m, fmt.Errorf("appserver: %w", err)
	}
	return m, nil
}

// call makes a call and decodes its result. Other messages stay for Next.
func (c *Conn) call(ctx context.Context, method string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("appserver: %s: %w", method, err)
	}
	c.last++
	id := fmt.Appendf(nil, "%d", c.last)
	if err := c.write(ctx, message{ID: id, Method: method, Params: data}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		m, err := c.read(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", method, err)
		case m.Method != "" || string(m.ID) != string(id):
			c.events = append(c.events, m)
		case m.Error != nil:
			return fmt.Errorf("appserver: %s: %s (%d)", method, m.Error.Message, m.Error.Code)
		case result == nil:
			return nil
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return fmt.Errorf("appserver: %s: %w", method, err)
			}
			return nil
		}
	}
}

// next returns the next message, except responses.
func (c *Conn) next(ctx context.Context) (m message, err error) {
	if len(c.events) > 0 {
		m, c.events = c.events[0], c.events[1:]
		return m, nil
	}
	for m.Method == "" {
		if m, err = c.read(ctx); err != nil {
			return m, err
		}
	}
	return m, nil
}
