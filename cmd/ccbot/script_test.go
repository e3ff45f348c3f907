package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/demoagent"
)

// TestMain lets scripts run this test binary as ccbot. Its folder has no ccbot-hook, so no script
// gets past its configuration: nothing of a real bot is started.
func TestMain(m *testing.M) {
	syscall.Umask(0o022) // with 002 the folders of a test could be written by the group
	testscript.Main(m, map[string]func(){"ccbot": main, "claude": func() {
		os.Exit(demoagent.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout))
	}})
}

// endsAtOnce is for this binary as a program: the race detector waits for a second at the end of
// each.
const endsAtOnce = "GORACE=atexit_sleep_ms=0"

// installed returns a function that runs ccbot, from a folder with its other binaries, as a
// separate process, and returns its output.
func installed(t *testing.T) func(t *testing.T, environ []string, code int, args ...string) (said string) {
	t.Helper()
	me, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, "ccbot")
	require.NoError(t, os.Link(me, path))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ccbot-hook"), []byte("#!/bin/sh\n"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ccbot-try"), []byte("#!/bin/sh\necho \"$MINE $*\"\nexit 7\n"), 0o700))
	return func(t *testing.T, environ []string, code int, args ...string) string {
		t.Helper()
		cmd := exec.Command(path, args...)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), endsAtOnce}, environ...)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
			require.NoError(t, err)
		}
		assert.Equal(t, code, cmd.ProcessState.ExitCode(), "%s", out)
		return string(out)
	}
}

// TestP9_Scripts runs the command line as a person would.
func TestP9_Scripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, endsAtOnce)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TELEGRAM_BOT_TOKEN", goodToken)
			e.Setenv("ALLOWED_USERS", "1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a program and wants its exit code: exits 2 ccbot run.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits code program [argument...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s exited with %d, want %d", args[1], got, want)
	}
}

// TestTryIsTheProgramBeside: it takes the place of ccbot, with all arguments, the environment and
// its exit code.
func TestTryIsTheProgramBeside(t *testing.T) {
	said := installed(t)(t, []string{"MINE=mine"}, 7, "try", "--agent", "claude", "--help", "now")
	assert.Equal(t, "mine --agent claude --help now\n", said)
}
