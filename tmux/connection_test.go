package tmux_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
	"ccbot/tmux"
)

func (r real) shell(t testing.TB, key, script string) tmux.Pane {
	t.Helper()
	p, err := r.NewWindow(t.Context(), tmux.Spec{Name: key, Tag: "t/" + key, Dir: "/", Argv: []string{"/bin/sh", "-c", script}})
	require.NoError(t, err)
	return p
}

// controlPID is the process of the control client.
func (r real) controlPID(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(r.tmux(t, "list-clients", "-F", "#{client_pid}"))
	require.NoError(t, err)
	return pid
}

func TestReconnectsAfterTheControlClientDied(t *testing.T) {
	r := ensured(t)
	pane := r.shell(t, "u-1", "sleep 1000")
	server, err := r.Server(t.Context())
	require.NoError(t, err)
	for range 3 {
		pid := r.controlPID(t)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		eventually(t, func() bool {
			_, err := r.Panes(t.Context())
			require.NotErrorIs(t, err, tmux.ErrNoServer, "a lost client proves nothing")
			clients := r.tmux(t, "list-clients", "-F", "#{client_pid}")
			return clients != "" && clients != strconv.Itoa(pid)
		})
		p, err := r.Pane(t.Context(), pane.ID)
		require.NoError(t, err)
		require.Equal(t, pane.PID, p.PID)
	}
	again, err := r.Server(t.Context())
	require.NoError(t, err)
	assert.Equal(t, server, again)
}

func TestReconnectsAfterItsSessionWasClosed(t *testing.T) {
	r := ensured(t)
	r.shell(t, "u-1", "sleep 1000")
	r.tmux(t, "kill-session", "-t", r.control())
	eventually(t, func() bool {
		panes, err := r.Panes(t.Context())
		return err == nil && len(panes) == 3
	})
}

func TestP6_ServerDiesUnderTheClient(t *testing.T) {
	r := open(t)
	var notified atomic.Int64
	r.OnChange(func() { notified.Add(1) })
	require.NoError(t, r.Ensure(t.Context()))
	pane := r.shell(t, "u-1", "sleep 1000")
	server, err := r.Server(t.Context())
	require.NoError(t, err)
	notified.Store(0)
	require.NoError(t, syscall.Kill(server.PID, syscall.SIGKILL))
	eventually(t, func() bool {
		_, err = r.Pane(t.Context(), pane.ID)
		require.Error(t, err)
		require.NotErrorIs(t, err, tmux.ErrNoPane)
		return errors.Is(err, tmux.ErrNoServer)
	})
	eventually(t, func() bool { return notified.Load() > 0 })

	require.NoError(t, r.Ensure(t.Context()))
	again, err := r.Server(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, server, again)
}

func TestP6_StoppedServer(t *testing.T) {
	r := ensured(t)
	pane := r.shell(t, "u-1", "sleep 1000")
	server, err := r.Server(t.Context())
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(server.PID, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(server.PID, syscall.SIGCONT) })
	for lost := 0; lost < 3; {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err = r.Pane(ctx, pane.ID)
		cancel()
		if errors.Is(err, tmux.ErrNotSent) {
			continue // its time was over before
		}
		lost++
		require.ErrorIs(t, err, tmux.ErrLost)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, tmux.ErrNoPane)
	}
	require.NoError(t, syscall.Kill(server.PID, syscall.SIGCONT))
	p, err := r.Pane(t.Context(), pane.ID)
	require.NoError(t, err, "late answers belong to the calls that gave up")
	assert.Equal(t, pane.PID, p.PID)
}

func TestRunEndsUnderAStoppedServer(t *testing.T) {
	r := open(t)
	client, err := tmux.New(r.config())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	require.NoError(t, client.Ensure(t.Context()))
	server, err := client.Server(t.Context())
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(server.PID, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(server.PID, syscall.SIGCONT) })
	cancel()
	assert.NoError(t, <-done)
}

func TestNotSentWithoutRun(t *testing.T) {
	r := ensured(t)
	client, err := tmux.New(r.config())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = client.Panes(ctx)
	assert.ErrorIs(t, err, tmux.ErrNotSent)
	assert.NotErrorIs(t, err, tmux.ErrNoServer)
}

func TestAnswersAreMatchedUnderLoad(t *testing.T) {
	r := ensured(t)
	panes := make([]tmux.Pane, 4)
	for i := range panes {
		panes[i] = r.shell(t, fmt.Sprintf("u-%d", i), fmt.Sprintf("echo screen-of-%d; exec sleep 1000", i))
		eventually(t, func() bool {
			screen, err := r.Capture(t.Context(), panes[i].ID, 0)
			return err == nil && strings.Contains(screen, "screen-of-")
		})
	}
	var workers sync.WaitGroup
	for i := range panes {
		workers.Go(func() {
			for range 50 {
				p, err := r.Pane(t.Context(), panes[i].ID)
				assert.NoError(t, err)
				assert.Equal(t, panes[i].PID, p.PID)
				screen, err := r.Capture(t.Context(), panes[i].ID, 0)
				assert.NoError(t, err)
				assert.Contains(t, screen, fmt.Sprintf("screen-of-%d", i))
				err = r.Enter(t.Context(), tmux.Guard{Pane: panes[i].ID, PID: 1})
				assert.ErrorIs(t, err, tmux.ErrGuard)
			}
		})
	}
	workers.Wait()
}

// A screen may show control mode itself, even the very guards of the answer that carries it.
func TestP7_ScreenCannotForgeAnswers(t *testing.T) {
	r := ensured(t)
	file := filepath.Join(t.TempDir(), "screen")
	var screen bytes.Buffer
	now := time.Now().Unix()
	// The numbers count up with each command: some of these match the capture below.
	for number := 280; number < 460; number++ {
		for at := now; at < now+3; at++ {
			fmt.Fprintf(&screen, "%%end %d %d 1\n%%begin %d %d 1\nforged\n%%error %d %d 1\n", at, number, at, number+1, at, number+1)
		}
	}
	screen.WriteString("%begin 1 1 1\n%exit\nlast row\n")
	require.NoError(t, os.WriteFile(file, screen.Bytes(), 0o600))
	pane := r.shell(t, "u-1", "cat "+file+"; exec sleep 1000")
	// The history holds 2,000 rows, so only the end of it is compared.
	want := screen.String()[screen.Len()/2:]
	eventually(t, func() bool {
		got, err := r.Capture(t.Context(), pane.ID, 10_000)
		return err == nil && strings.HasSuffix(strings.TrimRight(got, "\n")+"\n", want)
	})
	_, err := r.Panes(t.Context())
	require.NoError(t, err)
}

func TestOperationsSpawnNoProcess(t *testing.T) {
	r := ensured(t)
	pane := r.shell(t, "u-1", "sleep 1000")
	server, err := r.Server(t.Context())
	require.NoError(t, err)
	eventually(t, func() bool { // the process that the shell replaced is reaped
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server.PID, server.PID))
		if err != nil {
			return true // no /proc: childFaults skips the test
		}
		panes, err := r.Panes(t.Context())
		require.NoError(t, err)
		return len(strings.Fields(string(children))) == len(panes)
	})
	ownBefore, serverBefore := reaped(t), childFaults(t, server.PID)
	g := tmux.Guard{Pane: pane.ID, PID: pane.PID}
	for range 2 {
		_, err = r.Panes(t.Context())
		require.NoError(t, err)
		_, err = r.Capture(t.Context(), pane.ID, 10)
		require.NoError(t, err)
		require.NoError(t, r.Paste(t.Context(), g, "text"))
		require.NoError(t, r.Enter(t.Context(), g))
		require.NoError(t, r.Rename(t.Context(), g, pane.Tag, "#(touch x)"))
	}
	assert.Equal(t, ownBefore, reaped(t), "children of ours")
	assert.Equal(t, serverBefore, childFaults(t, server.PID), "children of the server")
}

// reaped changes with every child that we have started and waited for.
func reaped(t *testing.T) int64 {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage))
	return int64(usage.Minflt)
}

// childFaults is the same of another process, as far as /proc tells.
func childFaults(t *testing.T, pid int) string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("SKIPPED: no /proc")
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.Fields(rest)[8] // field 11
}

func TestNewRefusesDefaultSocketInTest(t *testing.T) {
	for _, name := range []string{"", "default"} {
		_, err := tmux.New(tmux.Config{Socket: name, Session: "ccbot", Instance: "x", Start: startTime})
		assert.ErrorIs(t, err, tmux.ErrDefaultSocket)
	}
}

func TestNewErrors(t *testing.T) {
	good := tmux.Config{Socket: "ccbot-test-x", Session: "ccbot", Instance: "x", Start: startTime}
	for _, c := range []struct {
		name   string
		change func(*tmux.Config)
	}{
		{"socket path", func(c *tmux.Config) { c.Socket = "a/b" }},
		{"session", func(c *tmux.Config) { c.Session = "a:b" }},
		{"session format", func(c *tmux.Config) { c.Session = "#(x)" }},
		{"no session", func(c *tmux.Config) { c.Session = "" }},
		{"no instance", func(c *tmux.Config) { c.Instance = "" }},
		{"no start", func(c *tmux.Config) { c.Start = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := good
			c.change(&cfg)
			_, err := tmux.New(cfg)
			assert.Error(t, err)
		})
	}
	t.Setenv("PATH", t.TempDir())
	_, err := tmux.New(good)
	assert.ErrorIs(t, err, tmux.ErrNoTmux)
}

func TestNewRefusesAnOldTmux(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\necho tmux 2.9a\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	_, err := tmux.New(tmux.Config{Socket: "ccbot-test-x", Session: "ccbot", Instance: "x", Start: startTime})
	require.ErrorIs(t, err, tmux.ErrTooOld)
	assert.ErrorContains(t, err, "2.9a")
	assert.ErrorContains(t, err, tmux.MinVersion)
}

func TestP9_ServerGetsOnlyTheGivenEnvironment(t *testing.T) {
	t.Setenv("TELEGRAM_BOT_TOKEN", "1:secret")
	r := ensured(t)
	assert.NotContains(t, r.tmux(t, "show-environment", "-g"), "TELEGRAM")
	server, err := r.Server(t.Context())
	require.NoError(t, err)
	pids := []int{server.PID, r.controlPID(t), r.shell(t, "u-1", "exec sleep 1000").PID}
	for _, pid := range pids {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			t.Skip("SKIPPED: no /proc")
		}
		assert.NotContains(t, string(environ), "TELEGRAM")
	}
}

func TestP9_PastesLeaveNothingBehind(t *testing.T) {
	r := ensured(t)
	pane := r.shell(t, "u-1", "exec cat >/dev/null")
	g := tmux.Guard{Pane: pane.ID, PID: pane.PID}
	require.NoError(t, r.Paste(t.Context(), g, "private words"))
	g.PID++
	require.ErrorIs(t, r.Paste(t.Context(), g, "private words"), tmux.ErrGuard)
	assert.Empty(t, r.tmux(t, "list-buffers"))
	assert.NotContains(t, r.tmux(t, "show-messages"), "private")
}

// A text that cannot be written down for tmux, as on a full disk, has certainly not reached the
// pane.
func TestP4_UnseenPasteIsNotSent(t *testing.T) {
	programtest.Require(t, "tmux")
	t.Setenv("TMUX_TMPDIR", t.TempDir()) // without the folder of the sockets
	client, err := tmux.New(real{name: "ccbot-test-nowhere", home: t.TempDir()}.config())
	require.NoError(t, err)
	pane, err := tmux.ParsePaneID("%1")
	require.NoError(t, err)
	err = client.Paste(t.Context(), tmux.Guard{Pane: pane, PID: 1}, "text")
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorIs(t, err, tmux.ErrNotSent)
}

func TestStalePastesAreRemoved(t *testing.T) {
	r := ensured(t)
	stale := filepath.Join(filepath.Dir(r.socket), ".ccbot-"+r.name+"-paste-1")
	require.NoError(t, os.WriteFile(stale, nil, 0o600))
	cfg := r.config()
	client, err := tmux.New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, client.Run(ctx))
	assert.NoFileExists(t, stale)
}

// A server that hangs before the greeting is neither gone nor asked again.
func TestP6_SilentGreeting(t *testing.T) {
	r := ensured(t)
	answers := person{r}.Hang(t)
	c, err := tmux.New(r.config())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	for range 2 {
		require.ErrorIs(t, c.Answers(t.Context()), tmux.ErrSilent)
	}
	require.ErrorIs(t, c.Ensure(t.Context()), tmux.ErrSilent)
	answers()
	eventually(t, func() bool { return c.Answers(t.Context()) == nil })
	cancel()
	assert.NoError(t, <-done)
}

// TestP6_ControlClientIsTheServersProgram: after an update of tmux the control client of the new version does not work at the old server,
// and the agents in it need it nevertheless. The old file is usually gone then.
func TestP6_ControlClientIsTheServersProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program of a process is known by /proc alone")
	}
	r := private(t)
	installed := programtest.Require(t, "tmux")
	program, err := os.ReadFile(installed)
	require.NoError(t, err)
	old := filepath.Join(r.home, "tmux")
	require.NoError(t, os.WriteFile(old, program, 0o700))
	start := exec.Command(old, "-L", r.name, "new-session", "-d", "-s", "mine")
	start.Env = r.config().Env
	require.NoError(t, start.Run())
	require.NoError(t, os.Remove(old))
	client, err := tmux.New(r.config())
	require.NoError(t, err)
	r.Client = client
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	require.NoError(t, r.Ensure(t.Context()))
	runs, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.controlPID(t)))
	require.NoError(t, err)
	assert.Equal(t, old+" (deleted)", runs)
}
