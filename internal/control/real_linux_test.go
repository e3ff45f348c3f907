package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ccbot/internal/hookwire"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/waittest"
)

// role makes this binary a client: "call" calls; "orphan" calls when its parent is gone; "daemon"
// starts an orphan in a separate session and ends, "background" in the same session; "hand over"
// connects, leaves the connection to a child, and ends; "hold" is that child.
const role = "CONTROL_TEST_ROLE"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "call":
		err = callAs(os.Args[1])
	case "orphan":
		for parent := os.Args[2]; fmt.Sprint(os.Getppid()) == parent; {
			time.Sleep(tick)
		}
		err = callAs(os.Args[1])
	case "daemon", "background":
		err = startAs("orphan", nil, os.Args[1], fmt.Sprint(os.Getpid()))
	case "hand over":
		err = handOver(os.Args[1])
	case "hold":
		_, err = io.Copy(os.Stdout, os.NewFile(3, "connection"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func callAs(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_, err := Do(ctx, path, hookwire.Call{Verb: "who"})
	return err
}

// startAs starts this binary in another role and in a separate session, and does not wait for it.
func startAs(as string, file *os.File, args ...string) error {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), role+"="+as)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: os.Getenv(role) != "background"}
	cmd.Stdout = os.Stdout // the test waits for its end
	if file != nil {
		cmd.ExtraFiles = []*os.File{file}
	}
	return cmd.Start()
}

func handOver(path string) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(conn, `{"v":1,"verb":"who"}`+"\n"); err != nil {
		return err
	}
	file, err := conn.File()
	if err != nil {
		return err
	}
	return startAs("hold", file)
}

// client is this binary in a role; it ends before the test does.
func client(t *testing.T, as string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), role+"="+as)
	cmd.Stderr = os.Stderr
	return cmd
}

// peers is a handler that keeps who called.
type peers chan Peer

func (p peers) handle(_ context.Context, peer Peer, _ hookwire.Call) (json.RawMessage, error) {
	p <- peer
	return nil, nil
}

// asked is a service that keeps who called.
func asked(t *testing.T) (*service, peers) {
	s, who := newService(t), make(peers, 1)
	s.Handle("who", who.handle)
	s.run(t)
	return s, who
}

// TestP9_PeerIsRealProcess: the chain of a program below a shell below this test.
func TestP9_PeerIsRealProcess(t *testing.T) {
	s, who := asked(t)
	sh := client(t, "call", "sh", "-c", `"$0" "$1"; exit $?`, os.Args[0], s.path)
	require.NoError(t, sh.Run())
	p := <-who
	require.GreaterOrEqual(t, len(p.Chain), 4)
	assert.Equal(t, p.PID, p.Chain[0].PID)
	assert.Equal(t, os.Geteuid(), p.UID)
	assert.Equal(t, []string{os.Args[0], s.path}, p.Chain[0].Args)
	assert.Equal(t, sh.Process.Pid, p.Chain[1].PID)
	assert.Equal(t, os.Getpid(), p.Chain[2].PID)
	assert.Equal(t, p.Whole, p.Chain[len(p.Chain)-1].PID == 1)
	for i, q := range p.Chain[1:] {
		assert.LessOrEqual(t, q.Start, p.Chain[i].Start)
		assert.Equal(t, p.Chain[i].PPID, q.PID)
	}
}

// TestP9_TerminalAbovePeer: the same in a terminal.
func TestP9_TerminalAbovePeer(t *testing.T) {
	s, who := asked(t)
	sh := client(t, "call", "sh", "-c", `"$0" "$1"; exit $?`, os.Args[0], s.path)
	sh.Stdin = terminal(t)
	sh.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, sh.Run())
	p := <-who
	assert.NotZero(t, p.Chain[0].TTY)
	assert.False(t, p.Orphan())
}

// terminal is the program's side of a new terminal.
func terminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = side.Close() })
	return side
}

// TestP9_Orphan: a program that has cut itself loose by a double fork is known as one.
func TestP9_Orphan(t *testing.T) {
	s, who := asked(t)
	daemon := client(t, "daemon", os.Args[0], s.path)
	var said strings.Builder
	daemon.Stdout = &said // a pipe that the orphan has too: Run returns when both have ended
	require.NoError(t, daemon.Run())
	p := <-who
	assert.True(t, p.Orphan())
	for _, q := range p.Chain {
		assert.NotEqual(t, os.Getpid(), q.PID, "the way up to whoever started it is lost")
	}
}

// The leader of the terminal is alive, but no longer above the peer.
func TestP9_OrphanWithTerminal(t *testing.T) {
	s, who := asked(t)
	sh := client(t, "background", "sh", "-c", `"$0" "$1"; cat`, os.Args[0], s.path)
	sh.Stdin = terminal(t)
	sh.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	sh.Cancel = func() error { return syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) }
	require.NoError(t, sh.Start())
	p := <-who
	assert.NotZero(t, p.Chain[0].TTY)
	assert.Equal(t, sh.Process.Pid, p.Chain[0].SID)
	assert.True(t, p.Orphan())
	require.NoError(t, sh.Cancel())
	_ = sh.Wait()
}

// late is a table whose first read waits for the test.
type late struct {
	*process.Table
	first sync.Once
	asked chan int
	look  chan struct{}
}

func (l *late) Inspect(pid int) (process.Process, error) {
	l.first.Do(func() {
		l.asked <- pid
		<-l.look
	})
	return l.Table.Inspect(pid)
}

// TestP9_PeerDeadBeforeInspectionIsRefused: its child has the connection, which is not worth
// its parent's name.
func TestP9_PeerDeadBeforeInspectionIsRefused(t *testing.T) {
	s := newService(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	l := &late{Table: table, asked: make(chan int, 1), look: make(chan struct{})}
	s.table = l
	s.Handle("who", func(context.Context, Peer, hookwire.Call) (json.RawMessage, error) {
		t.Error("the handler was called")
		return nil, nil
	})
	s.run(t)
	first, reply := handedOver(t, s.path)
	assert.Equal(t, first, <-l.asked)
	waittest.Until(t, func() bool { _, err := table.Inspect(first); return err != nil })
	close(l.look)
	assert.Contains(t, <-reply, codePeer)
}

// handedOver runs a client that leaves its connection to a child. reply is what the child reads
// until the end.
func handedOver(t *testing.T, path string) (pid int, reply <-chan string) {
	t.Helper()
	cmd := client(t, "hand over", os.Args[0], path)
	out := make(chan string, 1)
	var said strings.Builder
	cmd.Stdout = &said
	require.NoError(t, cmd.Start())
	go func() {
		_ = cmd.Wait()
		out <- said.String()
	}()
	return cmd.Process.Pid, out
}

// The reply is not sent to another process.
func TestP9_PeerDeadBeforeReply(t *testing.T) {
	s := newService(t)
	s.Handle("who", func(ctx context.Context, p Peer, _ hookwire.Call) (json.RawMessage, error) {
		for {
			if _, err := s.table.Inspect(p.PID); err != nil {
				return json.RawMessage(`"for the dead"`), nil
			}
			_ = pause.For(ctx, tick)
		}
	})
	s.run(t)
	_, reply := handedOver(t, s.path)
	assert.NotContains(t, <-reply, "for the dead")
}

// reused is a table in which the peer's pid has another process after the first reads.
type reused struct {
	*process.Table
	changed chan struct{}
}

func (r reused) Inspect(pid int) (process.Process, error) {
	p, err := r.Table.Inspect(pid)
	select {
	case <-r.changed:
		p.Start++
	default:
	}
	return p, err
}

// TestP9_ReusedPIDGetsNoReply: the start time tells the next process from the one that called.
func TestP9_ReusedPIDGetsNoReply(t *testing.T) {
	s := newService(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	r := reused{table, make(chan struct{})}
	s.table = r
	s.Handle("who", func(context.Context, Peer, hookwire.Call) (json.RawMessage, error) {
		close(r.changed)
		return json.RawMessage(`"for another one"`), nil
	})
	s.run(t)
	_, err = Do(t.Context(), s.path, hookwire.Call{Verb: "who"})
	assert.ErrorIs(t, err, ErrLost)
}

// The client need not close the connection.
func TestHandlerEndsWithKilledClient(t *testing.T) {
	s := newService(t)
	w := newWaiting()
	s.Handle("who", w.handle)
	s.run(t)
	waits := client(t, "call", os.Args[0], s.path)
	require.NoError(t, waits.Start())
	<-w.called
	require.NoError(t, waits.Process.Kill())
	assert.ErrorIs(t, <-w.cause, ErrGone)
	_ = waits.Wait()
}
