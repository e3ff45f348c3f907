package tmuxtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
	"ccbot/tmux"
)

// The variables that the server of a World must have in its environment.
const (
	KeptVariable   = "CCBOT_TEST_KEPT"   // with the value "kept"
	SecretVariable = "CCBOT_TEST_SECRET" // with any value
)

// World is one tmux under test, connected, with its session made and Run running.
type World struct {
	Tmux   Tmux
	Person Person
	// Binary is the absolute path of a program that calls RunProgram, or a stand-in for it.
	Binary string
	// Quiet are folders in which no file named "x" may appear when a name with #(touch x) is used.
	Quiet []string
	// NoSignals means that this tmux (3.2) does not report which signal ended a process.
	NoSignals bool
}

// Person does things at the terminal that the interface does not offer.
type Person interface {
	Split(t *testing.T, id tmux.PaneID) tmux.PaneID
	CopyMode(t *testing.T, id tmux.PaneID)
	InputOff(t *testing.T, id tmux.PaneID)
	Synchronize(t *testing.T, id tmux.PaneID)
	// OpenShell makes a window with an interactive shell, and RunInFront types a command into it.
	OpenShell(t *testing.T) tmux.PaneID
	RunInFront(t *testing.T, shell tmux.PaneID, argv ...string)
	// EndInFront ends the command that runs in front of the shell.
	EndInFront(t *testing.T, shell tmux.PaneID)
	// Attach opens a terminal, until the test's end or Detach, and returns its name.
	Attach(t *testing.T, w tmux.WindowID, how Terminal) (tty string)
	// Show makes the terminal's session show another window.
	Show(t *testing.T, tty string, w tmux.WindowID)
	// Press presses any key at the terminal, now.
	Press(t *testing.T, tty string)
	Detach(t *testing.T, tty string)
	// Hang stops the server, which then answers nothing until the returned function is called.
	Hang(t *testing.T) (answers func())
	// StopServer returns when the server is gone.
	StopServer(t *testing.T)
}

// Terminal holds the options of an attach. The zero value attaches to the window's own session.
type Terminal struct {
	ReadOnly bool
	Grouped  bool // by a separate session of the group
	Control  bool // in control mode
}

// Conformance checks all properties that callers rely on. open returns a new World and cleans it up
// with the test.
func Conformance(t *testing.T, open func(t *testing.T) World) {
	shared := open(t)
	for _, check := range []struct {
		name string
		run  func(*testing.T, World)
	}{
		{"server", checkServer},
		{"new window", checkNewWindow},
		{"TestP9_environment", checkEnvironment},
		{"server's environment", checkServerEnvironment},
		{"bad spec", checkBadSpec},
		{"exit status", checkExitStatus},
		{"signal", checkSignal},
		{"TestP4_paste_exact", checkPasteExact},
		{"keys", checkKeys},
		{"TestP7_guard", checkGuard},
		{"TestP7_guard_of_a_dead_pane", checkGuardDead},
		{"TestP7_leave_a_scrolled_view", checkLeaveView},
		{"TestP7_guard_in_front_of_a_shell", checkGuardInFrontOfShell},
		{"close", checkClose},
		{"TestP2_close_spares_a_split_pane", checkCloseSpares},
		{"capture", checkCapture},
		{"rename", checkRename},
		{"missing", checkMissing},
		{"no target", checkNoTarget},
		{"on change", checkOnChange},
		{"viewers", checkViewers},
		{"touched", checkTouched},
		{"last key of a viewer", checkLastKey},
		{"viewer of a session in a group", checkGroupedViewer},
		{"control client is no viewer", checkControlIsNoViewer},
		{"viewer of a window that is closed", checkViewedWindowCloses},
	} {
		t.Run(check.name, func(t *testing.T) { check.run(t, shared) })
	}
	t.Run("TestP6_silent_server", func(t *testing.T) { checkSilence(t, open(t)) })
	t.Run("TestP6_no_server", func(t *testing.T) { checkNoServer(t, open(t)) })
}

var lastKey atomic.Int64

// spec returns a window with a unique key.
func spec(t *testing.T, argv ...string) tmux.Spec {
	t.Helper()
	key := fmt.Sprintf("u-%d", lastKey.Add(1))
	return tmux.Spec{Name: "name of " + key, Tag: "test/" + key, Dir: realDir(t), Argv: argv}
}

// realDir is an empty folder without links in its path, because tmux reports paths without links.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// recorder is a pane in which the suite's program is ready.
type recorder struct {
	tmux.Pane
	file  string
	Start Report
}

// startRecorder opens a window with the program; change may change the spec.
func startRecorder(t *testing.T, w World, change func(*tmux.Spec), args ...string) recorder {
	t.Helper()
	r := newRecorder(t)
	s := spec(t, append([]string{w.Binary, programWord, r.file}, args...)...)
	if change != nil {
		change(&s)
	}
	made, err := w.Tmux.NewWindow(t.Context(), s)
	require.NoError(t, err)
	closeAfter(t, w, made)
	r.await(t, w, made.ID)
	require.Equal(t, made.PID, r.PID, "no process between tmux and the program")
	return r
}

func newRecorder(t *testing.T) recorder {
	return recorder{file: filepath.Join(t.TempDir(), "report")}
}

// await returns when the program is ready in the pane.
func (r *recorder) await(t *testing.T, w World, id tmux.PaneID) {
	t.Helper()
	eventually(t, func() bool {
		data, err := os.ReadFile(r.file)
		return err == nil && json.Unmarshal(data, &r.Start) == nil
	}, "the program did not start")
	var err error
	r.Pane, err = w.Tmux.Pane(t.Context(), id)
	require.NoError(t, err)
}

func closeAfter(t *testing.T, w World, p tmux.Pane) {
	ctx := context.WithoutCancel(t.Context()) // cleanups run after its end
	t.Cleanup(func() {
		_ = w.Tmux.ClosePane(ctx, tmux.Guard{Pane: p.ID, PID: p.PID})
	})
}

func (r recorder) guard() tmux.Guard {
	return tmux.Guard{Pane: r.ID, PID: r.PID, Command: r.Command}
}

// requireInput waits until exactly want has reached the program.
func (r recorder) requireInput(t *testing.T, want string) {
	t.Helper()
	var got string
	arrived := func() bool {
		data, err := os.ReadFile(r.file + ".in")
		got = string(data)
		return err == nil && len(got) >= len(want)
	}
	waittest.Until(t, arrived, "%q, where there is %q", want, func() string { return got })
	require.Equal(t, want, got)
}

func eventually(t *testing.T, ok func() bool, what string) {
	t.Helper()
	waittest.Until(t, ok, "%s", what)
}

// nothingRan fails when tmux ran a name as a command.
func (w World) nothingRan(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range append(dirs, w.Quiet...) {
		require.NoFileExists(t, filepath.Join(dir, "x"))
	}
}

func variable(env []string, name string) (value string, ok bool) {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
