package link

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"ccbot/fleet/rights"
)

const (
	maxLine    = 32 << 10              // of the protocol, without a payload
	maxMessage = 2 * rights.MaxPayload // with headers
)

// errProtocol is returned for what no server sends.
var errProtocol = errors.New("not the protocol of a server")

// dialer connects to a hub, whose bytes it checks before the client reads them.
type dialer struct{ config *tls.Config }

// SkipTLSHandshake makes the client leave TLS to Dial.
func (dialer) SkipTLSHandshake() bool { return true }

// Dial returns a connection with TLS. A server without our pin sends its first line before TLS.
func (d dialer) Dial(network, address string) (_ net.Conn, err error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	raw, err := (&net.Dialer{Timeout: connectTimeout}).Dial(network, address)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = raw.Close() // nothing was sent
		}
	}()
	if err := raw.SetDeadline(time.Now().Add(connectTimeout)); err != nil {
		return nil, err
	}
	var first []byte
	if !d.config.InsecureSkipVerify {
		if first, err = readInfo(raw); err != nil {
			return nil, err
		}
	}
	config := d.config.Clone()
	config.ServerName = host
	secure := tls.Client(raw, config)
	if err := secure.Handshake(); err != nil {
		return nil, fmt.Errorf("%w: %w", nats.ErrTLS, err)
	}
	return &checked{Conn: secure, in: bufio.NewReaderSize(io.MultiReader(bytes.NewReader(first), secure), maxLine)}, raw.SetDeadline(time.Time{})
}

// readInfo reads the first line of a server, and not the bytes of TLS that follow it.
func readInfo(from io.Reader) (line []byte, err error) {
	for !bytes.HasSuffix(line, []byte{'\n'}) {
		var one [1]byte
		if _, err := io.ReadFull(from, one[:]); err != nil {
			return nil, err
		}
		if line = append(line, one[0]); len(line) > maxLine {
			return nil, errProtocol
		}
	}
	var info struct {
		Required  bool `json:"tls_required"`
		Available bool `json:"tls_available"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(line, []byte("INFO ")), &info); err != nil {
		return nil, errProtocol
	}
	if !info.Required && !info.Available {
		return nil, nats.ErrSecureConnWanted
	}
	return line, nil
}

// checked is a connection whose reader gets whole messages of a limited size. The client trusts its
// server: it takes as much memory as a message claims to need, and ends the program if that is
// impossible.
type checked struct {
	net.Conn
	in   *bufio.Reader
	next []byte // was read, but by the client not yet
	err  error
}

func (c *checked) Read(p []byte) (int, error) {
	if len(c.next) == 0 && c.err == nil {
		c.next, c.err = readServer(c.in, c.next[:0])
	}
	if c.err != nil {
		return 0, c.err
	}
	n := copy(p, c.next)
	c.next = c.next[n:]
	return n, nil
}

// readServer appends a line of a server, and the payload that follows it.
func readServer(in *bufio.Reader, to []byte) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	size, err := checkServer(line)
	if err != nil {
		return nil, err
	}
	to = append(to, line...)
	if size < 0 {
		return to, nil
	}
	start := len(to)
	to = slices.Grow(to, size+2)[:start+size+2]
	if _, err := io.ReadFull(in, to[start:]); err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(to, []byte("\r\n")) {
		return nil, errProtocol
	}
	return to, nil
}

// checkServer returns the size of the payload that follows a line of a server; -1: none follows.
func checkServer(line []byte) (payload int, err error) {
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || bytes.ContainsAny(text, "\r\n\t\x00") {
		return 0, errProtocol
	}
	verb, rest, _ := bytes.Cut(text, []byte{' '})
	least := 3 // subject sid [reply] size
	switch string(verb) {
	case "INFO", "PING", "PONG", "+OK", "-ERR":
		return -1, nil
	case "HMSG": // has the size of the headers too
		least++
	case "MSG":
	default:
		return 0, errProtocol
	}
	words := bytes.FieldsFunc(rest, func(r rune) bool { return r == ' ' }) // an empty reply leaves two blanks
	if len(words) != least && len(words) != least+1 {
		return 0, errProtocol
	}
	size, err := strconv.ParseUint(string(words[len(words)-1]), 10, 31)
	if err != nil || size > maxMessage {
		return 0, errProtocol
	}
	return int(size), nil
}
