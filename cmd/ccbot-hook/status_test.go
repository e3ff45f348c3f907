package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
)

const statusIn = `{"session_id":"` + sessionID + `","model":{"id":"m","display_name":"Opus 5.5"},"cost":{"total_cost_usd":0.25},` +
	`"context_window":{"used_percentage":41}}` + "\n"

func (a agent) statusFile() string { return filepath.Join(a.dir, "status", launchID+".json") }

func (a agent) status(t *testing.T) hookwire.Status {
	t.Helper()
	data, err := os.ReadFile(a.statusFile())
	require.NoError(t, err)
	s, err := hookwire.ReadStatus(data)
	require.NoError(t, err)
	return s
}

func TestP10_StatusLine(t *testing.T) {
	hook := build(t)
	t.Run("is noted", func(t *testing.T) { testStatusNoted(t, newAgent(t, hook)) })
	t.Run("is not rewritten", func(t *testing.T) { testStatusUnchanged(t, newAgent(t, hook)) })
	t.Run("bad input or place", func(t *testing.T) { testStatusBad(t, hook) })
	t.Run("wraps", func(t *testing.T) { testWraps(t, hook) })
}

func testStatusNoted(t *testing.T, a agent) {
	cmd := a.command(`unset CCBOT_LAUNCH; "$0" --dir "$1" --launch ` + launchID + ` --status`)
	silent(t, cmd, strings.NewReader(statusIn))
	s := a.status(t)
	assert.Equal(t, []any{launchID, sessionID, "Opus 5.5", 41.0, 0.25, cmd.Process.Pid}, []any{s.Launch, s.SessionID, s.Model, s.ContextPercent, s.CostUSD, s.AgentPID})
	assert.NotZero(t, s.AgentStart)
	assert.Equal(t, hookwire.BootID(), s.Boot)
	assert.Empty(t, a.events(t))
	assert.Empty(t, a.bindings(t))
}

func testStatusUnchanged(t *testing.T, a agent) {
	cmd := a.command(`printf %s "$2" | "$0" --dir "$1" --status; touch -t 202001010000 "$1"/status/*; printf %s "$2" | "$0" --dir "$1" --status`)
	cmd.Args = append(cmd.Args, statusIn)
	silent(t, cmd, nil)
	info, err := os.Stat(a.statusFile())
	require.NoError(t, err)
	assert.Equal(t, 2020, info.ModTime().Year())
}

func testStatusBad(t *testing.T, hook string) {
	tests := []struct {
		name, script, in string
		corrupt          func(a *agent)
	}{
		{name: "nothing"},
		{name: "no JSON", in: "hello"},
		{name: "half", in: statusIn[:30]},
		{name: "10 MB", in: `{"x":"` + strings.Repeat("x", 10<<20)},
		{name: "20 MB", in: `{"x":"` + strings.Repeat("x", 20<<20) + `"}`},
		{name: "no session", in: `{}`},
		{name: "stdin closed", script: `"$0" --dir "$1" --status <&-`},
		{name: "no launch", script: `unset CCBOT_LAUNCH; "$0" --dir "$1" --status`, in: statusIn},
		{name: "a launch that is a path", script: `CCBOT_LAUNCH=../x "$0" --dir "$1" --status`, in: statusIn},
		{name: "no folder", script: `"$0" --status`, in: statusIn},
		{name: "folder missing", in: statusIn, corrupt: func(a *agent) { a.dir += "/absent" }},
		{name: "folder not writable", in: statusIn, corrupt: func(a *agent) { a.dir = "/proc" }},
		{name: "full", script: `ulimit -f 0; "$0" --dir "$1" --status`, in: statusIn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, hook)
			if tt.corrupt != nil {
				tt.corrupt(&a)
			}
			if tt.script == "" {
				tt.script = `"$0" --dir "$1" --status`
			}
			silent(t, a.command(tt.script), strings.NewReader(tt.in))
			assert.Empty(t, contents(t, filepath.Join(a.dir, "status")))
			wrapped := strings.Replace(tt.script, "--status", "--status --wrap 'echo mine; exit 3'", 1)
			out, code := output(t, a.command(wrapped), tt.in)
			assert.Equal(t, "mine\n", out, "the person's own line is there all the same")
			assert.Equal(t, 3, code)
		})
	}
}

// output runs it and returns both outputs and its exit code.
func output(t *testing.T, cmd *exec.Cmd, in string) (string, int) {
	t.Helper()
	var said, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &said, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return said.String() + errs.String(), cmd.ProcessState.ExitCode()
}

// testWraps compares each command with a direct run of it, as by Claude Code.
func testWraps(t *testing.T, hook string) {
	big := `{"session_id":"` + sessionID + `","x":"` + strings.Repeat("x", 3<<20) + `"}`
	ordinarySignals(t)
	const showsSignals = "grep -E 'Sig(Ign|Blk|Pnd)' /proc/self/status || :"
	tests := []struct{ name, command, in, before string }{
		{"says something", "echo hello; echo there >&2", statusIn, ""},
		{"gets the same bytes", "cat", statusIn, ""},
		{"gets the same bytes, no JSON", "cat", " a\x00b\xff \n\n", ""},
		{"gets nothing", "cat", "", ""},
		{"gets more than a pipe holds", "cksum", big, ""},
		{"does not read", "echo hello", big, ""},
		{"fails", "echo hello; exit 3", statusIn, ""},
		{"is not there", "/nowhere/statusline", statusIn, ""},
		{"does not parse", "echo 'open", statusIn, ""},
		{"is killed", "kill -TERM $$", statusIn, ""},
		{"has its signals", showsSignals, statusIn, ""},
		{"ignores HUP and INT as below nohup", showsSignals, statusIn, "trap '' HUP INT; "},
		{"has its files", "ls /proc/self/fd 2>/dev/null | wc -l", statusIn, ""},
		{"looks like an argument", "true --dir=/x", statusIn, ""},
		{"sees the environment", "echo $CCBOT_LAUNCH $TMUX_PANE", statusIn, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, hook)
			for _, script := range []string{`"$0" --dir "$1" --status --wrap "$2"`, `"$0" --wrap="$2" --status --dir="$1"`, `"$0" --status --wrap "$2"`} {
				alone := a.command(tt.before + `/bin/sh -c "$2"`)
				alone.Args = append(alone.Args, tt.command)
				wantOut, wantCode := output(t, alone, tt.in)
				wrapped := a.command(tt.before + script)
				wrapped.Args = append(wrapped.Args, tt.command)
				out, code := output(t, wrapped, tt.in)
				assert.Equal(t, wantOut, out, script)
				assert.Equal(t, wantCode, code, script)
			}
			if strings.Contains(tt.in, sessionID) {
				assert.Equal(t, sessionID, a.status(t).SessionID)
			}
		})
	}
}

// Output of the person's command is stored before Claude Code gets it, the newest first.
func TestStatusLineRowsAreKept(t *testing.T) {
	a := newAgent(t, build(t))
	rows := func() []string {
		return hookwire.ReadRows(strings.TrimSuffix(a.statusFile(), ".json") + hookwire.RowsSuffix)
	}
	for _, tt := range []struct {
		command string
		want    []string
	}{
		{"echo one", []string{"one\n"}},
		{"echo one", []string{"one\n"}},
		{"printf 'two\\nrows'; exit 3", []string{"two\nrows", "one\n"}},
		{"printf 'a\\000b'", []string{"two\nrows", "one\n"}},
		{"head -c 20000 /dev/zero | tr '\\000' x", []string{"two\nrows", "one\n"}},
		{"echo three; echo not this one >&2", []string{"three\n", "two\nrows", "one\n"}},
		{"echo four", []string{"four\n", "three\n", "two\nrows"}},
	} {
		cmd := a.command(`"$0" --dir "$1" --status --wrap "$2"`)
		cmd.Args = append(cmd.Args, tt.command)
		out, _ := output(t, cmd, statusIn)
		assert.Equal(t, tt.want, rows(), tt.command)
		assert.NotEmpty(t, out)
	}
}

func TestStatusLine_WrapAfterBound(t *testing.T) {
	a := newAgent(t, build(t))
	r, w, err := os.Pipe() // never closed by its writer
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()); require.NoError(t, w.Close()) }()
	_, err = w.WriteString("so far")
	require.NoError(t, err)
	cmd := a.command(`"$0" --dir "$1" --status --wrap cat`)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = r, &out
	cmd.WaitDelay = time.Minute
	require.NoError(t, cmd.Run())
	assert.Equal(t, "so far", out.String())
}
