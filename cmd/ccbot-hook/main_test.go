package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/processtest"
	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
)

const (
	launchID  = "01890a5d-ac96-774b-bcce-b302099a8057"
	sessionID = "19700a32-a03e-4de9-a340-67e13a1f5792"
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ccbot-hook-test-")
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program.path = filepath.Join(dir, "ccbot-hook")
	return m.Run()
}

// program is the real hook. It is built once, from packages that go test has compiled.
var program struct {
	path string
	once sync.Once
	err  error
}

// build returns the path of the hook.
func build(t testing.TB) string {
	t.Helper()
	program.once.Do(func() {
		out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", program.path, ".").CombinedOutput()
		if err != nil {
			program.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	require.NoError(t, program.err)
	return program.path
}

// ordinarySignals makes programs that the test starts begin without ignored signals. The test itself
// may run below nohup or in the background.
func ordinarySignals(t *testing.T) {
	t.Helper()
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP, syscall.SIGINT)
	t.Cleanup(func() { signal.Stop(caught) })
}

func payload(event, prompt string) string {
	return `{"hook_event_name":"` + event + `","session_id":"` + sessionID + `","cwd":"/w","prompt":"` + prompt + `"}`
}

// agent is a claude that runs hooks: a shell under that name.
type agent struct {
	hook   string
	claude string
	dir    string // the state folder
}

func newAgent(t *testing.T, hook string) agent {
	t.Helper()
	a := agent{hook: hook, claude: filepath.Join(t.TempDir(), "claude"), dir: shortDir(t)}
	require.NoError(t, os.Symlink(programtest.Require(t, "sh"), a.claude))
	return a
}

// command is one run of the hook below the claude. The exit after the hook keeps the shell from
// becoming it, and passes on its exit code.
func (a agent) command(script string, env ...string) *exec.Cmd {
	if script == "" {
		script = `"$0" --dir "$1"`
	}
	cmd := exec.Command(a.claude, "-c", script+"\nexit $?", a.hook, a.dir)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "CCBOT_LAUNCH=" + launchID, "TMUX_PANE=%7", "TMUX=/tmp/s,1,0"}, env...)
	return cmd
}

// silent runs it and checks the promise: exit 0 and not a word.
func silent(t *testing.T, cmd *exec.Cmd, stdin io.Reader) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &out
	assert.NoError(t, cmd.Run())
	assert.Empty(t, out.String())
}

func (a agent) events(t *testing.T) []hookwire.Event {
	t.Helper()
	var events []hookwire.Event
	for _, data := range contents(t, filepath.Join(a.dir, "events")) {
		e, err := hookwire.ReadEvent(data)
		require.NoError(t, err)
		events = append(events, e)
	}
	return events
}

func (a agent) bindings(t *testing.T) []hookwire.Binding {
	t.Helper()
	var bindings []hookwire.Binding
	for _, data := range contents(t, filepath.Join(a.dir, "bindings")) {
		b, err := hookwire.ReadBinding(data)
		require.NoError(t, err)
		bindings = append(bindings, b)
	}
	return bindings
}

// contents reads every file, temporary ones too: none may be left.
func contents(t *testing.T, folder string) [][]byte {
	t.Helper()
	entries, _ := os.ReadDir(folder)
	var all [][]byte
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		all = append(all, data)
	}
	return all
}

func TestP10_Hook(t *testing.T) {
	hook := build(t)
	t.Run("notes what happened and who it was", func(t *testing.T) { testNotes(t, newAgent(t, hook)) })
	t.Run("bad input", func(t *testing.T) { testBadInput(t, hook) })
	t.Run("bad state folder", func(t *testing.T) { testBadFolder(t, hook) })
	t.Run("which files", func(t *testing.T) { testWhichFiles(t, hook) })
	t.Run("50 at once", func(t *testing.T) { testManyAtOnce(t, newAgent(t, hook)) })
	t.Run("unchanged binding", func(t *testing.T) { testUnchangedBinding(t, newAgent(t, hook)) })
	t.Run("stdin never ends", func(t *testing.T) { testEndlessInput(t, hook) })
	t.Run("signals", func(t *testing.T) { testSignals(t, newAgent(t, hook)) })
}

func testNotes(t *testing.T, a agent) {
	cmd := a.command("")
	silent(t, cmd, strings.NewReader(payload("UserPromptSubmit", "hello")))
	events, bindings := a.events(t), a.bindings(t)
	require.Len(t, events, 1)
	require.Len(t, bindings, 1)
	e := events[0]
	assert.Equal(t, cmd.Process.Pid, e.AgentPID)
	assert.NotZero(t, e.AgentStart)
	assert.Equal(t, hookwire.BootID(), e.Boot)
	// a time of today, not how long it took
	assert.WithinDuration(t, time.Now(), e.Received, time.Hour)
	assert.Equal(t, []string{"UserPromptSubmit", launchID, sessionID, "hello", "/w", "%7", "/tmp/s,1,0"},
		[]string{e.Name, e.Launch, e.SessionID, e.Prompt, e.Cwd, e.Pane, e.Tmux})
	assert.Equal(t, hookwire.BindingOf(e), bindings[0])
}

func testBadInput(t *testing.T, hook string) {
	tests := []struct {
		name   string
		script string
		in     string
		env    string
		events int
	}{
		{name: "nothing"},
		{name: "no JSON", in: "hello"},
		{name: "half JSON", in: payload("Stop", "x")[:30]},
		{name: "10 MB of no JSON", in: strings.Repeat("x", 10<<20)},
		{name: "10 MB of open brackets", in: strings.Repeat("[", 10<<20)},
		{name: "10 MB of prompt", in: payload("Stop", strings.Repeat("x", 10<<20)), events: 1},
		{name: "20 MB of prompt", in: payload("Stop", strings.Repeat("x", 20<<20))},
		{name: "unknown event", in: payload("Unheard", "x")},
		{name: "stdin closed", script: `"$0" --dir "$1" <&-`, in: payload("Stop", "x")},
		{name: "stdin is a folder", script: `"$0" --dir "$1" </`},
		{name: "stdout and stderr closed", script: `"$0" --dir "$1" >&- 2>&-`, in: payload("Stop", "x"), events: 1},
		{name: "unknown flags", script: `"$0" --frob -x --dir "$1" --help`, in: payload("Stop", "x"), events: 1},
		{name: "no pane", script: `unset TMUX TMUX_PANE; "$0" --dir "$1"`, in: payload("Stop", "x"), events: 1},
		{name: "foreign CLAUDE_PID", env: "CLAUDE_PID=1", in: payload("Stop", "x"), events: 1},
		{name: "CLAUDE_PID is no number", env: "CLAUDE_PID=x", in: payload("Stop", "x"), events: 1},
		{name: "no environment", script: `env -i "$0" --dir "$1"`, in: payload("Stop", "x")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, hook)
			silent(t, a.command(tt.script, tt.env), strings.NewReader(tt.in))
			assert.Len(t, a.events(t), tt.events)
		})
	}
}

func testBadFolder(t *testing.T, hook string) {
	tests := []struct {
		name    string
		script  string
		corrupt func(t *testing.T, a *agent)
	}{
		{"missing", "", func(_ *testing.T, a *agent) { a.dir = filepath.Join(a.dir, "absent") }},
		{"not told", `"$0"`, func(*testing.T, *agent) {}},
		{"told nothing", `"$0" --dir`, func(*testing.T, *agent) {}},
		{"empty name", `"$0" --dir ""`, func(*testing.T, *agent) {}},
		{"a file", "", func(t *testing.T, a *agent) {
			a.dir = filepath.Join(a.dir, "file")
			require.NoError(t, os.WriteFile(a.dir, nil, 0o600))
		}},
		{"not writable, not even for root", "", func(_ *testing.T, a *agent) { a.dir = "/proc" }},
		{"read-only", "", func(t *testing.T, a *agent) {
			if os.Geteuid() == 0 { // root writes everywhere but here
				a.dir = "/sys"
				return
			}
			require.NoError(t, os.Chmod(a.dir, 0o500))
		}},
		{"files where the folders should be", "", func(t *testing.T, a *agent) {
			for _, name := range []string{"events", "bindings"} {
				require.NoError(t, os.WriteFile(filepath.Join(a.dir, name), nil, 0o600))
			}
		}},
		// A file may not grow: the effect of a full disk, but with another error number.
		{"full", `ulimit -f 0; "$0" --dir "$1"`, func(*testing.T, *agent) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, hook)
			tt.corrupt(t, &a)
			_, before := os.Lstat(a.dir)
			silent(t, a.command(tt.script), strings.NewReader(payload("SessionStart", "x")))
			_, after := os.Lstat(a.dir)
			assert.Equal(t, before == nil, after == nil, "the state folder is not made")
			assert.Empty(t, contents(t, filepath.Join(a.dir, "events")))
			assert.Empty(t, contents(t, filepath.Join(a.dir, "bindings")))
		})
	}
}

func testWhichFiles(t *testing.T, hook string) {
	tests := []struct {
		name, event, script string
		events, bindings    int
	}{
		{name: "start", event: "SessionStart", events: 1, bindings: 1},
		{name: "prompt", event: "UserPromptSubmit", events: 1, bindings: 1},
		{name: "stop", event: "Stop", events: 1},
		{name: "failure", event: "StopFailure", events: 1},
		{name: "end", event: "SessionEnd", events: 1},
		{name: "other", event: "PermissionRequest"},
		{name: "by hand", event: "SessionStart", script: `unset CCBOT_LAUNCH; "$0" --dir "$1" --installed`, bindings: 1},
		{name: "by hand, not marked", event: "SessionStart", script: `unset CCBOT_LAUNCH; "$0" --dir="$1"`, bindings: 1},
		{name: "named by an argument", event: "SessionStart", script: `unset CCBOT_LAUNCH; "$0" --dir "$1" --launch ` + launchID, events: 1, bindings: 1},
		{name: "named by another variable", event: "Stop", script: `CCBOT_LAUNCH= "$0" --dir "$1" --launch=` + launchID, events: 1},
		{name: "the general entry in our launch", event: "SessionStart", script: `"$0" --installed --dir "$1"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, hook)
			silent(t, a.command(tt.script), strings.NewReader(payload(tt.event, "x")))
			assert.Len(t, a.events(t), tt.events)
			assert.Len(t, a.bindings(t), tt.bindings)
		})
	}
}

func testManyAtOnce(t *testing.T, a agent) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var inTime []string // of the others a hook may have given up
	for i := range 50 {
		wg.Go(func() {
			began := time.Now()
			silent(t, a.command(""), strings.NewReader(payload("UserPromptSubmit", strconv.Itoa(i))))
			mu.Lock()
			defer mu.Unlock()
			if time.Since(began) < bound {
				inTime = append(inTime, strconv.Itoa(i))
			}
		})
	}
	wg.Wait()
	prompts := map[string]bool{}
	for _, e := range a.events(t) {
		prompts[e.Prompt] = true
	}
	require.NotEmpty(t, inTime)
	for _, prompt := range inTime {
		assert.True(t, prompts[prompt], prompt)
	}
	bindings := len(a.bindings(t))
	assert.GreaterOrEqual(t, bindings, len(inTime), "one for each claude")
	assert.LessOrEqual(t, bindings, 50, "and no more")
}

func testUnchangedBinding(t *testing.T, a agent) {
	// One claude, two prompts; between them the file is made old.
	two := `printf %s "$2" | "$0" --dir "$1"; touch -t 202001010000 "$1"/bindings/*; printf %s "$2" | "$0" --dir "$1"`
	cmd := a.command(two)
	cmd.Args = append(cmd.Args, payload("UserPromptSubmit", "x"))
	silent(t, cmd, nil)
	assert.Len(t, a.events(t), 2)
	entries, err := os.ReadDir(filepath.Join(a.dir, "bindings"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	info, err := entries[0].Info()
	require.NoError(t, err)
	assert.Equal(t, 2020, info.ModTime().Year())
}

// letters never ends.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func testEndlessInput(t *testing.T, hook string) {
	t.Run("silence", func(t *testing.T) {
		t.Parallel()
		r, w, err := os.Pipe() // held open until the hook has gone by itself
		require.NoError(t, err)
		defer func() { require.NoError(t, errors.Join(w.Close(), r.Close())) }()
		a := newAgent(t, hook)
		silent(t, a.command(""), r)
		assert.Empty(t, a.events(t))
	})
	t.Run("open after the payload", func(t *testing.T) {
		t.Parallel()
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer func() { require.NoError(t, errors.Join(w.Close(), r.Close())) }()
		_, err = w.WriteString(payload("Stop", "x"))
		require.NoError(t, err)
		a := newAgent(t, hook)
		silent(t, a.command(""), r)
		assert.Len(t, a.events(t), 1)
	})
	t.Run("a stream", func(t *testing.T) {
		t.Parallel()
		a := newAgent(t, hook)
		silent(t, a.command(""), io.MultiReader(strings.NewReader(`{"prompt":"`), letters{}))
		assert.Empty(t, a.events(t))
	})
}

// A hang-up of the window reaches the hook too, while it notes the end of the session.
func testSignals(t *testing.T, a agent) {
	cmd := exec.Command(a.hook, "--dir", a.dir)
	cmd.Env = []string{"CCBOT_LAUNCH=" + launchID}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	processtest.Start(t, cmd)
	// A pipe does not hold that much: once it is written, the hook is reading.
	_, err = io.WriteString(stdin, strings.Repeat(" ", 1<<20))
	require.NoError(t, err)
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		require.NoError(t, cmd.Process.Signal(sig))
	}
	_, err = io.WriteString(stdin, payload("SessionEnd", "x"))
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	assert.Len(t, a.events(t), 1)
}

func TestP10_PanicIsSwallowed(t *testing.T) {
	assert.NotPanics(t, func() { quietly(func() error { panic("boom") }) })
	assert.NotPanics(t, func() {
		quietly(func() error {
			h := hook{options: options{dir: t.TempDir()}, stdin: panicking{}, getenv: func(string) string { return "" }, now: time.Now}
			return h.run()
		})
	})
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("read") }

func TestP10_HookImportsNothingMuch(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.Standard}}", ".").Output()
	require.NoError(t, err)
	var foreign []string
	for line := range strings.Lines(string(out)) {
		path, standard, _ := strings.Cut(strings.TrimSpace(line), " ")
		if standard != "true" {
			foreign = append(foreign, path)
		}
		assert.NotContains(t, []string{"net", "net/http", "os/exec", "log", "log/slog", "flag"}, path, "the hook does no such thing")
	}
	// the last on Linux only
	assert.Subset(t, []string{"ccbot/cmd/ccbot-hook", "ccbot/internal/hookwire", "ccbot/internal/procstat"}, foreign)
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	waittest.Until(t, done)
}

// shortDir is a folder whose socket paths fit the 104 bytes of darwin.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hk")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}
