package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/sockpeer"
	"ccbot/internal/watch"
)

const (
	callTimeout  = 5 * time.Second // for the whole line
	replyTimeout = 5 * time.Second
)

// The limits for clients at the same time. A call beyond its limit gets codeBusy; each verb has its
// own limit, so calls of one verb never block another verb.
const (
	maxUnread  = 128 // connections whose call is not read yet
	maxWaiting = 512 // calls of a verb that waits for a person
	maxCalls   = 32  // calls of any other verb
)

// Handler answers a call. Its context ends when the client goes away, which includes a client that
// shuts down its writing side, and when the server stops. The version and the size of the call are
// checked; its body is not.
type Handler func(ctx context.Context, p Peer, c hookwire.Call) (body json.RawMessage, err error)

// Refusal is an error that is sent to the client with its code and text unchanged. For any other
// error the client gets codeInternal, and the error goes to the log.
type Refusal struct {
	Code string // a word for a program
	Text string // a sentence for a person
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Text }

// Refuse is a refusal.
func Refuse(code, text string) error { return &Refusal{Code: code, Text: text} }

// Codes of the refusals; the server itself sends the last five.
const (
	CodeForbidden = "forbidden" // this program may not use this verb
	CodeRefused   = "refused"   // this request is refused
	CodeMalformed = "malformed" // the call cannot be read, or is of another version
	CodeUnknown   = "unknown"   // no such verb
	codePeer      = "peer"      // the caller cannot be identified
	codeBusy      = "busy"      // too many calls at the same time
	codeInternal  = "internal"  // the handler failed
)

// ErrGone is the cause of a handler's context when the client went away. When the server stops, the
// cause is another one.
var ErrGone = errors.New("the client is gone")

var (
	errForeign = errors.New("the process that connected is another user's")
	errClosing = errors.New("the client is gone, or the server stops")
)

// Server serves one socket.
type Server struct {
	// Watch, set before Run, reports that the socket was removed. nil: that is not noticed.
	Watch *watch.Watcher
	// Listening, set before Run, is called once, when clients reach the socket. nil: nobody waits for
	// that.
	Listening func()

	path  string
	table Table
	log   *slog.Logger
	verbs map[string]verb
}

// verb is the handler of a verb, and one place for each call that may run at the same time.
type verb struct {
	handle Handler
	places chan struct{}
}

// NewServer makes a server for the socket at path.
func NewServer(path string, t Table, log *slog.Logger) *Server {
	return &Server{path: path, table: t, log: log, verbs: make(map[string]verb)}
}

// Handle sets the handler of a verb. It must be called before Run.
func (s *Server) Handle(name string, h Handler) {
	s.verbs[name] = verb{h, make(chan struct{}, maxCalls)}
}

// HandleWaiting is Handle for a verb with calls that wait for a person: many more of them may be
// open at the same time.
func (s *Server) HandleWaiting(name string, h Handler) {
	s.verbs[name] = verb{h, make(chan struct{}, maxWaiting)}
}

// Run serves until ctx ends (nil). The caller holds ccbot.lock. When Run returns, no handler runs
// and the socket is removed. If the socket is removed or replaced while Run serves, it makes
// another one; calls under way continue.
func (s *Server) Run(ctx context.Context) error {
	l, err := listen(s.path)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	if s.Listening != nil {
		s.Listening()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var open sync.WaitGroup
	for {
		lost, end := context.WithCancel(ctx)
		context.AfterFunc(lost, func() { _ = l.Close() })
		open.Go(func() {
			s.waitLost(lost, l)
			end()
		})
		err = s.accept(ctx, lost, l.UnixListener, &open)
		end()
		if err != nil || ctx.Err() != nil {
			break
		}
		next := s.listenAgain(ctx)
		if next == nil {
			break
		}
		l = next
	}
	stop()
	open.Wait()
	return errors.Join(err, l.remove())
}

// waitLost returns when the socket no longer has its name, or ctx ends.
func (s *Server) waitLost(ctx context.Context, l *listener) {
	if s.Watch == nil {
		<-ctx.Done()
		return
	}
	name := filepath.Base(s.path)
	w := s.Watch.Watch(filepath.Dir(s.path), func(entry string, _ bool) bool { return entry == name })
	defer w.Close()
	for {
		if _, err := w.Wait(ctx); err != nil || l.isLost() {
			return
		}
	}
}

// listenAgain makes the socket again, and tries until it can. It returns nil if ctx ends first.
func (s *Server) listenAgain(ctx context.Context) *listener {
	pauses := pause.Backoff{Min: time.Second, Max: time.Minute}
	for {
		l, err := listen(s.path)
		if err == nil {
			s.log.Warn("control_socket_made_again", logkey.Path, s.path)
			return l
		}
		s.log.Warn("control_socket_not_made", logkey.Error, err)
		if pause.For(ctx, pauses.Next()) != nil {
			return nil
		}
	}
}

// accept accepts connections until ctx ends or the socket is lost.
func (s *Server) accept(ctx, lost context.Context, l *net.UnixListener, open *sync.WaitGroup) error {
	unread := make(chan struct{}, maxUnread)
	for {
		conn, err := l.AcceptUnix()
		switch {
		case lost.Err() != nil:
			if conn != nil {
				return conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("control: %w", err)
		case err != nil: // most likely no file descriptors are left
			s.log.Warn("control_not_accepted", logkey.Error, err)
			_ = pause.For(lost, time.Second)
			continue
		}
		select {
		case unread <- struct{}{}:
			open.Go(func() { s.serve(ctx, conn, func() { <-unread }) })
		default:
			// This reply is short, and the first on its connection: writing it does not wait for
			// the client.
			s.reply(conn, nil, busy())
			_ = conn.Close()
		}
	}
}

func busy() error { return &Refusal{codeBusy, "too many ask ccbot at the moment; try again later"} }

// serve handles one connection. Its errors are caused by the client, so a debug line in the log is
// enough. read is called once, when the call has been read or never will be.
func (s *Server) serve(ctx context.Context, conn *net.UnixConn, read func()) {
	defer conn.Close()
	read = sync.OnceFunc(read)
	defer read()
	// When the server stops, nothing more is read from the client, but an answer that is ready is
	// still sent.
	quiet := context.AfterFunc(ctx, func() { _ = conn.CloseRead() })
	defer quiet()
	var peer Peer
	err := sockpeer.Look(conn, func(pid, uid int) (err error) { peer, err = s.peerOf(pid, uid); return err })
	if err != nil {
		s.log.Warn("control_peer_unknown", logkey.PID, peer.PID, logkey.UID, peer.UID, logkey.Error, err)
		s.reply(conn, nil, &Refusal{codePeer, "the caller cannot be identified"})
		return
	}
	call, err := readCall(conn)
	if errors.Is(err, errClosing) {
		return
	}
	if err != nil {
		s.log.Debug("control_malformed", logkey.PID, peer.PID, logkey.Error, err)
		s.reply(conn, nil, &Refusal{CodeMalformed, "not a call that this ccbot understands; is it of the same version?"})
		return
	}
	read()
	body, err := s.handle(ctx, conn, peer, call)
	if errors.Is(err, errClosing) {
		return // no reply: the client may call the next ccbot
	}
	if now, lookErr := s.table.Inspect(peer.PID); lookErr != nil || now.Identity != peer.Chain[0].Identity {
		s.log.Debug("control_peer_gone", logkey.PID, peer.PID)
		return
	}
	s.reply(conn, body, err)
}

// peerOf describes the process that has connected.
func (s *Server) peerOf(pid, uid int) (p Peer, err error) {
	p = Peer{PID: pid, UID: uid}
	if uid != os.Geteuid() {
		return p, errForeign
	}
	p.Chain, p.Whole, err = chainOf(s.table, pid)
	return p, err
}

var errCall = errors.New("not one line of a call")

// readCall reads the one line. More data would be a second call, which no client of ccbot sends.
func readCall(conn *net.UnixConn) (hookwire.Call, error) {
	if err := conn.SetReadDeadline(time.Now().Add(callTimeout)); err != nil {
		return hookwire.Call{}, err
	}
	r := bufio.NewReader(io.LimitReader(conn, hookwire.MaxCall+1))
	line, err := r.ReadBytes('\n')
	switch {
	case len(line) > hookwire.MaxCall:
		return hookwire.Call{}, fmt.Errorf("%w: too long", errCall)
	case err != nil:
		// The client stopped in the middle, or the server stops: a client that was only slow may
		// call again.
		return hookwire.Call{}, fmt.Errorf("%w: %w", errClosing, err)
	case r.Buffered() > 0:
		return hookwire.Call{}, fmt.Errorf("%w: more than one", errCall)
	}
	return hookwire.ReadCall(bytes.TrimSuffix(line, []byte("\n")))
}

// handle runs the handler, and ends the handler's context when the client goes away.
func (s *Server) handle(ctx context.Context, conn *net.UnixConn, p Peer, c hookwire.Call) (json.RawMessage, error) {
	v, ok := s.verbs[c.Verb]
	if !ok {
		return nil, &Refusal{CodeUnknown, "this ccbot does not know that verb; is it of the same version?"}
	}
	select {
	case v.places <- struct{}{}:
		defer func() { <-v.places }()
	default:
		s.log.Warn("control_busy", logkey.Verb, c.Verb)
		return nil, busy()
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	called, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watch sync.WaitGroup
	watch.Go(func() {
		// A client has nothing more to send: a byte means the same as the end.
		_, _ = conn.Read(make([]byte, 1))
		if ctx.Err() == nil { // otherwise it was the server that stopped reading
			cancel(ErrGone)
		}
	})
	body, err := v.handle(called, p, c)
	if refusal := (*Refusal)(nil); err != nil && called.Err() != nil && !errors.As(err, &refusal) {
		err = errClosing // whatever error the handler returned
	}
	_ = conn.CloseRead()
	watch.Wait()
	return body, err
}

// reply writes the one line. A client that does not read it is no error of the server.
func (s *Server) reply(conn *net.UnixConn, body json.RawMessage, err error) {
	r := hookwire.Reply{Version: hookwire.WireVersion, Body: body}
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		r.Code, r.Error, r.Body = refusal.Code, refusal.Text, nil
	case err != nil:
		s.log.Error("control_failed", logkey.Error, err)
		r.Code, r.Error, r.Body = codeInternal, "internal error in ccbot; see its log", nil
	}
	data, err := hookwire.Line(r)
	if err != nil || len(data) > hookwire.MaxReply {
		s.log.Error("control_reply_unfit", logkey.Bytes, len(data), logkey.Error, err)
		data = []byte(unfit)
	}
	_ = conn.SetWriteDeadline(time.Now().Add(replyTimeout))
	if _, err := conn.Write(data); err != nil {
		s.log.Debug("control_not_written", logkey.Error, err)
	}
}

// unfit is sent instead of a reply that cannot be sent.
const unfit = `{"v":1,"code":"` + codeInternal + `","error":"the answer is too long"}` + "\n"

var _ Table = (*process.Table)(nil)
