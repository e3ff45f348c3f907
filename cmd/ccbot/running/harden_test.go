package running

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
)

// crash is a program that panics as ccbot would.
func crash() {
	if Harden() != nil {
		os.Exit(exit.OK)
	}
	panic("a mistake")
}

// TestP8_CrashIsNotExitCode: a service manager does not start ccbot again after Go's own exit code
// for a crash.
func TestP8_CrashIsNotExitCode(t *testing.T) {
	me, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(me)
	cmd.Args = []string{"crash"}
	out, _ := cmd.CombinedOutput()
	assert.Contains(t, string(out), "panic: a mistake")
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	assert.Equal(t, syscall.SIGABRT, status.Signal(), "exit code %d", status.ExitStatus())
	assert.False(t, status.CoreDump(), "it would have the token")
}
