package process

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gopsutil reads the same kernel in another way: for processes that do not change, both report the
// same.
func TestTableAgreesWithGopsutil(t *testing.T) {
	table := newTestTable(t)
	children := []started{startAgent(t, table, "wait")}
	shell := start(t, table, exec.Command("/bin/sh", "-c", "cd /; echo in; read x", "", "with a blank"))
	_, err := shell.out.ReadString('\n')
	require.NoError(t, err)
	pids := []int{os.Getpid(), os.Getppid(), children[0].id.PID, shell.id.PID}
	for _, pid := range pids {
		got, err := table.Inspect(pid)
		require.NoError(t, err)
		other := &gopsutil.Process{Pid: int32(pid)}
		ppid, err := other.Ppid()
		require.NoError(t, err)
		assert.EqualValues(t, ppid, got.PPID)
		uids, err := other.Uids()
		require.NoError(t, err)
		assert.EqualValues(t, uids[1], got.UID, "the effective user")
		args, err := other.CmdlineSlice()
		require.NoError(t, err)
		assert.Equal(t, strings.Join(args, "\x00"), strings.Join(got.Args, "\x00"))
		exe, err := other.Exe()
		require.NoError(t, err)
		assert.Equal(t, exe, got.Exe)
		cwd, err := other.Cwd()
		require.NoError(t, err)
		assert.Equal(t, cwd, got.Cwd)
		terminal, err := other.Terminal()
		require.NoError(t, err)
		assert.Equal(t, strings.TrimPrefix(terminal, "/"), got.Terminal())
		since, err := other.CreateTime()
		require.NoError(t, err)
		now, err := table.Moment()
		require.NoError(t, err)
		age, ok := got.Age(now)
		require.True(t, ok)
		assert.WithinDuration(t, time.Now().Add(-age), time.UnixMilli(since), time.Minute, "as far as the wall clock can tell")
	}
}

// A process in both lists of gopsutil, before and after, is in the snapshot between them.
func TestSnapshotHasAllProcessesOfGopsutil(t *testing.T) {
	table := newTestTable(t)
	child := startAgent(t, table, "wait")
	before, err := gopsutil.Pids()
	require.NoError(t, err)
	snap, err := table.Snapshot(t.Context())
	require.NoError(t, err)
	after, err := gopsutil.Pids()
	require.NoError(t, err)
	for _, pid := range before {
		_, seen := snap.Find(int(pid))
		assert.True(t, seen || !slices.Contains(after, pid), "process %d", pid)
	}
	seen := func(pid int) bool { return slices.Contains(before, int32(pid)) || slices.Contains(after, int32(pid)) }
	assert.True(t, seen(child.id.PID))
	for _, p := range snap.Processes {
		gone := table.Liveness(p.Identity) == Gone // it came and went between the two lists
		assert.True(t, seen(p.PID) || gone || p.Gone() || p.Start > child.id.Start, "process %d", p.PID)
	}
}
