package process

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOrigin(t *testing.T) {
	table, err := NewTable()
	require.NoError(t, err)
	cmd := exec.Command("cat")
	cmd.Env = []string{"CCBOT_LAUNCH=x"}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = in.Write([]byte("x"))
	require.NoError(t, err)
	_, err = out.Read(make([]byte, 1)) // before, the kernel may not have its environment yet
	require.NoError(t, err)
	id, err := table.Identify(cmd.Process.Pid)
	require.NoError(t, err)
	from, err := table.Origin(id)
	require.NoError(t, err)
	assert.Contains(t, from.Env, "CCBOT_LAUNCH=x")
	own, err := os.ReadFile("/proc/self/cgroup")
	require.NoError(t, err)
	assert.Equal(t, string(own), from.Cgroup, "born where its parent is")

	other := id
	other.Start++
	_, err = table.Origin(other)
	assert.ErrorIs(t, err, ErrGone, "another process has its pid")
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
	_, err = table.Origin(id)
	assert.Error(t, err)
}
