package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/coder/websocket"
)

// Message is a request, its response, or a notification.
type Message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// Error is the error of a call that the server has answered.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// maxMessage bounds one message, in bytes.
const maxMessage = 64 << 20

// Conn is a connection to a server. Only one goroutine at a time may use it, except that Send may
// run at the same time as Next.
type Conn struct {
	ws   *websocket.Conn
	mu   sync.Mutex // of writes
	last int        // id of the last call
	kept []Message  // read while a call waited
}

// Open makes a connection to a Unix socket a WebSocket. After an error raw is closed.
func Open(ctx context.Context, raw net.Conn) (*Conn, error) {
	dial := func(context.Context, string, string) (net.Conn, error) { return raw, nil }
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	ws, _, err := websocket.Dial(ctx, "ws://server/", &websocket.DialOptions{HTTPClient: client}) //nolint:bodyclose // the library closes it
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	ws.SetReadLimit(maxMessage)
	return &Conn{ws: ws}, nil
}

// Close ends the connection at once.
func (c *Conn) Close() error { return c.ws.CloseNow() }

// Send sends a notification, or the response to a request of the server.
func (c *Conn) Send(ctx context.Context, m Message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ws.Write(ctx, websocket.MessageText, data)
}

// Call makes a call and decodes its result, unless result is nil. The error is an *Error if the
// server has answered with one.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if err := c.call(ctx, method, params, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

func (c *Conn) call(ctx context.Context, method string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	c.last++
	id := strconv.Itoa(c.last)
	if err := c.Send(ctx, Message{ID: json.RawMessage(id), Method: method, Params: data}); err != nil {
		return err
	}
	for {
		m, err := c.read(ctx)
		switch {
		case err != nil:
			return err
		case m.Method != "" || string(m.ID) != id:
			c.kept = append(c.kept, m)
		case m.Error != nil:
			return m.Error
		case result == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
}

func (c *Conn) read(ctx context.Context) (m Message, err error) {
	_, data, err := c.ws.Read(ctx)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// Next returns the next message, except responses.
func (c *Conn) Next(ctx context.Context) (m Message, err error) {
	for m.Method == "" {
		if len(c.kept) > 0 {
			m, c.kept = c.kept[0], c.kept[1:]
		} else if m, err = c.read(ctx); err != nil {
			return m, err
		}
	}
	return m, nil
}
