package hooks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStateDirOfCommand reads back the folder that InstalledCommand writes.
func TestStateDirOfCommand(t *testing.T) {
	for _, dir := range []string{"/home/me/.ccbot", "/my state", "/it's", `/a"b\c$d`, "/--dir"} {
		command, err := InstalledCommand("/opt/my ccbot/ccbot-hook", dir)
		require.NoError(t, err)
		assert.Equal(t, dir, StateDir(command), command)
	}
	for _, command := range []string{"", "(", "ccbot-hook", "ccbot-hook --dir", "other --dir /x", "other --dir /x || ccbot-hook --installed"} {
		assert.Empty(t, StateDir(command), command)
	}
}
