package e2e

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
)

// TestP8_StartOutlivesStop stops ccbot itself, as SIGSTOP or a paused virtual machine does, while
// it waits for tmux at its start. The answer that came meanwhile counts.
func TestP8_StartOutlivesStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.stop()
	server := w.panes()[0]
	signal := func(pid int, sig syscall.Signal) { require.NoError(t, syscall.Kill(pid, sig)) }
	signal(server.PID, syscall.SIGSTOP)
	b := w.launch()
	w.until("ccbot asks tmux", func() bool { return w.hasChild(b.cmd.Process.Pid, "-C") })
	signal(b.cmd.Process.Pid, syscall.SIGSTOP)
	signal(server.PID, syscall.SIGCONT)
	time.Sleep(5 * time.Second) // more than ccbot's timeout of an answer
	signal(b.cmd.Process.Pid, syscall.SIGCONT)
	w.until("ccbot is ready, or has ended", func() bool { return b.ready() || b.over() })
	require.False(t, b.over(), "it has ended: %s", b.log)
	w.stop()
}

// hasChild reports whether a process has a child with an argument.
func (w *world) hasChild(pid int, argument string) bool {
	w.t.Helper()
	snap, err := w.table.Snapshot(w.t.Context())
	require.NoError(w.t, err)
	return slices.ContainsFunc(snap.Children(pid), func(p process.Process) bool { return slices.Contains(p.Args, argument) })
}
