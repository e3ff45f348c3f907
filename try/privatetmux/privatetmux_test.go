package privatetmux

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
)

func TestEndLeavesNothing(t *testing.T) {
	programtest.Require(t, "tmux")
	name := fmt.Sprintf("ccbot-test-private-%d", os.Getpid())
	require.NoError(t, End(t.Context(), name), "there is none yet")
	out, err := exec.Command("tmux", "-L", name, "-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{pid} #{pane_pid} #{socket_path}",
		"sleep 86400 & wait").Output()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, End(context.Background(), name)) }) // after a failure
	var server, shell int
	var socket string
	_, err = fmt.Sscan(string(out), &server, &shell, &socket)
	require.NoError(t, err)
	table, err := process.NewTable()
	require.NoError(t, err)
	var all []process.Identity
	waittest.Until(t, func() bool {
		snap, err := table.Snapshot(t.Context())
		require.NoError(t, err)
		all = append(withDescendants(snap, shell), withDescendants(snap, server)...)
		below := snap.Descendants(shell)
		return len(below) == 1 && strings.HasPrefix(below[0].Comm, "sleep")
	})

	require.NoError(t, End(t.Context(), name))
	for _, id := range all {
		assert.Equal(t, process.Gone, table.Liveness(id), "process %d", id.PID)
	}
	assert.NoFileExists(t, socket)
	require.NoError(t, End(t.Context(), name), "nor is there one now")
}
