package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP2_UninstallEndsNoAgent: it takes out the hooks of the settings file, and the bot and its agent
// live on until a person runs the commands that it prints. An agent may not call it.
func TestP2_UninstallEndsNoAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	agents := w.agents()
	require.Len(t, agents, 1)
	term := w.newTerminal()
	term.says("ccbot hooks install")
	said := filepath.Join(w.whole.TempDir(), "said")
	w.say("!" + filepath.Join(binaries, "ccbot") + " uninstall > " + said + " 2>&1")
	w.until("the agent has called it", func() bool { data, _ := os.ReadFile(said); return len(data) > 0 })
	data, err := os.ReadFile(said)
	require.NoError(t, err)
	assert.Equal(t, "ccbot: an agent may not do this\n", string(data))
	assert.FileExists(t, filepath.Join(w.claude, "settings.json"))

	text := term.says("ccbot uninstall")
	assert.Contains(t, text, "\n  kill "+itoa(w.bot.cmd.Process.Pid)+"\n")
	assert.Contains(t, text, "\n  CCBOT_DIR="+w.state+" ccbot archive --yes "+w.record("work").ID.String()+"\n")
	assert.NoFileExists(t, filepath.Join(w.claude, "settings.json"), "there was none before")
	w.hear(w.say("say still here"), "still here")
	assert.Equal(t, agents, w.agents())
}
