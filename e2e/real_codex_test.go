//go:build codex

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
)

// newCodexWorld is a world that can also start the real Codex, with a private home and a Responses
// API on loopback.
func newCodexWorld(t *testing.T) *world {
	t.Helper()
	codex := realcodex.Require(t)
	w := newWorld(t)
	l, err := responsesapi.Listen(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { _ = (&responsesapi.Server{}).Run(ctx, l); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	home := filepath.Join(w.state, "..", "codex")
	require.NoError(t, os.MkdirAll(home, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), realcodex.Config(l.Addr().String(), w.dir), 0o600))
	w.env = append(w.env, "CODEX_COMMAND="+codex, "CODEX_HOME="+home, "AGENT_ENV_SCRIPTED_KEY=dummy")
	return w
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
	asked := w.hear(w.say("esc touch "+marker), "Would you like to run the following command?")
	w.tap(asked, "Yes, proceed (y)")
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
