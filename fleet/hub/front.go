package hub

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"ccbot/fleet/rights"
)

const (
	maxConnections   = 1024
	maxOfUser        = 4 // connections; a machine that returns may have left some
	handshakeTimeout = 10 * time.Second
	writeTimeout     = 10 * time.Second
	acceptPause      = 100 * time.Millisecond // after an error
	maxLine          = 16 << 10               // of the protocol, without a payload
)

// front accepts the clients of the server, and reads what they send to it. It ends a connection
// that wants an answer elsewhere than in an inbox: the server sends answers without asking for a
// right, and would obey one on its own subjects, such as that of the end of a stream.
type front struct {
	listener net.Listener
	server   atomic.Pointer[server.Server] // the present one
	running  sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]bool     // both sides of each client
	users  map[string][]net.Conn // by public key; the oldest first
	closed bool
}

// listen accepts clients until close.
func listen(at string, config *tls.Config, to *server.Server) (*front, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", at, err)
	}
	f := &front{listener: l, open: make(map[net.Conn]bool), users: make(map[string][]net.Conn)}
	f.server.Store(to)
	f.running.Go(func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // too many files are open
				<-time.After(acceptPause)
				continue
			}
			if f.add(conn, maxConnections) {
				f.running.Go(func() { f.serve(tls.Server(conn, config), conn) })
			}
		}
	})
	return f, nil
}

// add notes an open connection, or closes it.
func (f *front) add(conn net.Conn, most int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.open) >= 2*most {
		_ = conn.Close() // nothing was sent
		return false
	}
	f.open[conn] = true
	return true
}

// login notes the user of a connection, which a CONNECT names; the server checks it. If the user
// has too many connections, the oldest ends: one user does not take all of the account's.
func (f *front) login(conn net.Conn, connect []byte) error {
	var c struct {
		JWT string `json:"jwt"`
	}
	if err := json.Unmarshal(connect, &c); err != nil {
		return errProtocol
	}
	claims, err := jwt.DecodeUserClaims(c.JWT)
	if err != nil {
		return nil //nolint:nilerr // the server refuses it
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	of := append(slices.DeleteFunc(f.users[claims.Subject], func(one net.Conn) bool { return !f.open[one] || one == conn }), conn)
	if len(of) > maxOfUser {
		_ = of[0].Close() // its client may have gone
	}
	f.users[claims.Subject] = of
	maps.DeleteFunc(f.users, func(_ string, of []net.Conn) bool {
		return !slices.ContainsFunc(of, func(one net.Conn) bool { return f.open[one] })
	})
	return nil
}

func (f *front) end(conns ...net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close() // the other side may have ended
		delete(f.open, conn)
	}
}

// close ends all connections, and waits.
func (f *front) close() {
	_ = f.listener.Close()
	f.mu.Lock()
	f.closed = true
	for conn := range f.open {
		_ = conn.Close()
	}
	f.mu.Unlock()
	f.running.Wait()
}

// serve carries the bytes of one client until either side ends.
func (f *front) serve(client *tls.Conn, raw net.Conn) {
	defer f.end(raw)
	err := raw.SetDeadline(time.Now().Add(handshakeTimeout))
	if err == nil {
		err = client.Handshake()
	}
	if err == nil {
		err = raw.SetDeadline(time.Time{})
	}
	if err != nil {
		return
	}
	inside, err := f.server.Load().InProcessConn()
	if err != nil || !f.add(inside, maxConnections) {
		return
	}
	defer f.end(inside)
	var both sync.WaitGroup
	both.Go(func() {
		defer f.end(inside, raw)
		_, _ = io.Copy(timed{client}, inside)
	})
	_ = forward(inside, client, func(connect []byte) error { return f.login(raw, connect) })
	f.end(inside) // the server's last words are on their way to the client
	both.Wait()
}

// timed is a client that must take what it gets.
type timed struct{ net.Conn }

func (c timed) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// errProtocol is returned for what no client of this program sends.
var errProtocol = errors.New("not the protocol of a client")

// forward passes the protocol of a client on to the server, until it is not the one that
// this program's clients use.
func forward(to io.Writer, from io.Reader, login func(connect []byte) error) error {
	in := bufio.NewReaderSize(from, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		payload, err := check(line)
		if connect, is := bytes.CutPrefix(line, []byte("CONNECT ")); is && err == nil {
			err = login(connect)
		}
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
		if payload < 0 {
			continue
		}
		if _, err := io.CopyN(to, in, int64(payload)); err != nil {
			return err
		}
		var end [2]byte
		if _, err := io.ReadFull(in, end[:]); err != nil || string(end[:]) != "\r\n" {
			return errProtocol
		}
		if _, err := to.Write(end[:]); err != nil {
			return err
		}
	}
}

// check returns the size of the payload that follows a line of the protocol; -1: none follows.
func check(line []byte) (payload int, err error) {
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || bytes.ContainsAny(text, "\r\n\t\x00") {
		return 0, errProtocol
	}
	words := bytes.Split(text, []byte{' '})
	most := 4 // PUB subject reply size
	switch string(words[0]) {
	case "CONNECT", "SUB", "UNSUB", "PING", "PONG":
		return -1, nil
	case "HPUB": // has the size of the headers too
		most++
	case "PUB":
	default:
		return 0, errProtocol
	}
	if len(words) < most-1 || len(words) > most {
		return 0, errProtocol
	}
	if len(words) == most && !bytes.HasPrefix(words[2], []byte(rights.Inboxes)) {
		return 0, errProtocol
	}
	size, err := strconv.ParseUint(string(words[len(words)-1]), 10, 31)
	if err != nil || size > rights.MaxPayload {
		return 0, errProtocol
	}
	return int(size), nil
}
