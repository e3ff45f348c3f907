package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/jsonrpc"
	"ccbot/internal/processtest"
	"ccbot/internal/waittest"
)

// TestMain makes the test binary also ccbot-codex and a stand-in of Codex.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("STANDIN") == "pane":
		_ = os.Setenv("STANDIN", "codex")
		main()
	case os.Getenv("STANDIN") == "codex":
		if err := standIn(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(7)
		}
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// standIn notes its pid and its arguments in a file with its part's name, and ends once a person
// writes to its file.
func standIn(args []string) error {
	name := "terminal"
	if args[0] == "app-server" {
		name = "server"
		if os.Getenv("REFUSES") != "" {
			return fmt.Errorf("no such setting")
		}
		l, err := net.Listen("unix", strings.TrimPrefix(args[2], "unix://"))
		if err != nil {
			return err
		}
		defer l.Close()
		go func() { _ = http.Serve(l, http.HandlerFunc(serve)) }()
	}
	file := filepath.Join(os.Getenv("NOTES"), name)
	if err := os.WriteFile(file+".new", fmt.Appendf(nil, "%d %s", os.Getpid(), strings.Join(args, " ")), 0o600); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(file + ".end"); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// serve is the server's part that knows a goal, whose state is in a file. It notes each call with its parameters.
func serve(w http.ResponseWriter, r *http.Request) {
	notes := os.Getenv("NOTES")
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	for {
		_, data, err := ws.Read(r.Context())
		var m jsonrpc.Message
		if err != nil || json.Unmarshal(data, &m) != nil {
			return
		}
		calls, err := os.OpenFile(filepath.Join(notes, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		_, _ = fmt.Fprintln(calls, m.Method, string(m.Params)) // the test finds that it is missing
		_ = calls.Close()
		if m.ID != nil {
			m = jsonrpc.Message{ID: m.ID, Result: json.RawMessage(`{"goal":{"status":"` + os.Getenv("GOAL") + `"}}`)}
			data, _ = json.Marshal(m)
			_ = ws.Write(r.Context(), websocket.MessageText, data)
		}
	}
}

// run is one run of ccbot-codex with a stand-in.
type run struct {
	t     *testing.T
	cmd   *exec.Cmd
	notes string
	out   *strings.Builder
}

func begin(t *testing.T, environ []string, args ...string) *run {
	t.Helper()
	notes, err := os.MkdirTemp("", "pane") // short, because of the path of a socket
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(notes)) })
	r := &run{t: t, notes: notes, out: &strings.Builder{}}
	self, err := os.Executable()
	require.NoError(t, err)
	r.cmd = exec.Command(self, append([]string{"--codex", self, "--conversation", "x"}, args...)...)
	r.cmd.Env = append(os.Environ(), append(environ, "STANDIN=pane", "NOTES="+r.notes, "TMPDIR="+r.notes)...)
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.out
	processtest.EndAfterFailure(t, r.notes)
	processtest.Start(t, r.cmd)
	return r
}

// note returns the pid and the arguments of a part, once it has started.
func (r *run) note(name string) (pid int, args string) {
	r.t.Helper()
	waittest.Until(r.t, func() bool {
		data, err := os.ReadFile(filepath.Join(r.notes, name))
		number, rest, _ := strings.Cut(string(data), " ")
		pid, _ = strconv.Atoi(number)
		args = rest
		return err == nil
	}, name)
	return pid, args
}

// ended waits until no part is left, and checks that the folder of the socket is gone.
func (r *run) ended(pids ...int) {
	r.t.Helper()
	for _, pid := range pids {
		waittest.Until(r.t, func() bool { return syscall.Kill(pid, 0) != nil }, "%d lives", pid)
	}
	left, err := filepath.Glob(filepath.Join(r.notes, "ccbot-codex-*"))
	require.NoError(r.t, err)
	assert.Empty(r.t, left)
}

func TestP2_PartsEndTogether(t *testing.T) {
	for name, end := range map[string]func(r *run){
		"terminal":            func(r *run) { require.NoError(r.t, os.WriteFile(filepath.Join(r.notes, "terminal.end"), nil, 0o600)) },
		"server":              func(r *run) { require.NoError(r.t, os.WriteFile(filepath.Join(r.notes, "server.end"), nil, 0o600)) },
		"terminal killed":     func(r *run) { pid, _ := r.note("terminal"); require.NoError(r.t, syscall.Kill(pid, syscall.SIGKILL)) },
		"server killed":       func(r *run) { pid, _ := r.note("server"); require.NoError(r.t, syscall.Kill(pid, syscall.SIGKILL)) },
		"server asked to end": func(r *run) { pid, _ := r.note("server"); require.NoError(r.t, syscall.Kill(pid, syscall.SIGTERM)) },
		"TERM":                func(r *run) { require.NoError(r.t, r.cmd.Process.Signal(syscall.SIGTERM)) },
		"HUP":                 func(r *run) { require.NoError(r.t, r.cmd.Process.Signal(syscall.SIGHUP)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, nil, "resume", "y", "--", "--model", "m", "-c", "a=b")
			terminal, args := r.note("terminal")
			server, listens := r.note("server")
			before, socket, _ := strings.Cut(strings.TrimSuffix(listens, " -c a=b"), "unix://")
			assert.Equal(t, "app-server --listen ", before)
			assert.Equal(t, "resume y --remote unix://"+socket+" -c "+title+" --model m -c a=b", args)
			info, err := os.Stat(filepath.Dir(socket))
			require.NoError(t, err)
			assert.Equal(t, os.ModeDir|0o700, info.Mode())
			end(r)
			_ = r.cmd.Wait()
			want := map[string]int{"terminal": 3, "server": 3, "terminal killed": 137, "server killed": 137, "server asked to end": 143}
			assert.Equal(t, want[name], r.cmd.ProcessState.ExitCode(), r.out)
			r.ended(terminal, server)
		})
	}
}

// Codex begins a turn for an active goal as soon as a conversation is resumed.
func TestGoalIsPausedBeforeResume(t *testing.T) {
	for _, tt := range []struct {
		name, verb, goal string
		calls            int
		pauses           bool
	}{
		{"an active goal", "resume", "active", 4, true},
		{"a goal that is reached", "resume", "complete", 3, false},
		{"a copy, which has none", "fork", "active", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := begin(t, []string{"GOAL=" + tt.goal}, tt.verb, "y", "--")
			terminal, _ := r.note("terminal")
			server, _ := r.note("server")
			calls, err := os.ReadFile(filepath.Join(r.notes, "calls"))
			if tt.calls > 0 {
				require.NoError(t, err)
			}
			assert.Equal(t, tt.calls, strings.Count(string(calls), "\n"), string(calls))
			assert.Equal(t, tt.pauses, strings.Contains(string(calls), `thread/goal/set {"origin":"user","status":"paused","threadId":"y"}`), string(calls))
			require.NoError(t, os.WriteFile(filepath.Join(r.notes, "terminal.end"), nil, 0o600))
			_ = r.cmd.Wait()
			assert.NotContains(t, r.out.String(), "is not paused")
			r.ended(terminal, server)
		})
	}
}

// A killed ccbot-codex leaves no process. Its folder stays: it has only a socket.
func TestP2_NoPartSurvivesKill(t *testing.T) {
	if endsWithParent() == nil {
		return // this system cannot tie them: they are found as leftovers
	}
	r := begin(t, nil, "--")
	terminal, _ := r.note("terminal")
	server, _ := r.note("server")
	require.NoError(t, r.cmd.Process.Kill())
	_ = r.cmd.Wait()
	left, err := filepath.Glob(filepath.Join(r.notes, "ccbot-codex-*"))
	require.NoError(t, err)
	for _, dir := range left {
		require.NoError(t, os.RemoveAll(dir))
	}
	r.ended(terminal, server)
}

func TestServerThatDoesNotStart(t *testing.T) {
	r := begin(t, []string{"REFUSES=1"}, "--")
	_ = r.cmd.Wait()
	assert.Equal(t, 7, r.cmd.ProcessState.ExitCode())
	assert.Contains(t, r.out.String(), "no such setting", "the person reads why")
	assert.NoFileExists(t, filepath.Join(r.notes, "terminal"))
	r.ended()
}

// TestSocketIsWhereNoCleanerEmpties: the socket is in ccbot's folder, and what a killed pane has left
// there goes. One with a long path is among the temporary files.
func TestSocketIsWhereNoCleanerEmpties(t *testing.T) {
	home := "/dev/shm"
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		home = os.TempDir()
	}
	home, err := os.MkdirTemp(home, "cc")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(home)) })
	first, err := socketFolder(home)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(home, "codex"), filepath.Dir(first))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(first, socketName), Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	_, err = socketFolder(home)
	require.NoError(t, err)
	assert.DirExists(t, first, "its server runs")
	require.NoError(t, l.Close())
	_, err = socketFolder(home)
	require.NoError(t, err)
	assert.NoDirExists(t, first)

	t.Setenv("TMPDIR", home)
	long, err := socketFolder(filepath.Join(home, strings.Repeat("x", 90)))
	require.NoError(t, err)
	assert.Equal(t, home, filepath.Dir(long))
}

func TestParse(t *testing.T) {
	p, err := parse([]string{"--codex", "/c", "--conversation", "x", "fork", "y", "--", "-m", "--"})
	require.NoError(t, err)
	assert.Equal(t, pane{program: "/c", verb: []string{"fork", "y"}, flags: []string{"-m", "--"}}, p)
	for _, bad := range [][]string{nil, {"--codex", "/c"}, {"--codex", "/c", "--conversation", "--"}, {"--codex", "/c", "--conversation", "x"}} {
		_, err := parse(bad)
		require.Error(t, err, bad)
	}
}
