package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ccbot/internal/programtest"
)

func TestTerminal(t *testing.T) {
	dev := func(major, minor uint32) int { return int(int32(unix.Mkdev(major, minor))) }
	tests := []struct {
		name string
		tty  int
		want string
	}{
		{"none", 0, ""},
		{"pseudo terminal", dev(136, 3), "pts/3"},
		{"first pseudo terminal", dev(136, 0), "pts/0"},
		{"beyond a byte", dev(136, 300), "pts/300"},
		{"reads negative", dev(136, 1<<19+5), "pts/524293"},
		{"one of the eight majors", dev(138, 7), "pts/519"},
		{"console", dev(4, 1), "tty1"},
		{"last console", dev(4, 63), "tty63"},
		{"serial line", dev(4, 64), "ttyS0"},
		{"system console", dev(5, 1), "console"},
		{"the caller's own", dev(5, 0), ""},
		{"virtual console", dev(229, 0), ""},
		{"after the majors", dev(144, 1), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, Process{TTY: test.tty}.Terminal())
		})
	}
}

func TestTerminal_ofARealOne(t *testing.T) {
	programtest.Require(t, "script")
	table := newTestTable(t)
	shell := start(t, table, exec.Command("script", "-qec", "tty; echo $$; read x", "/dev/null"))
	name, err := shell.out.ReadString('\n')
	require.NoError(t, err)
	pid := readPID(t, shell.out)
	p, err := table.Inspect(pid)
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSpace(name), "/dev/"+p.Terminal())
	assert.Equal(t, os.Geteuid(), p.UID)
}

// The clock of Moment is the one of Start: what starts between two moments lies between them. A
// clock of another kind (the wall clock, one that stands while the machine sleeps) or of another
// unit would not fit on both sides.
func TestP2_Moment_isTheClockOfStart(t *testing.T) {
	table := newTestTable(t)
	for range 5 {
		before, err := table.Moment()
		require.NoError(t, err)
		child := startAgent(t, table, "wait")
		after, err := table.Moment()
		require.NoError(t, err)

		assert.LessOrEqual(t, before.Tick, child.id.Start)
		assert.LessOrEqual(t, child.id.Start, after.Tick)
		assert.Equal(t, before.Boot, child.id.Boot)
		assert.Equal(t, Yes, child.id.StartedAfter(before))
		age, ok := child.id.Age(after)
		require.True(t, ok)
		assert.LessOrEqual(t, age, time.Duration(after.Tick-before.Tick)*tick)
	}
}
