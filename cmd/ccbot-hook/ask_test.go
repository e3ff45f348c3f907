package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/processtest"
	"ccbot/internal/waittest"
)

// request is the payload of a PermissionRequest.
func request(command string) string {
	return `{"hook_event_name":"PermissionRequest","session_id":"` + sessionID + `","cwd":"/w","permission_mode":"default",` +
		`"tool_name":"Bash","tool_input":{"command":"` + command + `"},"permission_suggestions":[{"type":"addDirectories","directories":["/w"]}]}`
}

const (
	allow  = `{"v":1,"body":{"decision":{"behavior":"allow","updatedInput":{"command":"<&>"}}}}` + "\n"
	deny   = `{"v":1,"body":{"decision":{"behavior":"deny","message":"not now"}}}` + "\n"
	before = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`
)

// bot listens where a bot would.
type bot struct {
	t *testing.T
	l net.Listener
}

func newBot(t *testing.T, dir string) bot {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, hookwire.SocketName))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // a test may have closed it
	return bot{t, l}
}

// next takes one connection and reads its call.
func (b bot) next() (net.Conn, hookwire.Call) {
	b.t.Helper()
	conn, err := b.l.Accept()
	require.NoError(b.t, err)
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	require.NoError(b.t, err)
	c, err := hookwire.ReadCall(line)
	require.NoError(b.t, err)
	return conn, c
}

// waiting is a hook that runs during the test.
type waiting struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err *bytes.Buffer
}

// waits starts the hook for one request, without a shell between, so that the process is the hook.
func (a agent) waits(t *testing.T) waiting {
	t.Helper()
	cmd := exec.Command(a.hook, "--dir", a.dir, "--launch", launchID)
	cmd.Env = []string{"CLAUDE_PID=" + strconv.Itoa(os.Getpid())}
	w := waiting{t, cmd, &bytes.Buffer{}, &bytes.Buffer{}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(request("ls")), w.out, w.err
	processtest.Start(t, cmd)
	return w
}

// ended waits for the end, with 0, and returns the output.
func (w waiting) ended() string {
	w.t.Helper()
	assert.NoError(w.t, w.cmd.Wait())
	assert.Empty(w.t, w.err.String())
	return w.out.String()
}

func TestP10_PermissionRequest(t *testing.T) {
	hook := build(t)
	t.Run("prints the decision", func(t *testing.T) { testPrints(t, newAgent(t, hook)) })
	t.Run("no answer", func(t *testing.T) { testNoAnswer(t, hook) })
	t.Run("survives a restart of the bot", func(t *testing.T) { testRestart(t, newAgent(t, hook)) })
	t.Run("ends with the agent", func(t *testing.T) { testAgentGone(t, newAgent(t, hook)) })
	t.Run("signals", func(t *testing.T) { testDies(t, hook) })
	t.Run("told to end early", func(t *testing.T) { testToldEarly(t, newAgent(t, hook)) })
	t.Run("nobody to ask", func(t *testing.T) { testNobody(t, hook) })
	t.Run("nobody to tell", func(t *testing.T) { testNobodyListens(t, hook) })
	t.Run("nothing else waits", func(t *testing.T) { testOthersDoNotWait(t, newAgent(t, hook)) })
}

func testPrints(t *testing.T, a agent) {
	b := newBot(t, a.dir)
	for reply, want := range map[string]string{
		allow: before + `{"behavior":"allow","updatedInput":{"command":"<&>"}}}}` + "\n",
		deny:  before + `{"behavior":"deny","message":"not now"}}}` + "\n",
	} {
		w := a.waits(t)
		conn, c := b.next()
		ask, err := hookwire.ReadAsk(c.Body)
		require.NoError(t, err)
		assert.Equal(t, []string{launchID, sessionID, "/w", "default", "Bash", `{"command":"ls"}`},
			[]string{ask.Launch, ask.SessionID, ask.Cwd, ask.PermissionMode, ask.Tool, string(ask.Input)})
		assert.Equal(t, os.Getpid(), ask.AgentPID)
		assert.NotZero(t, ask.AgentStart)
		assert.Len(t, ask.Suggestions, 1)
		_, err = conn.Write([]byte(reply))
		require.NoError(t, err)
		assert.Equal(t, want, w.ended())
		require.NoError(t, conn.Close())
	}
	entries, err := os.ReadDir(a.dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no event, no binding")
	assert.Equal(t, hookwire.SocketName, entries[0].Name())
}

func testNoAnswer(t *testing.T, hook string) {
	tests := []struct{ name, reply string }{
		{"left to the terminal", `{"v":1,"body":{}}` + "\n"},
		{"no body", `{"v":1}` + "\n"},
		{"refused", `{"v":1,"error":"whose?","code":"unknown","body":{"decision":{"behavior":"allow"}}}` + "\n"},
		{"no JSON", "allow\n"},
		{"a decision that is none", `{"v":1,"body":{"decision":{"behavior":"ask"}}}` + "\n"},
		{"a decision that is a text", `{"v":1,"body":{"decision":"allow"}}` + "\n"},
		{"another version", `{"v":7,"body":{"decision":{"behavior":"allow"}}}` + "\n"},
		{"too much", strings.Repeat("x", hookwire.MaxReply+1)},
		{"a deep one", `{"v":1,"body":{"decision":{"behavior":"allow","x":` + strings.Repeat("[", 1<<20) + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, hook)
			b := newBot(t, a.dir)
			w := a.waits(t)
			conn, _ := b.next()
			_, _ = conn.Write([]byte(tt.reply)) // the hook may hang up before the end
			assert.Empty(t, w.ended())
			require.NoError(t, conn.Close())
		})
	}
}

func testRestart(t *testing.T, a agent) {
	b := newBot(t, a.dir)
	w := a.waits(t)
	conn, first := b.next()
	require.NoError(t, conn.Close())
	require.NoError(t, b.l.Close()) // takes the socket file along
	again := newBot(t, a.dir)
	conn, second := again.next()
	assert.Equal(t, first, second, "the same request, so that nobody is asked twice")
	_, err := conn.Write([]byte(allow))
	require.NoError(t, err)
	assert.Contains(t, w.ended(), `"behavior":"allow"`)
	require.NoError(t, conn.Close())
}

// testAgentGone kills the agent while the hook waits, and then the bot: a decision would have no
// reader.
func testAgentGone(t *testing.T, a agent) {
	b := newBot(t, a.dir)
	pid := filepath.Join(t.TempDir(), "pid")
	processtest.EndAfterFailure(t, "CCBOT_TEST="+pid)
	cmd := exec.Command(a.claude, "-c", `"$0" --dir "$1" & echo $! >"$2.new"; mv "$2.new" "$2"; wait`, a.hook, a.dir, pid)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "CCBOT_LAUNCH=" + launchID, "CCBOT_TEST=" + pid}
	// A shell starts background commands with an empty stdin; a file at another descriptor avoids
	// that.
	cmd.Args[2] = strings.Replace(cmd.Args[2], `"$1" &`, `"$1" <&3 &`, 1)
	in := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.WriteFile(in, []byte(request("ls")), 0o600))
	file, err := os.Open(in)
	require.NoError(t, err)
	cmd.ExtraFiles = []*os.File{file}
	processtest.Start(t, cmd)
	require.NoError(t, file.Close())
	conn, _ := b.next()
	var data []byte
	waittest.Until(t, func() bool { data, err = os.ReadFile(pid); return err == nil })
	hook, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.NoError(t, conn.Close())
	waittest.Until(t, func() bool { return syscall.Kill(hook, 0) != nil }, "it goes with its agent")
}

// Claude Code sends TERM when the dialog was left with Esc; a closing window hangs up.
func testDies(t *testing.T, hook string) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			ordinarySignals(t)
			a := newAgent(t, hook)
			b := newBot(t, a.dir)
			w := a.waits(t)
			conn, _ := b.next()
			require.NoError(t, w.cmd.Process.Signal(sig))
			require.Error(t, w.cmd.Wait())
			status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
			require.True(t, ok)
			assert.Equal(t, sig, status.Signal())
			assert.Empty(t, w.out.String()+w.err.String())
			_, err := conn.Read(make([]byte, 1))
			require.Error(t, err, "the bot sees it go")
			require.NoError(t, conn.Close())
		})
	}
}

// testToldEarly ends a hook that has not read what it is for.
func testToldEarly(t *testing.T, a agent) {
	calls := silentBot(t, a.dir)
	cmd := exec.Command(a.hook, "--dir", a.dir)
	cmd.Env = []string{"CCBOT_LAUNCH=" + launchID}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	processtest.Start(t, cmd)
	_, err = io.WriteString(stdin, strings.Repeat(" ", 1<<20)) // it is reading, see testSignals
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, err = io.WriteString(stdin, request("ls"))
	require.NoError(t, err)
	_ = cmd.Wait() // by itself or of the signal
	assert.Empty(t, out.String())
	assert.LessOrEqual(t, calls.Load(), int64(1))
}

func testNobody(t *testing.T, hook string) {
	tests := []struct {
		name, script, in string
		listening        bool
	}{
		{name: "no bot", in: request("ls")},
		{name: "session started by hand", script: `unset CCBOT_LAUNCH; "$0" --dir "$1"`, in: request("ls"), listening: true},
		{name: "by hand, the general entry", script: `unset CCBOT_LAUNCH; "$0" --dir "$1" --installed`, in: request("ls"), listening: true},
		{name: "the general entry in our launch", script: `"$0" --dir "$1" --installed`, in: request("ls"), listening: true},
		{name: "no environment", script: `env -i "$0" --dir "$1"`, in: request("ls"), listening: true},
		{name: "half a payload", in: request("ls")[:200], listening: true},
		{name: "20 MB", in: request(strings.Repeat("x", 20<<20)), listening: true},
		{name: "more than a line", in: request(strings.Repeat("x", 9<<20)), listening: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, hook)
			var calls *atomic.Int64
			if tt.listening {
				calls = silentBot(t, a.dir)
			}
			silent(t, a.command(tt.script), strings.NewReader(tt.in))
			assert.Empty(t, a.events(t))
			assert.Empty(t, a.bindings(t))
			if tt.listening {
				assert.Zero(t, calls.Load())
			}
		})
	}
}

// silentBot takes every connection and never says a word. It counts them.
func silentBot(t *testing.T, dir string) *atomic.Int64 {
	t.Helper()
	b := newBot(t, dir)
	var calls atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		var held []net.Conn
		for {
			conn, err := b.l.Accept()
			if err != nil {
				break
			}
			calls.Add(1)
			held = append(held, conn)
		}
		for _, conn := range held {
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = b.l.Close()
		<-done
	})
	return &calls
}

// testNobodyListens lets the answer come while the hook's output has no reader.
func testNobodyListens(t *testing.T, hook string) {
	for name, to := range map[string]string{"closed": ">&-", "full": ">/dev/full", "a reader that left": "| :"} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, hook)
			b := newBot(t, a.dir)
			code := filepath.Join(t.TempDir(), "code")
			cmd := a.command(fmt.Sprintf(`{ "$0" --dir "$1"; echo $? >'%s'; } %s`, code, to))
			var said bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(request("ls")), &said, &said
			processtest.Start(t, cmd)
			conn, _ := b.next()
			_, err := conn.Write([]byte(allow))
			require.NoError(t, err)
			require.NoError(t, cmd.Wait())
			assert.Empty(t, said.String())
			got, err := os.ReadFile(code)
			require.NoError(t, err)
			assert.Equal(t, "0\n", string(got))
			require.NoError(t, conn.Close())
		})
	}
}

// testOthersDoNotWait runs every other event with a bot that would never answer: that each ends,
// and that none asked, is the proof.
func testOthersDoNotWait(t *testing.T, a agent) {
	calls := silentBot(t, a.dir)
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd", "Notification", "PreToolUse"} {
		silent(t, a.command(""), strings.NewReader(payload(event, "x")))
	}
	silent(t, a.command(`"$0" --dir "$1" --status`), strings.NewReader(`{"session_id":"`+sessionID+`"}`))
	assert.Zero(t, calls.Load())
	assert.Len(t, a.events(t), 5)
	w := a.waits(t)
	waittest.Until(t, func() bool { return calls.Load() == 1 }, "this one does")
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	require.Error(t, w.cmd.Wait())
}
