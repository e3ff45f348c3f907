package processtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
)

// Start starts a command. When the test ends, the process is killed unless the test has waited for
// it.
func Start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

// EndAfterFailure makes a failed test end all processes whose environment contains place, whatever
// their parent is: the child of a killed agent has no parent in the test. place must be unique to
// the test, as the name of a temporary folder or of a private tmux socket is. Call it before the
// first of these processes starts: then it runs after the test's other clean-up.
//
// A test that has not failed must end its processes itself, so that a leak is seen. Without /proc
// nothing is ended.
func EndAfterFailure(t testing.TB, place string) {
	t.Helper()
	require.Greater(t, len(place), 8, "%q may be in the environment of others", place)
	t.Cleanup(func() {
		if t.Failed() {
			end(t, place)
		}
	})
}

// end kills until nothing is left: a process may start another one before it gets the signal.
func end(t testing.TB, place string) {
	t.Helper()
	waittest.Until(t, func() bool {
		left := named(place)
		for _, pid := range left {
			t.Logf("process %d is ended after the failure", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return len(left) == 0
	}, "processes of %s are left", place)
}

// named returns the other processes whose environment contains place. A zombie has no environment.
func named(place string) (all []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, file := range files {
		environ, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // the pattern allows numbers only
		if err == nil && pid > 1 && pid != os.Getpid() && bytes.Contains(environ, []byte(place)) {
			all = append(all, pid)
		}
	}
	return all
}
