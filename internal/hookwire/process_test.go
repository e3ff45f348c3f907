package hookwire

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/processtest"
	"ccbot/internal/waittest"
)

func TestClaudeAbove(t *testing.T) {
	sh := func(pid int) parent { return parent{PID: pid, Comm: "sh"} }
	tests := []struct {
		name    string
		chain   []parent
		claimed int
		want    int // 0: none
	}{
		{name: "the usual chain", chain: []parent{sh(9), {PID: 5, Comm: "claude"}, {PID: 2, Comm: "tmux: server"}}, claimed: 5, want: 5},
		{name: "not told", chain: []parent{sh(9), {PID: 5, Comm: "claude"}}, want: 5},
		{name: "told one is not above", chain: []parent{sh(9), {PID: 5, Comm: "claude"}}, claimed: 777, want: 5},
		{name: "nested claude, outer CLAUDE_PID inherited", claimed: 5, want: 7,
			chain: []parent{sh(9), {PID: 7, Comm: "claude"}, {PID: 6, Comm: "bash"}, {PID: 5, Comm: "claude"}}},
		{name: "told one under another name", chain: []parent{{PID: 8, Comm: "timeout"}, sh(7), {PID: 5, Comm: "node"}}, claimed: 5, want: 5},
		{name: "executable is claude", chain: []parent{{PID: 8, Comm: "MainThread", Exe: "/x/claude.exe (deleted)"}}, want: 8},
		{name: "nearest that is no shell", chain: []parent{sh(9), {PID: 8, Comm: "-bash"}, {PID: 5, Comm: "agent"}}, want: 5},
		{name: "claude has died, tmux took over", chain: []parent{sh(9), {PID: 4, Comm: "tmux: server"}, {PID: 1, Comm: "init"}}, claimed: 5},
		{name: "claude has died, init took over", chain: []parent{sh(9), {PID: 1, Comm: "anything"}}},
		{name: "nothing above", claimed: 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := claudeAbove(tt.chain, tt.claimed)
			assert.Equal(t, tt.want, got.PID)
			if tt.want == 0 {
				assert.ErrorIs(t, err, errNoClaude)
			} else {
				assert.NoError(t, err)
			}
		})
	}
}

func TestAncestors_Real(t *testing.T) {
	chain := ancestors(func(parent) bool { return false })
	require.NotEmpty(t, chain)
	assert.Len(t, ancestors(func(parent) bool { return true }), 1)
	assert.Equal(t, os.Getppid(), chain[0].PID)
	assert.NotZero(t, chain[0].Start)
	assert.NotEmpty(t, chain[0].Comm)
	for i := range chain[1:] {
		assert.Equal(t, chain[i].PPID, chain[i+1].PID)
	}
}

func TestBootID(t *testing.T) {
	assert.True(t, isID(BootID()))
	assert.Equal(t, BootID(), BootID())
}

func TestLives(t *testing.T) {
	self, err := readParent(os.Getpid())
	require.NoError(t, err)
	assert.True(t, lives(self.PID, self.Start))
	assert.False(t, lives(self.PID, self.Start+1), "the number was given to another process")

	child := exec.Command("sleep", "60")
	processtest.Start(t, child)
	other, err := readParent(child.Process.Pid)
	require.NoError(t, err)
	assert.True(t, lives(other.PID, other.Start))
	require.NoError(t, child.Process.Kill())
	waittest.Until(t, func() bool { return !lives(other.PID, other.Start) }, "a zombie is gone")
	require.Error(t, child.Wait())
	assert.False(t, lives(other.PID, other.Start))
}
