package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statLine is /proc/PID/stat with a name, a state, the number of threads and the start time.
func statLine(pid int, comm string, state byte, threads, start int) string {
	return fmt.Sprintf("%d (%s) %c 7 8 9 34816 8 4194304 1 2 3 4 5 6 7 8 20 0 %d 0 %d 10 11 12\n", pid, comm, state, threads, start)
}

func TestParseStat(t *testing.T) {
	full := Process{Identity: Identity{PID: 42, Start: 99}, State: 'S', PPID: 7, PGID: 8, SID: 9, TTY: 34816, Foreground: 8, Comm: "claude"}
	with := func(change func(*Process)) Process { p := full; change(&p); return p }
	tests := []struct {
		name string
		line string
		want Process
		bad  bool
	}{
		{name: "plain", line: statLine(42, "claude", 'S', 8, 99), want: full},
		{name: "brackets, spaces and a newline in the name", line: statLine(42, "a) R 1 (b\n", 'S', 1, 99), want: with(func(p *Process) { p.Comm = "a) R 1 (b\n" })},
		{name: "zombie", line: statLine(42, "claude", 'Z', 1, 99), want: with(func(p *Process) { p.State = 'Z' })},
		{name: "first thread ended, others run", line: statLine(42, "claude", 'Z', 8, 99), want: full},
		{name: "empty", line: "", bad: true},
		{name: "cut short", line: "42 (claude) S 7 8", bad: true},
		{name: "no name", line: "42 claude S 7 8 9", bad: true},
		{name: "start is no number", line: strings.Replace(statLine(42, "claude", 'S', 8, 99), " 99 ", " x ", 1), bad: true},
		{name: "pid is no number", line: "x" + statLine(42, "claude", 'S', 8, 99), bad: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := parseStat([]byte(test.line))
			if test.bad {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, p)
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte(statLine(42, "claude", 'S', 8, 99)))
	f.Add([]byte("1 () Z"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := parseStat(data); err == nil {
			assert.Contains(t, string(data), "("+p.Comm+")")
		}
		_, _, _ = parseStatus(data)
		parseCmdline(data)
	})
}

func TestParseCmdline(t *testing.T) {
	tests := []struct {
		name string
		data string
		want []string
	}{
		{"kernel thread", "", nil},
		{"plain", "claude\x00--resume\x00x\x00", []string{"claude", "--resume", "x"}},
		{"empty arguments stay", "claude\x00\x00-p\x00\x00", []string{"claude", "", "-p", ""}},
		{"title without an end", "claude", []string{"claude"}},
		{"newlines and spaces", "sh\x00-c\x00a b\nc\x00", []string{"sh", "-c", "a b\nc"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, parseCmdline([]byte(test.data)))
		})
	}
}

// fakeProc writes a /proc of its own, for what the real one cannot be made to show.
func fakeProc(t *testing.T, pids ...int) procfs {
	t.Helper()
	k := procfs{root: t.TempDir(), uid: os.Geteuid()}
	k.write(t, "sys/kernel/random/boot_id", "a-boot\n")
	for _, pid := range pids {
		k.write(t, fmt.Sprint(pid, "/stat"), statLine(pid, "x", 'S', 1, 1000+pid))
		k.write(t, fmt.Sprint(pid, "/status"), fmt.Sprintf("Name:\tx\nTgid:\t%d\nUid:\t1\t2\t3\t4\n", pid))
		k.write(t, fmt.Sprint(pid, "/cmdline"), "claude\x00")
	}
	return k
}

func (k procfs) write(t *testing.T, name, data string) {
	t.Helper()
	path := filepath.Join(k.root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
}

func TestP6_Snapshot_ofABrokenTable(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*testing.T, procfs)
		pids  []int // nil: an error
	}{
		{"whole", func(*testing.T, procfs) {}, []int{5, 9, 30}},
		{"other entries are passed", func(t *testing.T, k procfs) { k.write(t, "meminfo", "x"); k.write(t, "bus/x", "") }, []int{5, 9, 30}},
		{"a pid that vanishes is left out", func(t *testing.T, k procfs) { require.NoError(t, os.Remove(k.root+"/9/stat")) }, []int{5, 30}},
		{"garbage is an error", func(t *testing.T, k procfs) { k.write(t, "9/stat", "9 (x) S") }, nil},
		{"a stat of another pid is an error", func(t *testing.T, k procfs) { k.write(t, "9/stat", statLine(8, "x", 'S', 1, 1)) }, nil},
		{"no owner is an error", func(t *testing.T, k procfs) { k.write(t, "9/status", "Name:\tx\nTgid:\t9\n") }, nil},
		{"without ourselves it is an error", func(t *testing.T, k procfs) { require.NoError(t, os.RemoveAll(k.root+"/5")) }, nil},
		{"with another process in our place too", func(t *testing.T, k procfs) { k.write(t, "5/stat", statLine(5, "x", 'S', 1, 1)) }, nil},
		{"no folder is an error", func(t *testing.T, k procfs) { require.NoError(t, os.RemoveAll(k.root)) }, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := fakeProc(t, 30, 9, 5)
			table, err := newTable(k, 5, 0)
			require.NoError(t, err)
			test.spoil(t, k)
			s, err := table.Snapshot(t.Context())
			if test.pids == nil {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			var pids []int
			for _, p := range s.Processes {
				pids = append(pids, p.PID)
				assert.Equal(t, 2, p.UID, "the effective user")
				assert.Equal(t, "a-boot", p.Boot)
			}
			assert.Equal(t, test.pids, pids)
		})
	}
}

func TestP6_Liveness_unreadableIsUnknown(t *testing.T) {
	k := fakeProc(t, 5, 9)
	table, err := newTable(k, 5, 0)
	require.NoError(t, err)
	id, err := table.Identify(9)
	require.NoError(t, err)
	assert.Equal(t, Alive, table.Liveness(id))

	k.write(t, "9/stat", "")
	assert.Equal(t, Unknown, table.Liveness(id))
	require.NoError(t, os.RemoveAll(k.root+"/9"))
	assert.Equal(t, Gone, table.Liveness(id))
}

func TestNewTable_refusesAStrangeTable(t *testing.T) {
	_, err := newTable(fakeProc(t, 9), 5, 0)
	assert.ErrorIs(t, err, ErrGone)
	k := fakeProc(t, 5)
	k.write(t, "sys/kernel/random/boot_id", "\n")
	_, err = newTable(k, 5, 0)
	assert.Error(t, err)
}

func TestSnapshot_ofThisMachine(t *testing.T) {
	table, err := NewTable()
	require.NoError(t, err)
	s, err := table.Snapshot(t.Context())
	require.NoError(t, err)

	me, ok := s.Find(os.Getpid())
	require.True(t, ok)
	assert.Equal(t, table.Self(), me.Identity)
	assert.Equal(t, os.Args, me.Args)
	assert.Equal(t, os.Geteuid(), me.UID)
	assert.Equal(t, os.Getppid(), me.PPID)
	exe, err := os.Executable()
	require.NoError(t, err)
	assert.Equal(t, exe, me.Exe)
	assert.Empty(t, me.Cwd)

	inspected, err := table.Inspect(os.Getpid())
	require.NoError(t, err)
	cwd, err := os.Getwd()
	require.NoError(t, err)
	assert.Equal(t, cwd, inspected.Cwd)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = table.Snapshot(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestInspect_aThreadIsNoProcess(t *testing.T) {
	table, err := NewTable()
	require.NoError(t, err)
	tasks, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	for _, task := range tasks {
		var tid int
		_, err := fmt.Sscan(task.Name(), &tid)
		require.NoError(t, err)
		if tid == os.Getpid() {
			continue
		}
		_, err = table.Inspect(tid)
		assert.ErrorIs(t, err, ErrGone)
	}
	_, err = table.Inspect(0)
	assert.Error(t, err)
	assert.NotErrorIs(t, err, ErrGone)
}

func BenchmarkSnapshot(b *testing.B) {
	table, err := NewTable()
	require.NoError(b, err)
	n := 0
	for b.Loop() {
		s, err := table.Snapshot(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		n = len(s.Processes)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/process")
}
