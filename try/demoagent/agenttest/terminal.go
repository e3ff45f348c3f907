package agenttest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/processtest"
	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
)

// Spec describes the window's process.
type Spec struct {
	Argv []string
	Env  []string // the whole environment; TMUX and TMUX_PANE are added
	Dir  string
}

// Terminal is one window of 120×40 whose dead pane stays visible.
type Terminal struct {
	t    testing.TB
	base []string // tmux and its socket
	env  []string
}

// Start opens the window; server, socket and processes are gone after the test.
func Start(t testing.TB, spec Spec) *Terminal {
	t.Helper()
	programtest.Require(t, "tmux")
	// A short path: the name of a socket is limited to about 100 bytes.
	dir, err := os.MkdirTemp("/tmp", "ccbot-tmux-")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	processtest.EndAfterFailure(t, dir) // TMUX names the folder
	w := &Terminal{t: t, base: []string{"-L", "agenttest-" + strconv.Itoa(os.Getpid()), "-f", "/dev/null"},
		env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TERM=xterm-256color", "TMUX_TMPDIR=" + dir}}
	// The first window sleeps: the server must outlive the agent, and its pid is needed at the end.
	w.must("new-session", "-d", "-s", "main", "-x", "120", "-y", "40", "exec sleep 86400")
	w.must("set-option", "-g", "remain-on-exit", "on")
	server, err := strconv.Atoi(w.must("display-message", "-p", "#{pid}"))
	require.NoError(t, err)
	t.Cleanup(func() { w.close(server) })

	// env -i, but for what tmux tells the pane about itself.
	script := filepath.Join(dir, "start")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nexec env -i TMUX=\"$TMUX\" TMUX_PANE=\"$TMUX_PANE\" \"$@\"\n"), 0o700))
	args := append([]string{"new-window", "-t", "=main:", "-n", "agent", "-c", spec.Dir, script}, spec.Env...)
	w.must(append(args, spec.Argv...)...)
	return w
}

// close hangs the agent up and waits for it and the server to be gone. After a failure the agent
// may ignore that.
func (w *Terminal) close(server int) {
	if w.t.Failed() {
		return
	}
	table, err := process.NewTable()
	require.NoError(w.t, err)
	pid := w.PID()
	_, _ = w.run("kill-server")
	for _, p := range []int{pid, server} {
		waittest.Until(w.t, func() bool {
			_, err := table.Identify(p)
			return errors.Is(err, process.ErrGone)
		}, "process %d is left", p)
	}
}

func (w *Terminal) run(args ...string) (string, error) {
	cmd := exec.Command("tmux", append(append([]string(nil), w.base...), args...)...)
	cmd.Env = w.env
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

func (w *Terminal) must(args ...string) string {
	w.t.Helper()
	out, err := w.run(args...)
	require.NoError(w.t, err, "tmux %v: %s", args, out)
	return out
}

const target = "=main:=agent"

// Paste delivers text as one bracketed paste, line breaks kept.
func (w *Terminal) Paste(text string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "paste")
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o600))
	w.must("load-buffer", "-b", "p", file)
	w.must("paste-buffer", "-p", "-r", "-d", "-b", "p", "-t", target)
}

// Press sends keys by their tmux names ("Enter", "Escape", "C-u", "1").
func (w *Terminal) Press(keys ...string) {
	w.t.Helper()
	w.must(append([]string{"send-keys", "-t", target}, keys...)...)
}

// Type sends letters as they are.
func (w *Terminal) Type(text string) {
	w.t.Helper()
	w.must("send-keys", "-t", target, "-l", "--", text)
}

// Submit pastes text and presses Enter.
func (w *Terminal) Submit(text string) {
	w.t.Helper()
	w.Paste(text)
	w.Press("Enter")
}

// Resize changes the size of the window.
func (w *Terminal) Resize(width, height int) {
	w.t.Helper()
	w.must("resize-window", "-t", target, "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}

// Screen is the visible text without colours.
func (w *Terminal) Screen() string {
	w.t.Helper()
	return w.must("capture-pane", "-p", "-t", target)
}

// History is the screen with what was scrolled off it. tmux scrolls a dead pane by one line to say
// that it is dead, so an error in the first line is found only here.
func (w *Terminal) History() string {
	w.t.Helper()
	return w.must("capture-pane", "-p", "-S", "-", "-t", target)
}

// Colours is the visible text with its SGR sequences.
func (w *Terminal) Colours() string {
	w.t.Helper()
	return w.must("capture-pane", "-p", "-e", "-t", target)
}

// Format expands a tmux format for the pane.
func (w *Terminal) Format(format string) string {
	w.t.Helper()
	return w.must("display-message", "-p", "-t", target, format)
}

// PID is the pane's process.
func (w *Terminal) PID() int {
	w.t.Helper()
	pid, err := strconv.Atoi(w.Format("#{pane_pid}"))
	require.NoError(w.t, err)
	return pid
}

// WaitFor waits until the screen holds every text, and returns the screen.
func (w *Terminal) WaitFor(texts ...string) string {
	w.t.Helper()
	screen := ""
	waittest.Until(w.t, func() bool {
		screen = w.Screen()
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}, "%q on the screen, where there is\n%s", texts, func() string { return screen })
	return screen
}

// Answer waits for texts and a pause, and presses keys: the real CLI ignores Enter and digits for
// some 50 ms after a dialog was drawn, and the screen does not show the end of that time.
func (w *Terminal) Answer(keys []string, texts ...string) {
	w.t.Helper()
	w.WaitFor(texts...)
	<-time.After(300 * time.Millisecond)
	w.Press(keys...)
}

// WaitDead waits for the end of the process and returns its exit status, or "signal N".
func (w *Terminal) WaitDead() string {
	w.t.Helper()
	status := ""
	waittest.Until(w.t, func() bool {
		dead, rest, _ := strings.Cut(w.Format("#{pane_dead} #{pane_dead_status} #{pane_dead_signal}"), " ")
		code, sig, _ := strings.Cut(rest, " ")
		if status = code; code == "" {
			status = "signal " + sig
		}
		if dead == "1" && strings.TrimSpace(rest) == "" {
			// tmux 3.3a now and then misses the SIGCHLD: the process stays a zombie and the pane
			// never gets its status. The end of any other child makes tmux collect them all.
			w.must("run-shell", "true")
			return false
		}
		return dead == "1"
	}, "waiting for the end")
	return status
}
