package hookwire

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bot is the other end of the socket.
type bot struct {
	t *testing.T
	l net.Listener
}

// shortDir is a folder whose socket path fits the 104 bytes of darwin.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hw")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func listen(t *testing.T, dir string) bot {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, SocketName))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // a test may have closed it
	return bot{t, l}
}

// next takes one connection and reads its call.
func (b bot) next() (net.Conn, Call) {
	b.t.Helper()
	conn, err := b.l.Accept()
	require.NoError(b.t, err)
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	require.NoError(b.t, err)
	c, err := ReadCall(line)
	require.NoError(b.t, err)
	return conn, c
}

// say writes and hangs up.
func (b bot) say(conn net.Conn, text string) {
	b.t.Helper()
	_, err := conn.Write([]byte(text))
	assert.NoError(b.t, err)
	assert.NoError(b.t, conn.Close())
}

type outcome struct {
	answer Answer
	err    error
}

// relayed runs Relay in a goroutine.
func relayed(ctx context.Context, dir string, ask Ask) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		answer, err := Relay(ctx, dir, ask)
		done <- outcome{answer, err}
	}()
	return done
}

// living is a question of a process that is there.
func living(t *testing.T) Ask {
	t.Helper()
	self, err := readParent(os.Getpid())
	require.NoError(t, err)
	a := someAsk()
	a.AgentPID, a.AgentStart = self.PID, self.Start
	return a
}

func TestRelay_Answered(t *testing.T) {
	dir := shortDir(t)
	b := listen(t, dir)
	ask := living(t)
	done := relayed(t.Context(), dir, ask)
	conn, c := b.next()
	assert.Equal(t, VerbPermission, c.Verb)
	assert.True(t, IsRequestID(c.ID))
	got, err := ReadAsk(c.Body)
	require.NoError(t, err)
	assert.Equal(t, ask, got)
	b.say(conn, `{"v":1,"body":{"decision":{"behavior":"allow"}}}`+"\n")
	out := <-done
	require.NoError(t, out.err)
	assert.Equal(t, `{"behavior":"allow"}`, string(out.answer.Decision))
}

func TestRelay_BigQuestionAndAnswer(t *testing.T) {
	dir := shortDir(t)
	b := listen(t, dir)
	ask := living(t)
	ask.Input = json.RawMessage(`{"content":"` + strings.Repeat("<", 6<<20) + `"}`)
	done := relayed(t.Context(), dir, ask)
	conn, c := b.next()
	assert.Contains(t, string(c.Body), string(ask.Input))
	message := strings.Repeat("x", 6<<20)
	b.say(conn, `{"v":1,"body":{"decision":{"behavior":"deny","message":"`+message+`"}}}`+"\n")
	out := <-done
	require.NoError(t, out.err)
	assert.Contains(t, string(out.answer.Decision), message)
}

func TestP10_RelayWithoutBotEndsAtOnce(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
	}{
		{"nothing there", func(*testing.T, string) {}},
		{"a file", func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) }},
		{"a socket that nobody listens on", func(t *testing.T, path string) {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			require.NoError(t, err)
			l.SetUnlinkOnClose(false)
			require.NoError(t, l.Close())
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := shortDir(t)
			tt.make(t, filepath.Join(dir, SocketName))
			_, err := Relay(t.Context(), dir, living(t))
			assert.ErrorIs(t, err, errNoBot)
		})
	}
	_, err := Relay(t.Context(), "/"+strings.Repeat("x", 200), living(t))
	assert.ErrorIs(t, err, errNoBot, "a path that no socket can have")
}

func TestP10_RelayRejectsOtherReplies(t *testing.T) {
	tests := []struct {
		name, reply string
		want        error
	}{
		{"garbage", "allow\n", ErrMalformed},
		{"another version", `{"v":2,"body":{"decision":{"behavior":"allow"}}}` + "\n", ErrMalformed},
		{"another behavior", `{"v":1,"body":{"decision":{"behavior":"maybe"}}}` + "\n", ErrMalformed},
		{"too much", strings.Repeat("x", MaxReply+1), ErrMalformed},
		{"an error", `{"v":1,"error":"not here","code":"unknown"}` + "\n", ErrRefused},
		{"an error with a decision", `{"v":1,"error":"not here","body":{"decision":{"behavior":"allow"}}}` + "\n", ErrRefused},
		{"nothing", `{"v":1}` + "\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := shortDir(t)
			b := listen(t, dir)
			done := relayed(t.Context(), dir, living(t))
			conn, _ := b.next()
			_, _ = conn.Write([]byte(tt.reply)) // the client may hang up before the end
			require.NoError(t, conn.Close())
			out := <-done
			require.ErrorIs(t, out.err, tt.want)
			assert.Nil(t, out.answer.Decision)
		})
	}
}

func TestRelay_TooLongForALine(t *testing.T) {
	dir := shortDir(t)
	listen(t, dir)
	ask := living(t)
	ask.Input = json.RawMessage(`{"content":"` + strings.Repeat("x", MaxCall) + `"}`)
	_, err := Relay(t.Context(), dir, ask)
	assert.ErrorIs(t, err, errTooLong)
}

// A bot that closes the connection before it reads the question is not dialled again.
func TestP10_BusyBotLeavesRequestToTerminal(t *testing.T) {
	for name, size := range map[string]int{"a short question": 1, "one that no buffer takes": 6 << 20} {
		t.Run(name, func(t *testing.T) {
			dir := shortDir(t)
			b := listen(t, dir)
			ask := living(t)
			ask.Input = json.RawMessage(`{"content":"` + strings.Repeat("x", size) + `"}`)
			done := relayed(t.Context(), dir, ask)
			conn, err := b.l.Accept()
			require.NoError(t, err)
			b.say(conn, `{"v":1,"error":"too many","code":"busy"}`+"\n")
			assert.ErrorIs(t, (<-done).err, ErrRefused)
		})
	}
}

// TestP10_RelaySurvivesARestart takes the connection away before, within and after the reply's
// first bytes.
func TestP10_RelaySurvivesARestart(t *testing.T) {
	dir := shortDir(t)
	b := listen(t, dir)
	done := relayed(t.Context(), dir, living(t))
	conn, first := b.next()
	// killed before the line was whole
	b.say(conn, `{"v":1,"body":{"decision":{"behavior":"allow"}}}`)
	conn, second := b.next()
	require.NoError(t, conn.Close())
	require.NoError(t, b.l.Close())
	again := listen(t, dir)
	conn, third := again.next()
	assert.Equal(t, first, second)
	assert.Equal(t, first, third, "the same request")
	again.say(conn, `{"v":1,"body":{"decision":{"behavior":"deny"}}}`+"\n")
	out := <-done
	require.NoError(t, out.err)
	assert.Equal(t, `{"behavior":"deny"}`, string(out.answer.Decision))
}

func TestRelay_ContextEndsIt(t *testing.T) {
	dir := shortDir(t)
	b := listen(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	done := relayed(ctx, dir, living(t))
	conn, _ := b.next()
	cancel()
	require.ErrorIs(t, (<-done).err, context.Canceled)
	_, err := conn.Read(make([]byte, 1))
	require.Error(t, err, "it hung up")
	require.NoError(t, conn.Close())
}

func TestRelay_EndsWithClaude(t *testing.T) {
	dir := shortDir(t)
	b := listen(t, dir)
	ask := living(t)
	ask.AgentStart++ // another process of that number
	done := relayed(t.Context(), dir, ask)
	conn, _ := b.next()
	require.NoError(t, conn.Close())
	assert.ErrorIs(t, (<-done).err, errNoClaude)
}

// A silent bot does not keep a hook whose claude was killed.
func TestP10_RelayEndsWithClaude(t *testing.T) {
	dir := shortDir(t)
	b := listen(t, dir)
	looks := make(chan bool)
	r := relay{
		socket: filepath.Join(dir, SocketName), call: []byte("{\"v\":1,\"verb\":\"permission\"}\n"),
		alive: func() bool { return <-looks }, now: time.Now, pause: pause, look: time.Millisecond,
	}
	for _, tt := range []struct {
		name  string
		lives bool
	}{{"killed", false}, {"alive", true}} {
		t.Run(tt.name, func(t *testing.T) {
			done := make(chan outcome, 1)
			go func() {
				answer, err := r.run(t.Context())
				done <- outcome{answer, err}
			}()
			conn, _ := b.next()
			_, err := conn.Write([]byte(`{"v":1,"body":{"decision":`))
			require.NoError(t, err)
			looks <- true
			looks <- true
			looks <- tt.lives
			if !tt.lives {
				require.ErrorIs(t, (<-done).err, errNoClaude)
				require.NoError(t, conn.Close())
				return
			}
			_, err = conn.Write([]byte(`{"behavior":"allow"}}}` + "\n"))
			require.NoError(t, err)
			out := outcome{}
			for over := false; !over; {
				select {
				case out = <-done:
					over = true
				case looks <- true:
				}
			}
			require.NoError(t, out.err)
			assert.JSONEq(t, `{"behavior":"allow"}`, string(out.answer.Decision), "what came before a look counts")
			require.NoError(t, conn.Close())
		})
	}
}

// clock is a relay's time: it passes in pauses only.
type clock struct {
	now    time.Time
	pauses []time.Duration
}

func (c *clock) pause(_ context.Context, d time.Duration) error {
	c.pauses = append(c.pauses, d)
	c.now = c.now.Add(d)
	return nil
}

func TestRelay_RedialsForTenMinutes(t *testing.T) {
	c := &clock{now: time.Unix(1000, 0)}
	r := relay{socket: "/nowhere/" + SocketName, alive: func() bool { return true }, now: func() time.Time { return c.now }, pause: c.pause}
	out := outage{c.now, firstPause}
	_, err := r.redial(t.Context(), &out)
	require.ErrorIs(t, err, errNoBot)
	assert.Equal(t, []time.Duration{100e6, 200e6, 400e6, 800e6, 1600e6, 2e9, 2e9}, c.pauses[:7])
	var whole time.Duration
	for _, d := range c.pauses {
		whole += d
	}
	assert.GreaterOrEqual(t, whole, 10*time.Minute)
	assert.Less(t, whole, 10*time.Minute+longPause)
}

// A bot that takes the call and hangs up at once, over and over, does not keep the hook for ever.
func TestRelay_HangingUpIsNoBot(t *testing.T) {
	dir := shortDir(t)
	b := listen(t, dir)
	c := &clock{now: time.Now()} // deadlines are made of it
	call, err := Line(Call{Version: WireVersion, Verb: VerbPermission})
	require.NoError(t, err)
	r := relay{
		socket: filepath.Join(dir, SocketName), call: call, alive: func() bool { return true },
		now: func() time.Time { return c.now }, pause: c.pause, look: checkInterval,
	}
	done := make(chan error, 1)
	go func() {
		_, err := r.run(t.Context())
		done <- err
	}()
	answered := make(chan int, 1)
	go func() {
		n := 0
		for {
			conn, err := b.l.Accept()
			if err != nil {
				answered <- n
				return
			}
			_ = conn.Close()
			n++
		}
	}()
	require.ErrorIs(t, <-done, errNoBot)
	require.NoError(t, b.l.Close())
	assert.Greater(t, <-answered, 250)
}
