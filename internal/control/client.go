package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"

	"ccbot/internal/hookwire"
)

var (
	// ErrNoServer means that no ccbot listens on the socket.
	ErrNoServer = errors.New("no ccbot is running")
	// ErrLost means that the connection ended without a reply: the server stopped. The result of
	// the call is unknown.
	ErrLost = errors.New("the connection to ccbot was lost")
)

// Do makes one call and waits for its reply until ctx ends. A refusal by the server is a *Refusal.
func Do(ctx context.Context, path string, c hookwire.Call) (json.RawMessage, error) {
	c.Version = hookwire.WireVersion
	line, err := hookwire.Line(c)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	if len(line) > hookwire.MaxCall {
		return nil, fmt.Errorf("control: a call of %d bytes is too long", len(line))
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("control: %w: %w", ErrNoServer, err)
	case err != nil:
		return nil, fmt.Errorf("control: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	r, err := exchange(conn, line)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("control: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, fmt.Errorf("control: %w: %w", ErrLost, err)
	}
	if r.Error != "" || r.Code != "" {
		return nil, &Refusal{Code: r.Code, Text: r.Error}
	}
	return r.Body, nil
}

// exchange writes the line and reads the reply. A server that refuses a client replies without
// reading the whole line, so a write that fails does not yet mean that there is no reply.
func exchange(conn net.Conn, line []byte) (hookwire.Reply, error) {
	_, writeErr := conn.Write(line)
	r := bufio.NewReader(io.LimitReader(conn, hookwire.MaxReply))
	reply, err := r.ReadBytes('\n')
	if err != nil {
		return hookwire.Reply{}, errors.Join(writeErr, err)
	}
	return hookwire.ReadReply(reply[:len(reply)-1])
}
