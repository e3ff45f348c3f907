package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ccbot/internal/processtest"
	"ccbot/internal/waittest"
)

// childMode makes this binary a process to be ended: "wait" ends at the first signal, "stubborn"
// takes HUP and TERM, "undumpable" may not be read by its own user. Each ends by itself when its
// standard input closes, so nothing outlives a test that dies.
const childMode = "PROCESS_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childMode) {
	case "":
		os.Exit(m.Run())
	case "wait":
		endAtSignal()
	case "stubborn":
		signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
	case "hidepid":
		lookThroughHidepid()
		return
	case "undumpable":
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// endAtSignal is for a test run that was started with HUP ignored (nohup), which children inherit.
func endAtSignal() {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGHUP, syscall.SIGTERM)
	go func() {
		<-ends
		os.Exit(0)
	}()
}

// started is a child with its identity. It is collected when the test ends, even if the test has
// ended it.
type started struct {
	*exec.Cmd
	id    Identity
	out   *bufio.Reader
	reaps func() error
}

func start(t *testing.T, table *Table, cmd *exec.Cmd) started {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	s := started{Cmd: cmd, out: bufio.NewReader(stdout), reaps: sync.OnceValue(cmd.Wait)}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = s.reaps()
	})
	s.id, err = table.Identify(cmd.Process.Pid)
	require.NoError(t, err)
	return s
}

// startAgent starts this binary under the name claude and waits until it has set up its signals.
func startAgent(t *testing.T, table *Table, mode string, args ...string) started {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	s := start(t, table, &exec.Cmd{Path: exe, Args: append([]string{"claude"}, args...), Env: append(os.Environ(), childMode+"="+mode)})
	line, err := s.out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return s
}

func newTestTable(t *testing.T) *Table {
	t.Helper()
	table, err := NewTable()
	require.NoError(t, err)
	return table
}

// proveWriter does what callers do: a fresh snapshot, all guards, and a yes for exactly this
// process.
func proveWriter(table *Table, id uuid.UUID) func(Process) error {
	return func(p Process) error {
		s, err := table.Snapshot(context.Background())
		if err != nil {
			return err
		}
		return proveFrom(table, s, id)(p)
	}
}

// proveFrom proves from one snapshot for all, as a caller with many sessions does.
func proveFrom(table *Table, s Snapshot, id uuid.UUID) func(Process) error {
	guards := StandardGuards(table.Self(), claudeNames)
	verdicts := Judge(s, nil, claudeNames, id)
	return func(p Process) error {
		if name, spared := SparedBy(p, s, guards); spared {
			return errors.New(name)
		}
		for _, v := range verdicts {
			if v.Writer == Yes && v.Process.Identity == p.Identity {
				return nil
			}
		}
		return errors.New("no writer")
	}
}

func TestP3_End_realProcess(t *testing.T) {
	table := newTestTable(t)
	quick := Grace{Term: 20 * time.Millisecond, Kill: 100 * time.Millisecond}
	tests := []struct {
		name   string
		mode   string
		hangUp os.Signal // nil: no hang-up
		how    How
	}{
		{"ends at the hang-up", "wait", syscall.SIGHUP, HowHangUp},
		{"ends at TERM", "wait", nil, HowTerm},
		{"traps HUP and TERM", "stubborn", syscall.SIGHUP, HowKill},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := startAgent(t, table, test.mode, "--resume", textX)
			var hangUp func(context.Context) error
			if test.hangUp != nil {
				hangUp = func(context.Context) error { return agent.Process.Signal(test.hangUp) }
			}
			grace := quick
			switch test.how { // the machine may be slow: only the step that is awaited shall end it
			case HowHangUp:
				grace.Term, grace.Kill = time.Hour, time.Hour
			case HowTerm:
				grace.Kill = time.Hour
			}
			out, err := table.End(t.Context(), agent.id, proveWriter(table, idX), hangUp, grace)
			require.NoError(t, err)
			assert.Equal(t, test.how, out.How)
			assert.True(t, out.Ended && out.Verified)
			assert.Empty(t, out.Spared)
			assert.Equal(t, []string{"claude", "--resume", textX}, out.Process.Args)
			assert.Equal(t, Gone, table.Liveness(agent.id), "though nobody has collected it yet")

			again, err := table.End(t.Context(), agent.id, proven, nil, grace)
			require.NoError(t, err)
			assert.Equal(t, HowAlreadyGone, again.How)
		})
	}
}

// If BeforeKill fails, KILL is not sent: its leftovers would later be unknown.
func TestP3_End_noKillWithoutTheNote(t *testing.T) {
	table := newTestTable(t)
	agent := startAgent(t, table, "stubborn", "--resume", textX)
	grace := Grace{Term: time.Millisecond, Kill: 20 * time.Millisecond, BeforeKill: func(context.Context) error { return errTest }}
	out, err := table.End(t.Context(), agent.id, proveWriter(table, idX), nil, grace)
	assert.ErrorIs(t, err, errTest)
	assert.Equal(t, HowTerm, out.How)
	assert.False(t, out.Ended)
	assert.Equal(t, Alive, table.Liveness(agent.id))

	grace.BeforeKill = func(context.Context) error { return nil }
	out, err = table.End(t.Context(), agent.id, proveWriter(table, idX), nil, grace)
	require.NoError(t, err)
	assert.Equal(t, HowKill, out.How)
	assert.Equal(t, Gone, table.Liveness(agent.id))
}

func TestP3_End_realProcessEndsMidWay(t *testing.T) {
	table := newTestTable(t)
	tests := []struct {
		name string
		how  How
		end  func(ends func() error) (prove func(Process) error, hangUp func(context.Context) error)
	}{
		{"while it is proven", HowAlreadyGone, func(ends func() error) (func(Process) error, func(context.Context) error) {
			return func(Process) error { return ends() }, nil
		}},
		{"during a hang-up that fails", HowHangUp, func(ends func() error) (func(Process) error, func(context.Context) error) {
			return proven, func(context.Context) error { return errors.Join(ends(), errTest) }
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := startAgent(t, table, "wait", "--resume", textX)
			prove, hangUp := test.end(func() error { // and its pid is free again
				err := agent.Process.Kill()
				_ = agent.reaps()
				return err
			})
			out, err := table.End(t.Context(), agent.id, prove, hangUp, Grace{})
			require.NoError(t, err)
			assert.Equal(t, test.how, out.How)
			assert.True(t, out.Ended && out.Verified)
		})
	}
}

func TestP2_End_realProcessIsSpared(t *testing.T) {
	table := newTestTable(t)
	agent := startAgent(t, table, "wait", "--resume", textX)
	parent, err := table.Identify(os.Getppid())
	require.NoError(t, err)
	first, err := table.Identify(1)
	require.NoError(t, err)
	late := agent.id
	late.Start++

	tests := []struct {
		name  string
		id    Identity
		prove func(Process) error
		ended bool
	}{
		{"wrong start time", late, proven, true}, // gone, and its pid reused
		{"not proven", agent.id, func(Process) error { return errTest }, false},
		{"proven for another session", agent.id, proveWriter(table, idY), false},
		{"ourselves", table.Self(), proven, false},
		{"our parent", parent, proven, false},
		{"pid 1", first, proven, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, err := table.End(t.Context(), test.id, test.prove, nil, Grace{Term: time.Millisecond, Kill: time.Millisecond})
			require.NoError(t, err)
			assert.Equal(t, test.ended, out.Ended)
			assert.Equal(t, test.ended, out.Spared == "")
			assert.Equal(t, Alive, table.Liveness(agent.id))
		})
	}
}

func TestP6_zombieIsGone(t *testing.T) {
	table := newTestTable(t)
	id := uuid.New() // no other test run on this machine has a writer of it
	child := startAgent(t, table, "wait", "--resume", id.String())
	require.NoError(t, child.Process.Kill())
	require.NoError(t, table.Wait(t.Context(), child.id)) // not collected: it stays a zombie

	s, err := table.Snapshot(t.Context())
	require.NoError(t, err)
	zombie, ok := s.Find(child.id.PID)
	require.True(t, ok)
	assert.True(t, zombie.Gone())
	assert.Equal(t, child.id, zombie.Identity)
	assert.Equal(t, Gone, table.Liveness(child.id))
	_, err = table.Inspect(child.id.PID)
	assert.ErrorIs(t, err, ErrGone)
	assert.NoError(t, table.Wait(t.Context(), child.id))
	assert.Empty(t, Judge(s, []Claim{{child.id, id, SourcePresence}}, claudeNames, id))
	out, err := table.End(t.Context(), child.id, proven, nil, Grace{})
	require.NoError(t, err)
	assert.Equal(t, HowAlreadyGone, out.How)
}

func TestWait(t *testing.T) {
	table := newTestTable(t)
	child := startAgent(t, table, "wait")

	t.Run("ends with the context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		assert.ErrorIs(t, table.Wait(ctx, child.id), context.DeadlineExceeded)
		assert.Equal(t, Alive, table.Liveness(child.id))
	})
	t.Run("a context that has ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, table.Wait(ctx, child.id), context.Canceled)
	})
	t.Run("another process has the pid", func(t *testing.T) {
		late := child.id
		late.Start++
		assert.NoError(t, table.Wait(t.Context(), late))
	})
	t.Run("another boot", func(t *testing.T) {
		assert.NoError(t, table.Wait(t.Context(), Identity{child.id.PID, child.id.Start, "earlier"}))
	})
	t.Run("incomplete", func(t *testing.T) {
		assert.Error(t, table.Wait(t.Context(), Identity{PID: child.id.PID}))
	})
	t.Run("ends with the process", func(t *testing.T) {
		done := make(chan error, 1)
		go func() { done <- table.Wait(t.Context(), child.id) }()
		require.NoError(t, child.Process.Kill())
		assert.NoError(t, <-done)
		assert.Equal(t, Gone, table.Liveness(child.id))
	})
}

func readPID(t *testing.T, from *bufio.Reader) int {
	t.Helper()
	line, err := from.ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	return pid
}

// Agents are children of tmux, not of ccbot.
func TestWait_forForeignChild(t *testing.T) {
	table := newTestTable(t)
	place := t.TempDir()
	processtest.EndAfterFailure(t, place)
	cmd := exec.Command("/bin/sh", "-c", "sleep 300 & echo $!; read x")
	cmd.Env = append(os.Environ(), "HOME="+place)
	shell := start(t, table, cmd)
	grandchild, err := table.Identify(readPID(t, shell.out))
	require.NoError(t, err)

	done := make(chan error, 1)
	go func() { done <- table.Wait(t.Context(), grandchild) }()
	out, err := table.End(t.Context(), grandchild, proven, nil, Grace{})
	require.NoError(t, err)
	assert.Equal(t, HowTerm, out.How)
	assert.NoError(t, <-done)
}

func TestWait_holdsNoThread(t *testing.T) {
	const waits = 200
	table := newTestTable(t)
	child := startAgent(t, table, "wait")
	before, held := threads(t), pidfds(t)
	var waiting sync.WaitGroup
	for range waits {
		waiting.Go(func() { assert.NoError(t, table.Wait(t.Context(), child.id)) })
	}
	waittest.Until(t, func() bool { return pidfds(t) >= held+waits })
	assert.Less(t, threads(t)-before, waits/4)
	require.NoError(t, child.Process.Kill())
	waiting.Wait()
	assert.LessOrEqual(t, pidfds(t), held)
}

func threads(t *testing.T) int {
	tasks, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	return len(tasks)
}

func pidfds(t *testing.T) (n int) {
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, fd := range fds {
		if target, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.Contains(target, "[pidfd]") {
			n++
		}
	}
	return n
}
