package processtest

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
)

// failing is a test that fails after its body. Its clean-up runs when finish is called.
type failing struct {
	testing.TB
	cleanup []func()
}

func (f *failing) Cleanup(clean func()) { f.cleanup = append(f.cleanup, clean) }
func (f *failing) Failed() bool         { return true }

func (f *failing) finish() {
	for i := len(f.cleanup) - 1; i >= 0; i-- {
		f.cleanup[i]()
	}
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestStartEndsWithTest(t *testing.T) {
	f := &failing{TB: t}
	cmd := exec.Command("sleep", "600")
	Start(f, cmd)
	require.False(t, gone(cmd.Process.Pid))
	f.finish()
	assert.True(t, gone(cmd.Process.Pid))

	waited := exec.Command("true")
	Start(f, waited)
	require.NoError(t, waited.Wait())
	f.finish()
}

// The shell dies, and its child lives: no parent of it belongs to the test.
func TestFailureEndsOrphans(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("SKIPPED: there is no /proc")
	}
	f := &failing{TB: t}
	place := t.TempDir()
	EndAfterFailure(f, place)
	cmd := exec.Command("/bin/sh", "-c", "sleep 600 >/dev/null & echo $!; read x")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PLACE=" + place}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	_, err = cmd.StdinPipe()
	require.NoError(t, err)
	Start(f, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	waittest.Until(t, func() bool { return len(named(place)) == 1 })
	require.Equal(t, []int{child}, named(place))
	f.finish()
	assert.Empty(t, named(place))
}
