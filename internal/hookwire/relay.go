package hookwire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Errors of Relay. The others are ErrMalformed (the bot's reply cannot be read), errNoClaude (the
// process that asked is gone) and the context's error.
var (
	errNoBot   = errors.New("no bot listens")
	ErrRefused = errors.New("the bot refused") // with the bot's sentence
	errTooLong = errors.New("does not fit a line")
)

// errLost means that a connection ended without a reply: a bot that is started again will answer
// the question.
var errLost = errors.New("connection lost")

// Times of a question and of the redials after a lost connection.
const (
	writeBound    = 5 * time.Second        // for the bot to take the line
	firstPause    = 100 * time.Millisecond // before the first redial, doubling up to longPause
	longPause     = 2 * time.Second
	timeout       = 10 * time.Minute // of the redials, since the loss
	settled       = 5 * time.Second  // a connection that lasted so long ends the outage
	checkInterval = time.Minute      // at the process that asks, while the bot is silent
)

// Relay asks the bot of the state folder dir and waits for its answer, as long as a person needs.
// An empty Answer leaves the question to the terminal. Without a bot at the first dial Relay
// returns errNoBot at once; a connection that is lost later is dialled again with the same request
// id for ten minutes. Relay ends when ask.AgentPID has ended: it checks that process before each
// redial, and every checkInterval while the bot is silent. It reads no environment, prints nothing
// and writes no file.
func Relay(ctx context.Context, dir string, ask Ask) (Answer, error) {
	body, err := Line(ask)
	if err != nil {
		return Answer{}, fmt.Errorf("relay: %w", err)
	}
	call, err := Line(Call{Version: WireVersion, Verb: VerbPermission, ID: NewRequestID(), Body: body})
	if err != nil {
		return Answer{}, fmt.Errorf("relay: %w", err)
	}
	if len(call) > MaxCall {
		return Answer{}, fmt.Errorf("relay: %d bytes: %w", len(call), errTooLong)
	}
	r := relay{
		socket: filepath.Join(dir, SocketName), call: call,
		alive: func() bool { return ask.AgentPID == 0 || lives(ask.AgentPID, ask.AgentStart) },
		now:   time.Now, pause: pause, look: checkInterval,
	}
	answer, err := r.run(ctx)
	if err != nil {
		return Answer{}, fmt.Errorf("relay: %w", err)
	}
	return answer, nil
}

// relay is one question and how to ask it.
type relay struct {
	socket string
	call   []byte
	alive  func() bool // whether the process that asks still lives
	now    func() time.Time
	pause  func(ctx context.Context, d time.Duration) error
	look   time.Duration // checkInterval
}

// outage is a period of redials.
type outage struct {
	since time.Time
	next  time.Duration // the pause before the next redial
}

func (r relay) run(ctx context.Context) (Answer, error) {
	conn, err := dial(r.socket)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", errNoBot, err)
	}
	var out outage
	for {
		began := r.now()
		answer, err := r.ask(ctx, conn)
		if !errors.Is(err, errLost) {
			return answer, err
		}
		// A bot that accepts and hangs up at once does not end the outage: its ten minutes
		// continue.
		if now := r.now(); out.since.IsZero() || now.Sub(began) >= settled {
			out = outage{now, firstPause}
		}
		if conn, err = r.redial(ctx, &out); err != nil {
			return Answer{}, err
		}
	}
}

func (r relay) redial(ctx context.Context, out *outage) (*os.File, error) {
	for r.now().Sub(out.since) < timeout {
		if err := r.pause(ctx, out.next); err != nil {
			return nil, err
		}
		out.next = min(2*out.next, longPause)
		if !r.alive() {
			return nil, errNoClaude
		}
		if conn, err := dial(r.socket); err == nil {
			return conn, nil
		}
	}
	return nil, errNoBot
}

// ask writes the call, waits for the reply and closes the connection. The error is errLost when the
// connection ended without a reply.
func (r relay) ask(ctx context.Context, conn *os.File) (answer Answer, err error) {
	defer func() { _ = conn.Close() }() // everything is read or lost
	if err := conn.SetWriteDeadline(r.now().Add(writeBound)); err != nil {
		return Answer{}, err
	}
	// Ends a blocked read or write.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	reply, err := r.exchange(ctx, conn)
	if cause := ctx.Err(); cause != nil {
		return Answer{}, cause
	}
	if err != nil {
		return Answer{}, err
	}
	if reply.Error != "" || reply.Code != "" {
		return Answer{}, fmt.Errorf("%w: %s: %s", ErrRefused, clip(reply.Code, maxField), clip(reply.Error, maxField))
	}
	return readAnswer(reply.Body)
}

// exchange writes the call and reads the reply. A bot that refuses a client replies without reading
// the whole call, so a write that fails does not yet mean that there is no reply.
func (r relay) exchange(ctx context.Context, conn *os.File) (Reply, error) {
	_, writeErr := conn.Write(r.call)
	if writeErr != nil && !errors.Is(writeErr, syscall.EPIPE) && !errors.Is(writeErr, syscall.ECONNRESET) {
		return Reply{}, fmt.Errorf("%w: %w", errLost, writeErr)
	}
	line, err := bufio.NewReader(io.LimitReader(reply{ctx, r, conn}, MaxReply)).ReadBytes('\n')
	if len(line) == MaxReply && err != nil {
		return Reply{}, fmt.Errorf("reply: %w: more than %d bytes", ErrMalformed, MaxReply)
	}
	if errors.Is(err, errNoClaude) {
		return Reply{}, err
	}
	if err != nil {
		return Reply{}, fmt.Errorf("%w: %w", errLost, errors.Join(writeErr, err))
	}
	return ReadReply(line)
}

// reply reads the bot's reply, without a time limit, as long as the asking process lives. When
// Claude Code is killed its hook does not end, and the bot may not notice the kill.
type reply struct {
	context.Context
	relay
	conn *os.File
}

func (r reply) Read(b []byte) (int, error) {
	for {
		if err := r.conn.SetReadDeadline(r.now().Add(r.look)); err != nil {
			return 0, err
		}
		// The end of ctx may have set its deadline right before ours.
		if err := r.Err(); err != nil {
			return 0, err
		}
		n, err := r.conn.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if !r.alive() {
			return 0, errNoClaude
		}
	}
}

// pause waits unless the context ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// dialBound is how long connecting to a bot may take. For a bot that works, the kernel accepts at
// once; only for a bot that hangs does the queue of connections fill up.
const dialBound = 2 * time.Second

// dial connects to a unix socket. It calls the kernel directly: package net would double the size
// of the hook, and every prompt has to wait for the start of the hook. The returned file supports
// deadlines.
func dial(path string) (*os.File, error) {
	syscall.ForkLock.RLock() // no child may be started between the two steps
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := connect(fd, path); err != nil {
		_ = syscall.Close(fd) // nothing was written to it
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// connect limits the wait by the time limit for sending, which Linux applies to connect as well
// (unix(7)); darwin does not wait. The socket becomes non-blocking, as the poller needs it, only
// after connect.
func connect(fd int, path string) error {
	limit := syscall.NsecToTimeval(dialBound.Nanoseconds())
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	_, err := again(func() (int, error) { return 0, syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) })
	if err != nil {
		return os.NewSyscallError("connect", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return os.NewSyscallError("setnonblock", err)
	}
	return nil
}
