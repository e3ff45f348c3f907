//go:build linux

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/e2e/realcodex"
	"ccbot/e2e/responsesapi"
	"ccbot/try/botapi"
)

// newCodexWorld is a world that can also start the real Codex, with a private home and a Responses
// API on loopback.
func newCodexWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.addCodex(w.dir)
	return w
}

// newCodexWorldOf is newCodexWorld with another model of Codex.
func newCodexWorldOf(t *testing.T, model string) *world {
	t.Helper()
	w := newWorld(t)
	w.addCodexOf(model, w.dir)
	return w
}

// addCodex lets the world start the real Codex in some folders.
func (w *world) addCodex(trusted ...string) {
	w.t.Helper()
	w.addCodexOf(realcodex.InCodeMode, trusted...)
}

// addCodexOf is addCodex with another model, and returns the API.
func (w *world) addCodexOf(model string, trusted ...string) *responsesapi.Server {
	t := w.t
	t.Helper()
	codex := realcodex.Require(t)
	l, err := responsesapi.Listen(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done, api := make(chan struct{}), &responsesapi.Server{}
	go func() { _ = api.Run(ctx, l); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	home := filepath.Join(w.state, "..", "codex")
	require.NoError(t, os.MkdirAll(home, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), realcodex.Config(l.Addr().String(), model, trusted...), 0o600))
	w.env = append(w.env, "CODEX_COMMAND="+codex, "CODEX_HOME="+home, "AGENT_ENV_SCRIPTED_KEY=dummy", "AGENT_ENV_"+realcodex.NoNetwork)
	return api
}

// TestRealP3_CodexMainJob is the main job with the real Codex: a chat starts it, sends prompts,
// answers its dialog, ends it, and resumes its conversation.
func TestRealP3_CodexMainJob(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start()
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	w.hear(w.say("say hello from codex"), "hello from codex")
	id := w.record("cx").AgentSessionID

	marker := filepath.Join(w.dir, "..", "marker")
	asked := w.hear(w.say("esc touch "+marker), "wants to run a command")
	w.tap(asked, "Allow")
	w.hear(asked.ID, "tool result")
	assert.FileExists(t, marker)

	slow := w.say("slow 600")
	w.until("it answers", func() bool {
		return strings.Contains(w.tmux("capture-pane", "-p", "-t", "=ccbot:=cx"), "slow word slow")
	})
	w.say("/stop")
	w.hear(slow, "cx is interrupted")

	w.kill9()
	w.start()
	w.hear(w.say("say after a crash"), "after a crash")
	held := w.record("cx").Binding
	ask := w.hear(w.say("/kill cx"), "End cx")
	w.tap(ask, "Kill")
	w.hear(ask.ID, "cx is archived")
	assert.False(t, w.alive(held.Agent))
	assert.False(t, w.alive(held.AgentServer))

	w.hear(w.say("/resume cx"), "cx is ready")
	w.hear(w.say("say still the same talk"), "still the same talk")
	assert.Equal(t, id, w.record("cx").AgentSessionID)
	w.stop()
}

// TestRealP8_CodexRequest: the terminal's dialog and the card are open together, and the first
// answer wins. An open request survives a restart of ccbot.
func TestRealP8_CodexRequest(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start()
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	w.hear(w.say("say hello from codex"), "hello from codex")
	const dialog = "Would you like to run the following command?"
	screen := func() string { return w.tmux("capture-pane", "-p", "-t", "=ccbot:=cx") }
	becomes := func(m botapi.Message, text string) {
		w.until("the card says "+text, func() bool { return strings.Contains(w.follow(m).Text, text) })
	}
	marker := func(name string) string { return filepath.Join(w.dir, "..", name) }
	ran := func(name string) {
		w.until("the command has run", func() bool { _, err := os.Stat(marker(name)); return err == nil })
	}

	asked := w.hear(w.say("esc touch "+marker("restart")), "wants to run a command")
	assert.Contains(t, asked.Text, "touch "+marker("restart"))
	assert.Contains(t, asked.Text, "scripted reason")
	w.until("the dialog is open too", func() bool { return strings.Contains(screen(), dialog) })
	w.shownIs(asked)
	w.kill9()
	w.start()
	w.until("the server repeats it", func() bool { _, ok := w.follow(asked).Find("Allow"); return ok })
	w.tap(w.follow(asked), "Allow")
	becomes(asked, "✅ Allowed in the chat")
	ran("restart")
	w.until("the dialog is closed", func() bool { return !strings.Contains(screen(), dialog) })

	asked = w.hear(w.say("esc touch "+marker("terminal")), "wants to run a command")
	w.answersAtDesk("=ccbot:=cx", "y")
	becomes(asked, "✅ Allowed in the terminal")
	ran("terminal")

	asked = w.hear(w.say("esc touch "+marker("denied")), "wants to run a command")
	w.tap(asked, "Deny")
	becomes(asked, "❌ Denied in the chat")
	w.hear(asked.ID, "rejected by user")
	assert.NoFileExists(t, marker("denied"))
	w.stop()
}
