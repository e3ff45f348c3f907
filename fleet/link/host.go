package link

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ccbot/fleet/rights"
)

// Host is a host's connection to the hub.
type Host struct {
	// Held reports that the commands are for another start of this machine. It is set before Commands, and may be nil.
	Held func() bool

	names rights.Names
	id    string
	conn  *nats.Conn
	js    jetstream.JetStream
}

// OpenHost connects a host to a hub.
func OpenHost(h Hub, as Login, names rights.Names, id string) (*Host, error) {
	as.Inbox = rights.Inbox(id)
	conn, err := connect(h, as, nil)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect to the hub: %w", err)
	}
	return &Host{names: names, id: id, conn: conn, js: js}, nil
}

// Close ends the connection.
func (h *Host) Close() { h.conn.Close() }

// OnReconnect makes the connection call f each time that it was made again.
func (h *Host) OnReconnect(f func()) {
	h.conn.SetReconnectHandler(func(*nats.Conn) { f() })
}

// SendEvent publishes a message for the chat. The hub drops a second message with the same id.
func (h *Host) SendEvent(ctx context.Context, id string, data []byte) error {
	return publish(ctx, h.js, h.names.Event(h.id), h.id+":"+id, data)
}

// Commands calls handle for each command until ctx ends. The hub forgets a command after handle.
func (h *Host) Commands(ctx context.Context, handle func(data []byte)) error {
	held := func() bool { return h.Held != nil && h.Held() }
	return consume(ctx, h.js, h.names.Commands(), h.id, held, func(m jetstream.Msg) { handle(m.Data()) }, func() {}) // the chat makes it again
}

// Conn returns the connection, for requests and beats.
func (h *Host) Conn() *nats.Conn { return h.conn }
