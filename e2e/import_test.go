package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImportedSessionGoesOn resumes a conversation of the Python ccbot. Nothing is imported while a
// bot runs, and no conversation that a process still writes.
func TestImportedSessionGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say said long ago"), "said long ago")
	id := w.claudeIDOf("work")
	w.end("work")

	former := filepath.Join(t.TempDir(), "former")
	require.NoError(t, os.MkdirAll(former, 0o700))
	state := fmt.Sprintf(`{"sessions":{"a":{"name":"taken","workdir":%q,"claude_session_id":%q}}}`, w.dir, id)
	require.NoError(t, os.WriteFile(filepath.Join(former, "state.json"), []byte(state), 0o600))
	bot := w.bot
	imports := func() (string, int) {
		b := w.run([]string{"import", former, "--yes"})
		<-b.done
		return b.log.String(), b.cmd.ProcessState.ExitCode()
	}
	said, code := imports()
	assert.Equal(t, 3, code)
	assert.Contains(t, said, "stop it first")
	w.bot = bot
	w.stop()

	require.NoError(t, os.RemoveAll(filepath.Join(w.state, "sessions")))
	desk := w.newPersonTerminal()
	agent := desk.agent("--resume", id)
	said, _ = imports()
	assert.Contains(t, said, "another process writes its conversation")
	desk.enter(desk.last(), "/exit")
	w.until("the agent at the desk has left", func() bool { return !w.alive(agent) })
	said, code = imports()
	require.Equal(t, 0, code, said)
	assert.Contains(t, said, "1 record made")

	w.start()
	w.hear(w.say("/resume taken"), "taken is ready")
	w.hear(w.say("say here again"), "here again")
	assert.Equal(t, id, w.claudeIDOf("taken"), "the same conversation")
	assert.Equal(t, 1, w.told("said long ago"), "what was said is not shown again")
	w.stop()
}
