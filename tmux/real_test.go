package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

	"ccbot/internal/processtest"
	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func TestMain(m *testing.M) {
	tmuxtest.RunProgram()
	os.Exit(m.Run())
}

var servers atomic.Int64

// eventually waits in the test's own goroutine, so that ok may use require.
func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	waittest.Until(t, ok)
}

// real is a client of a private server, gone with the test.
type real struct {
	*tmux.Client
	name   string // of the socket
	socket string // its path
	home   string
}

// private returns a separate socket, with no server yet. A server that is started there ends with
// the test.
func private(t testing.TB) real {
	t.Helper()
	programtest.Require(t, "tmux")
	r := real{name: fmt.Sprintf("ccbot-test-%d-%d", os.Getpid(), servers.Add(1)), home: t.TempDir()}
	r.socket = filepath.Join(socketDir(t), r.name)
	processtest.EndAfterFailure(t, r.home)
	t.Cleanup(func() {
		r.stopServer(t)
		r.requireClean(t)
	})
	return r
}

// open makes a client on a separate socket, with Run running and no server yet.
func open(t testing.TB) real {
	t.Helper()
	r := private(t)
	client, err := tmux.New(r.config())
	require.NoError(t, err)
	r.Client = client
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done, "Run ends clean")
	})
	return r
}

func (r real) config() tmux.Config {
	return tmux.Config{
		Socket: r.name, Session: tmuxtest.Session, Instance: r.name, Start: startTime,
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + r.home,
			tmuxtest.KeptVariable + "=kept", tmuxtest.SecretVariable + "=secret",
		},
	}
}

// control is the target that names the control client's session.
func (r real) control() string { return "=ccbot-ctl-" + r.name }

func socketDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("TMUX_TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	dir, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return filepath.Join(dir, fmt.Sprintf("tmux-%d", os.Getuid()))
}

// startTime is field 22 of /proc/PID/stat; elsewhere 1 is as good for these tests.
func startTime(pid int) (uint64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return 1, syscall.Kill(pid, 0)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if err != nil || len(fields) < 20 {
		return 0, fmt.Errorf("stat of %d: %w", pid, err)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

// tmux runs a command as a person would, through a separate client.
func (r real) tmux(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("tmux", append([]string{"-L", r.name}, args...)...)
	cmd.Env = r.config().Env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "tmux %q: %s", args, out)
	return strings.TrimSpace(string(out))
}

// stopServer ends the server, if there is one, and waits until its socket refuses.
func (r real) stopServer(t testing.TB) {
	t.Helper()
	cmd := exec.Command("tmux", "-L", r.name, "kill-server")
	cmd.Env = r.config().Env
	_ = cmd.Run()
	eventually(t, func() bool {
		cmd := exec.Command("tmux", "-L", r.name, "-N", "list-sessions")
		cmd.Env = r.config().Env
		out, err := cmd.CombinedOutput()
		return err != nil && (strings.Contains(string(out), "no server") || strings.Contains(string(out), "error connecting"))
	})
}

// requireClean removes the dead socket, which tmux leaves, and requires that no other file of ccbot
// is next to it.
func (r real) requireClean(t testing.TB) {
	t.Helper()
	err := os.Remove(r.socket)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(r.socket), ".ccbot-"+r.name+"-paste-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func ensured(t testing.TB) real {
	t.Helper()
	r := open(t)
	require.NoError(t, r.Ensure(t.Context()))
	return r
}

type person struct{ real }

func (p person) Split(t *testing.T, id tmux.PaneID) tmux.PaneID {
	t.Helper()
	pane, err := tmux.ParsePaneID(p.tmux(t, "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", id.String(), "sleep", "1000"))
	require.NoError(t, err)
	return pane
}

func (p person) CopyMode(t *testing.T, id tmux.PaneID) { p.tmux(t, "copy-mode", "-t", id.String()) }
func (p person) InputOff(t *testing.T, id tmux.PaneID) {
	p.tmux(t, "select-pane", "-d", "-t", id.String())
}
func (p person) Synchronize(t *testing.T, id tmux.PaneID) {
	p.tmux(t, "set-option", "-w", "-t", id.String(), "synchronize-panes", "on")
}

func (p person) Hang(t *testing.T) (answers func()) {
	server, err := p.Client.Server(t.Context())
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(server.PID, syscall.SIGSTOP))
	answers = func() { _ = syscall.Kill(server.PID, syscall.SIGCONT) }
	t.Cleanup(answers)
	return answers
}

func (p person) StopServer(t *testing.T) { p.stopServer(t) }

func TestP7_Tmux(t *testing.T) {
	binary, err := os.Executable()
	require.NoError(t, err)
	tmuxtest.Conformance(t, func(t *testing.T) tmuxtest.World {
		r := ensured(t)
		old := strings.HasPrefix(r.tmux(t, "-V"), "tmux 3.2")
		return tmuxtest.World{Tmux: r.Client, Person: person{r}, Binary: binary, Quiet: []string{"/", r.home}, NoSignals: old}
	})
}
