package appserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/agent/codex/greeting"
	"ccbot/internal/jsonrpc"
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
	*jsonrpc.Conn
	version string // of the server; empty: it is unknown
}

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
	err = sockpeer.Look(raw, func(pid, _ int) error {
		now, err := processes.Inspect(pid)
		if err == nil && now.Identity != server.Identity {
			err = fmt.Errorf("process %d listens, and not %d", pid, server.PID)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("appserver: read the listener: %w", err), raw.Close())
	}
	open, err := jsonrpc.Open(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("appserver: %w", err)
	}
	version, err := greeting.Greet(ctx, open)
	if err != nil {
		return nil, errors.Join(wrap(err), open.Close())
	}
	return &Conn{Conn: open, version: version}, nil
}

func (c *Conn) call(ctx context.Context, method string, params, result any) error {
	return wrap(c.Call(ctx, method, params, result))
}

func (c *Conn) send(ctx context.Context, m jsonrpc.Message) error { return wrap(c.Send(ctx, m)) }

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("appserver: %w", err)
	}
	return nil
}
