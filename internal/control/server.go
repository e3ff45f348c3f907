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
	"sync"
	"time"

	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
)

const (
	callPatience  = 5 * time.Second // for the whole line
	replyPatience = 5 * time.Second
)

// How many clients there may be at a time. Who is one too many is told codeBusy, and no other verb is in its way.
const (
	maxUnread  = 128 // connections whose call is not read yet
	maxWaiting = 512 // calls of a verb that waits for a person
	maxCalls   = 32  // calls of any other verb
)

// Handler answers a call. Its context ends when the client goes away, which shutting down its writing side is too, and
// when the server stops. The call's version and size are checked, its body is whatever the client wrote.
type Handler func(ctx context.Context, p Peer, c hookwire.Call) (body json.RawMessage, err error)

// Refusal is an error whose code and text the client gets as they are. Of any other error it gets codeInternal, and the
// log the rest.
type Refusal struct {
	Code string // a word for a program
	Text string // a sentence for a person
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Text }

// The codes of the server itself.
const (
	CodeMalformed = "malformed" // the call cannot be read, or is of another version
	CodeUnknown   = "unknown"   // no such verb
	codePeer      = "peer"      // who calls cannot be told
	codeBusy      = "busy"      // too many call already
	codeInternal  = "internal"  // the handler failed
)

// ErrGone is the cause of the end of a handler's context when its client went away. At a stop of the server the cause is
// another one.
var ErrGone = errors.New("the client is gone")

var (
	errPeerGone = errors.New("the process that connected is gone")
	errForeign  = errors.New("the process that connected is another user's")
	errOver     = errors.New("the client is gone, or the server stops")
)

// Server serves one socket.
type Server struct {
	path  string
	table Table
	log   *slog.Logger
	verbs map[string]verb
}

// verb is who answers it, and how many calls at a time.
type verb struct {
	handle Handler
	places chan struct{}
}

// NewServer makes a server for the socket at path.
func NewServer(path string, t Table, log *slog.Logger) *Server {
	return &Server{path: path, table: t, log: log, verbs: make(map[string]verb)}
}

// Handle sets who answers a verb; before Run.
func (s *Server) Handle(name string, h Handler) {
	s.verbs[name] = verb{h, make(chan struct{}, maxCalls)}
}

// HandleWaiting is Handle for a verb whose calls wait for a person: many more are open at a time.
func (s *Server) HandleWaiting(name string, h Handler) {
	s.verbs[name] = verb{h, make(chan struct{}, maxWaiting)}
}

// Run serves until ctx ends (nil). The caller holds ccbot.lock. When it returns no handler runs and the socket is gone.
func (s *Server) Run(ctx context.Context) error {
	l, remove, err := listen(s.path)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	context.AfterFunc(ctx, func() { _ = l.Close() })
	var open sync.WaitGroup
	err = s.accept(ctx, l, &open)
	stop()
	open.Wait()
	return errors.Join(err, remove())
}

// accept takes connections on until ctx ends.
func (s *Server) accept(ctx context.Context, l *net.UnixListener, open *sync.WaitGroup) error {
	unread := make(chan struct{}, maxUnread)
	for {
		conn, err := l.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			if conn != nil {
				return conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("control: %w", err)
		case err != nil: // no file descriptors left, most likely
			s.log.Warn("control_not_accepted", logkey.Error, err.Error())
			_ = pause.For(ctx, time.Second)
			continue
		}
		select {
		case unread <- struct{}{}:
			open.Go(func() { s.serve(ctx, conn, func() { <-unread }) })
		default: // an answer is short, and the first on its connection: it does not wait for the client
			s.reply(conn, nil, busy())
			_ = conn.Close()
		}
	}
}

func busy() error { return &Refusal{codeBusy, "too many ask ccbot at the moment; try again later"} }

// serve does one connection. Its errors are the client's doing and not worth more than a line for debugging. read is
// called once the call is read, or never will be.
func (s *Server) serve(ctx context.Context, conn *net.UnixConn, read func()) {
	defer conn.Close()
	read = sync.OnceFunc(read)
	defer read()
	// At a stop nobody is listened to any more, while an answer that is ready still goes out.
	quiet := context.AfterFunc(ctx, func() { _ = conn.CloseRead() })
	defer quiet()
	peer, err := s.identify(conn)
	if err != nil {
		s.log.Warn("control_peer_unknown", logkey.PID, peer.PID, logkey.UID, peer.UID, logkey.Error, err.Error())
		s.reply(conn, nil, &Refusal{codePeer, "I cannot tell who is calling"})
		return
	}
	call, err := readCall(conn)
	if errors.Is(err, errOver) {
		return
	}
	if err != nil {
		s.log.Debug("control_malformed", logkey.PID, peer.PID, logkey.Error, err.Error())
		s.reply(conn, nil, &Refusal{CodeMalformed, "not a call that this ccbot understands; is it of the same version?"})
		return
	}
	read()
	body, err := s.handle(ctx, conn, peer, call)
	if errors.Is(err, errOver) {
		return // no answer is one: the client may call the next ccbot
	}
	if now, lookErr := s.table.Inspect(peer.PID); lookErr != nil || now.Identity != peer.Chain[0].Identity {
		s.log.Debug("control_peer_gone", logkey.PID, peer.PID)
		return
	}
	s.reply(conn, body, err)
}

// identify asks the kernel who connected.
func (s *Server) identify(conn *net.UnixConn) (p Peer, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var found error
	if err := raw.Control(func(fd uintptr) { p, found = s.peerOf(int(fd)) }); err != nil {
		return Peer{}, err
	}
	return p, found
}

func (s *Server) peerOf(fd int) (Peer, error) {
	pid, uid, still, done, err := credentials(fd)
	if err != nil {
		return Peer{}, err
	}
	defer done()
	p := Peer{PID: pid, UID: uid}
	if uid != os.Geteuid() {
		return p, errForeign
	}
	if p.Chain, p.Whole, err = chainOf(s.table, pid); err != nil {
		return p, err
	}
	return p, still()
}

var errCall = errors.New("not one line of a call")

// readCall reads the one line. What stands behind it would be a second call, and a client that writes two is not ours.
func readCall(conn *net.UnixConn) (hookwire.Call, error) {
	if err := conn.SetReadDeadline(time.Now().Add(callPatience)); err != nil {
		return hookwire.Call{}, err
	}
	r := bufio.NewReader(io.LimitReader(conn, hookwire.MaxCall+1))
	line, err := r.ReadBytes('\n')
	switch {
	case len(line) > hookwire.MaxCall:
		return hookwire.Call{}, fmt.Errorf("%w: too long", errCall)
	case err != nil: // it stopped in the middle, or we do: a client that was only slow may call again
		return hookwire.Call{}, fmt.Errorf("%w: %w", errOver, err)
	case r.Buffered() > 0:
		return hookwire.Call{}, fmt.Errorf("%w: more than one", errCall)
	}
	return hookwire.ReadCall(bytes.TrimSuffix(line, []byte("\n")))
}

// handle runs the handler, and ends its context when the client goes away.
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
		_, _ = conn.Read(make([]byte, 1)) // a client has nothing more to say: a byte is as good as an end
		if ctx.Err() == nil {             // else it was us who stopped to listen
			cancel(ErrGone)
		}
	})
	body, err := v.handle(called, p, c)
	if refusal := (*Refusal)(nil); err != nil && called.Err() != nil && !errors.As(err, &refusal) {
		err = errOver // whatever the handler calls it
	}
	_ = conn.CloseRead()
	watch.Wait()
	return body, err
}

// reply writes the one line. Whether the client still reads it is its own business.
func (s *Server) reply(conn *net.UnixConn, body json.RawMessage, err error) {
	r := hookwire.Reply{Version: hookwire.WireVersion, Body: body}
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		r.Code, r.Error, r.Body = refusal.Code, refusal.Text, nil
	case err != nil:
		s.log.Error("control_failed", logkey.Error, err.Error())
		r.Code, r.Error, r.Body = codeInternal, "something went wrong in ccbot; its log says what", nil
	}
	data, err := encode(r)
	if err != nil || len(data) > hookwire.MaxReply {
		s.log.Error("control_reply_unfit", logkey.Bytes, len(data), logkey.Error, err)
		data = []byte(unfit)
	}
	_ = conn.SetWriteDeadline(time.Now().Add(replyPatience))
	if _, err := conn.Write(data); err != nil {
		s.log.Debug("control_not_written", logkey.Error, err.Error())
	}
}

// unfit is said in place of a reply that cannot be.
const unfit = `{"v":1,"code":"` + codeInternal + `","error":"the answer is too long"}` + "\n"

// encode makes one line. Characters of HTML stay as they are: escaped, a body that fits would not fit any more.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return b.Bytes(), err
}

var _ Table = (*process.Table)(nil)
