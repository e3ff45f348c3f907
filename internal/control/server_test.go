package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
	"ccbot/internal/hookwire"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/waittest"
	"ccbot/internal/watch"
)

const (
	timeout = 2 * time.Minute
	tick    = 5 * time.Millisecond
)

// service is a running server with a separate socket.
type service struct {
	*Server
	stop func() error // ends Run and returns its error
}

// newService makes a server that is not running yet.
func newService(t *testing.T) *service {
	t.Helper()
	table, err := process.NewTable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "control") // t.TempDir may be too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return &service{Server: NewServer(filepath.Join(dir, "s"), table, slog.New(slog.DiscardHandler))}
}

func (s *service) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { assert.NoError(t, s.stop()) })
	waittest.Until(t, func() bool { return exists(s.path) })
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// echo returns the body of the call.
func echo(_ context.Context, _ Peer, c hookwire.Call) (json.RawMessage, error) { return c.Body, nil }

// waiting is a handler that reports its call, and then waits for the end of its context.
type waiting struct {
	called chan struct{}
	cause  chan error
}

func newWaiting() *waiting { return &waiting{make(chan struct{}, 200), make(chan error, 200)} }

func (w *waiting) handle(ctx context.Context, _ Peer, _ hookwire.Call) (json.RawMessage, error) {
	w.called <- struct{}{}
	<-ctx.Done()
	w.cause <- context.Cause(ctx)
	return nil, ctx.Err()
}

func (s *service) dial(t *testing.T) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: s.path, Net: "unix"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// say writes to a new connection and returns everything read until its end.
func (s *service) say(t *testing.T, text string) string {
	t.Helper()
	conn := s.dial(t)
	_, _ = io.WriteString(conn, text) // it may be turned away before the end
	reply, _ := io.ReadAll(conn)
	return string(reply)
}

func TestDo(t *testing.T) {
	s := newService(t)
	s.Handle("echo", echo)
	s.Handle("refuse", func(context.Context, Peer, hookwire.Call) (json.RawMessage, error) {
		return json.RawMessage(`"secret"`), fmt.Errorf("x: %w", &Refusal{"no", "not today"})
	})
	s.Handle("fail", func(context.Context, Peer, hookwire.Call) (json.RawMessage, error) {
		return nil, errors.New("a secret path")
	})
	s.Handle("long", func(context.Context, Peer, hookwire.Call) (json.RawMessage, error) {
		return json.Marshal(strings.Repeat("x", hookwire.MaxReply))
	})
	s.run(t)
	big := json.RawMessage(`"` + strings.Repeat("x", 7<<20) + `"`)
	tests := []struct {
		name, verb string
		body       json.RawMessage
		want       string
		refusal    *Refusal
	}{
		{name: "yes", verb: "echo", body: json.RawMessage(`{"a":1}`), want: `{"a":1}`},
		{name: "nothing", verb: "echo", want: ""},
		{name: "large", verb: "echo", body: big, want: string(big)},
		{name: "refused", verb: "refuse", refusal: &Refusal{"no", "not today"}},
		{name: "no such verb", verb: "dance", refusal: &Refusal{CodeUnknown, "this ccbot does not know that verb; is it of the same version?"}},
		{name: "failed", verb: "fail", refusal: &Refusal{codeInternal, "internal error in ccbot; see its log"}},
		{name: "reply too long", verb: "long", refusal: &Refusal{codeInternal, "the answer is too long"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body, err := Do(t.Context(), s.path, hookwire.Call{Verb: tt.verb, Body: tt.body})
			if tt.refusal != nil {
				refusal := (*Refusal)(nil)
				require.ErrorAs(t, err, &refusal)
				assert.Equal(t, tt.refusal, refusal)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(body))
		})
	}
	_, err := Do(t.Context(), s.path, hookwire.Call{Verb: "echo", Body: json.RawMessage(`"` + strings.Repeat("x", hookwire.MaxCall) + `"`)})
	assert.ErrorContains(t, err, "too long")
}

// TestCallAfterListening: whoever was told that the server listens reaches it, although a server
// that was killed has left its socket.
func TestCallAfterListening(t *testing.T) {
	s := newService(t)
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.path, Net: "unix"})
	require.NoError(t, err)
	left.SetUnlinkOnClose(false)
	require.NoError(t, left.Close())
	s.Handle("echo", echo)
	listening := make(chan struct{})
	s.Listening = func() { close(listening) }
	s.run(t)
	waittest.Next(t, listening, "the server listens")
	body, err := Do(t.Context(), s.path, hookwire.Call{Verb: "echo", Body: json.RawMessage(`"hello"`)})
	require.NoError(t, err)
	assert.JSONEq(t, `"hello"`, string(body))
}

func TestDoWithoutAServer(t *testing.T) {
	s := newService(t)
	_, err := Do(t.Context(), s.path, hookwire.Call{Verb: "echo"})
	assert.ErrorIs(t, err, ErrNoServer)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	_, err = Do(t.Context(), s.path, hookwire.Call{Verb: "echo"})
	assert.ErrorIs(t, err, ErrNoServer, "a stale socket is none")
}

// Anything but exactly one call is answered with an error.
func TestP9_OnlyWholeCallsReachAHandler(t *testing.T) {
	s := newService(t)
	s.Handle("echo", func(context.Context, Peer, hookwire.Call) (json.RawMessage, error) {
		t.Error("the handler was called")
		return nil, nil
	})
	s.run(t)
	tests := []struct{ name, text string }{
		{"empty", "\n"},
		{"not JSON", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
		{"another version", `{"v":2,"verb":"echo"}` + "\n"},
		{"no version", `{"verb":"echo"}` + "\n"},
		{"two calls", strings.Repeat(`{"v":1,"verb":"echo"}`+"\n", 2)},
		{"two on a line", `{"v":1,"verb":"echo"}{"v":1,"verb":"echo"}` + "\n"},
		{"a list", "[]\n"},
		{"too long", `{"v":1,"verb":"echo","body":"` + strings.Repeat("x", hookwire.MaxCall) + "\"}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reply, err := hookwire.ReadReply([]byte(strings.TrimSpace(s.say(t, tt.text))))
			require.NoError(t, err)
			assert.Equal(t, CodeMalformed, reply.Code)
			assert.NotEmpty(t, reply.Error)
		})
	}
	conn := s.dial(t)
	_, err := io.WriteString(conn, `{"v":1,"verb":"echo"}`)
	require.NoError(t, err)
	require.NoError(t, conn.CloseWrite(), "the line is never ended")
	reply, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Empty(t, reply)
}

// Silent and waiting clients do not delay the others.
func TestP10_SlowClientsHoldNobodyUp(t *testing.T) {
	s := newService(t)
	w := newWaiting()
	s.HandleWaiting("wait", w.handle)
	s.Handle("echo", echo)
	s.run(t)
	for range 40 {
		s.dial(t)
		_, err := io.WriteString(s.dial(t), `{"v":1,"verb":"wait"}`+"\n")
		require.NoError(t, err)
	}
	for range 40 {
		<-w.called
	}
	_, err := Do(t.Context(), s.path, hookwire.Call{Verb: "echo"})
	require.NoError(t, err)
	require.NoError(t, s.stop(), "nobody holds up the end either")
}

// TestHandlerEndsWithClient: the context ends however the client leaves.
func TestHandlerEndsWithClient(t *testing.T) {
	tests := []struct {
		name  string
		leave func(c *net.UnixConn) error
	}{
		{"closed", func(c *net.UnixConn) error { return c.Close() }},
		{"half closed", func(c *net.UnixConn) error { return c.CloseWrite() }},
		{"says more", func(c *net.UnixConn) error { _, err := io.WriteString(c, "x"); return err }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t)
			w := newWaiting()
			s.Handle("wait", w.handle)
			s.run(t)
			conn := s.dial(t)
			_, err := io.WriteString(conn, `{"v":1,"verb":"wait"}`+"\n")
			require.NoError(t, err)
			<-w.called
			require.NoError(t, tt.leave(conn))
			assert.ErrorIs(t, <-w.cause, ErrGone)
		})
	}
	t.Run("gives up", func(t *testing.T) {
		s := newService(t)
		w := newWaiting()
		s.Handle("wait", w.handle)
		s.run(t)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-w.called
			cancel()
		}()
		_, err := Do(ctx, s.path, hookwire.Call{Verb: "wait"})
		require.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, <-w.cause, ErrGone)
	})
}

// At a stop waiting clients lose the connection and may call the next ccbot; a ready answer still
// arrives; a late client does not hang.
func TestP10_StopSendsNoAnswer(t *testing.T) {
	s := newService(t)
	w := newWaiting()
	s.Handle("wait", w.handle)
	ready := make(chan struct{})
	s.Handle("decided", func(ctx context.Context, _ Peer, _ hookwire.Call) (json.RawMessage, error) {
		close(ready)
		<-ctx.Done()
		return json.RawMessage(`"yes"`), nil
	})
	s.run(t)
	waits, decided := make(chan error, 1), make(chan string, 1)
	go func() {
		_, err := Do(t.Context(), s.path, hookwire.Call{Verb: "wait"})
		waits <- err
	}()
	go func() {
		body, err := Do(t.Context(), s.path, hookwire.Call{Verb: "decided"})
		decided <- fmt.Sprint(string(body), err)
	}()
	silent := s.dial(t)
	<-w.called
	<-ready
	require.NoError(t, s.stop())
	refusal := (*Refusal)(nil)
	err := <-waits
	require.ErrorIs(t, err, ErrLost)
	assert.False(t, errors.As(err, &refusal))
	assert.NotErrorIs(t, <-w.cause, ErrGone, "it is still there")
	assert.Equal(t, `"yes"<nil>`, <-decided)
	_, err = bufio.NewReader(silent).ReadByte()
	assert.Error(t, err, "who was about to say something has no answer either, and may call the next one")
	_, err = Do(t.Context(), s.path, hookwire.Call{Verb: "wait"})
	require.ErrorIs(t, err, ErrNoServer)
	assert.NoFileExists(t, s.path)
}

// TestImpatientClientsAtStop: whoever connects while the server stops gets an error or an answer.
func TestImpatientClientsAtStop(t *testing.T) {
	for range 20 {
		s := newService(t)
		s.Handle("echo", echo)
		s.run(t)
		var clients sync.WaitGroup
		begin := make(chan struct{})
		for range 8 {
			clients.Go(func() {
				<-begin
				_, err := Do(t.Context(), s.path, hookwire.Call{Verb: "echo"})
				if err != nil && !errors.Is(err, ErrLost) && !errors.Is(err, ErrNoServer) {
					t.Error(err)
				}
			})
		}
		close(begin)
		require.NoError(t, s.stop())
		clients.Wait()
	}
}

// TestP9_SocketReplacesOnlyOwnSocket puts other files in the socket's place.
func TestP9_SocketReplacesOnlyOwnSocket(t *testing.T) {
	stale := func(t *testing.T, path string) {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		require.NoError(t, err)
		l.SetUnlinkOnClose(false)
		require.NoError(t, l.Close())
	}
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		ok   bool
	}{
		{"nothing", func(*testing.T, string) {}, true},
		{"a stale socket", stale, true},
		{"what a killed start left", func(t *testing.T, path string) { stale(t, path+"~") }, true},
		{"a file", func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("x"), 0o600)) }, false},
		{"a file beside it", func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path+"~", []byte("x"), 0o600)) }, false},
		{"a folder", func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, false},
		{"a FIFO", func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) }, false},
		{"a link to a socket", func(t *testing.T, path string) {
			stale(t, path+".other")
			require.NoError(t, os.Symlink(path+".other", path))
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t)
			tt.make(t, s.path)
			before, _ := os.Lstat(s.path)
			if !tt.ok {
				require.ErrorIs(t, s.Run(t.Context()), ErrNotASocket)
				after, err := os.Lstat(s.path)
				assert.Equal(t, before == nil, errors.Is(err, fs.ErrNotExist))
				assert.True(t, before == nil || os.SameFile(before, after), "it is untouched")
				return
			}
			s.Handle("echo", echo)
			s.run(t)
			waittest.Until(t, func() bool {
				_, err := Do(t.Context(), s.path, hookwire.Call{Verb: "echo"})
				return err == nil
			})
			info, err := os.Lstat(s.path)
			require.NoError(t, err)
			assert.Equal(t, fs.ModeSocket|0o600, info.Mode())
			assert.NoFileExists(t, s.path+"~")
			require.NoError(t, s.stop())
			assert.False(t, exists(s.path))
		})
	}
}

func TestTooLongPath(t *testing.T) {
	s := newService(t)
	s.path = filepath.Join(filepath.Dir(s.path), strings.Repeat("x", 120))
	require.ErrorIs(t, s.Run(t.Context()), ErrLongPath)
}

// The next ccbot's socket is not removed by the end of this one.
func TestEndRemovesOwnSocketOnly(t *testing.T) {
	s := newService(t)
	s.run(t)
	require.NoError(t, os.Remove(s.path))
	require.NoError(t, os.WriteFile(s.path, nil, 0o600))
	require.NoError(t, s.stop())
	assert.FileExists(t, s.path)
}

// FuzzServerLine writes anything to a server: it answers an error or closes, and a handler sees
// only what ReadCall takes.
func FuzzServerLine(f *testing.F) {
	for _, seed := range []string{"", "\n", "{}\n", `{"v":1,"verb":"echo","body":{"a":1}}` + "\n", `{"v":1,"verb":"dance"}` + "\n",
		`{"v":1,"verb":"echo"}` + "\n\n", `{"v":99,"verb":"echo"}` + "\n", "\x00\xff\n", `{"v":1,"verb":"echo","body":nope}` + "\n"} {
		f.Add([]byte(seed))
	}
	table, err := process.NewTable()
	require.NoError(f, err)
	dir, err := os.MkdirTemp("", "control")
	require.NoError(f, err)
	f.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := NewServer(filepath.Join(dir, "s"), table, slog.New(slog.DiscardHandler))
	calls := make(chan hookwire.Call, 1)
	s.Handle("echo", func(_ context.Context, _ Peer, c hookwire.Call) (json.RawMessage, error) {
		calls <- c
		return c.Body, nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	f.Cleanup(func() {
		cancel()
		<-ended
	})
	for !exists(s.path) {
		_ = pause.For(ctx, tick)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: s.path, Net: "unix"})
		require.NoError(t, err)
		defer conn.Close()
		_, _ = conn.Write(data)
		_ = conn.CloseWrite()
		reply, _ := io.ReadAll(conn)
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		select {
		case got := <-calls:
			want, err := hookwire.ReadCall(line)
			require.NoError(t, err)
			require.True(t, whole && len(rest) == 0)
			require.Equal(t, want, got)
		default:
			if !whole && len(reply) == 0 {
				return
			}
			r, err := hookwire.ReadReply(bytes.TrimSuffix(reply, []byte("\n")))
			require.NoError(t, err)
			require.NotEmpty(t, r.Code)
		}
	})
}

// TestRemovedSocketIsMadeAgain: a call that is under way continues, and new calls are served.
func TestRemovedSocketIsMadeAgain(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced by another socket": func(path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path + "2", Net: "unix"})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return errors.Join(l.Close(), os.Rename(path+"2", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newService(t), newWaiting()
			var out lockedBuffer
			s.log = slog.New(slog.NewTextHandler(&out, nil))
			s.HandleWaiting("wait", w.handle)
			s.Handle("echo", echo)
			s.watched(t)
			s.run(t)
			waits := s.dial(t)
			_, err := io.WriteString(waits, `{"v":1,"verb":"wait"}`+"\n")
			require.NoError(t, err)
			<-w.called
			for range 2 {
				require.NoError(t, replace(s.path))
				waittest.Until(t, func() bool {
					_, err := Do(t.Context(), s.path, hookwire.Call{Verb: "echo"})
					return err == nil
				})
			}
			info, err := os.Lstat(s.path)
			require.NoError(t, err)
			assert.Equal(t, fs.ModeSocket|0o600, info.Mode())
			assert.Empty(t, w.cause, "the call still waits")
			require.NoError(t, s.stop())
			require.Error(t, <-w.cause)
			assert.False(t, exists(s.path))
			assert.Equal(t, 2, out.lines("control_socket_made_again"))
			assert.Zero(t, out.lines("control_socket_not_made"))
		})
	}
}

// A failed check of the socket does not count as its loss.
func TestUnknownSocketIsNotLost(t *testing.T) {
	l, err := listen(newService(t).path)
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.Remove(l.path))
	end := disk.Fail(func(string, string) error { return syscall.EIO })
	defer end()
	assert.False(t, l.isLost())
	end()
	assert.True(t, l.isLost())
}

// TestSocketIsMadeAgainLater: while something else has the name, or the disk fails, that is logged
// and nothing is removed.
func TestSocketIsMadeAgainLater(t *testing.T) {
	s := newService(t)
	var out lockedBuffer
	s.log = slog.New(slog.NewTextHandler(&out, nil))
	s.Handle("echo", echo)
	s.watched(t)
	s.run(t)
	file := s.path + "2"
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Rename(file, s.path))
	waittest.Until(t, func() bool { return out.lines("control_socket_not_made") > 0 })
	end := disk.Fail(func(_, path string) error {
		if path == s.path+"~" {
			return syscall.EIO
		}
		return nil
	})
	defer end()
	require.NoError(t, os.Remove(s.path))
	before := out.lines("control_socket_not_made")
	waittest.Until(t, func() bool { return out.lines("control_socket_not_made") > before })
	assert.False(t, exists(s.path))
	end()
	waittest.Until(t, func() bool {
		_, err := Do(t.Context(), s.path, hookwire.Call{Verb: "echo"})
		return err == nil
	})
}

// watched adds a running Watcher to the server.
func (s *service) watched(t *testing.T) {
	t.Helper()
	s.Watch = watch.New(slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Watch.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}
