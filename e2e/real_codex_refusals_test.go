//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

// TestRealP7_CodexThatCannotStart starts the real Codex where it cannot work, or asks before its
// first prompt: each case has a message with the cause.
func TestRealP7_CodexThatCannotStart(t *testing.T) {
	for name, tt := range map[string]struct {
		config string // the text of config.toml
		says   []string
	}{
		"settings that it refuses": {`model_provider = "nowhere"`, []string{"cx ended before it was ready. Its screen says why", "Model provider `nowhere` not found"}},
		"settings that are none":   {`model = [`, []string{"cx ended before it was ready", "config.toml:1:10: unclosed array"}},
		"no login":                 {"check_for_update_on_startup = false\n[analytics]\nenabled = false", []string{"cx is waiting for an answer", "Sign in with Device Code"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCodexWorld(t)
			file := filepath.Join(w.state, "..", "codex", "config.toml")
			require.NoError(t, os.WriteFile(file, []byte(tt.config+"\n"), 0o600))
			w.start()
			m := w.hear(w.say("/new cx "+w.dir+" --agent Codex"), tt.says[0])
			for _, text := range tt.says {
				assert.Contains(t, m.Text, text)
			}
			if name == "no login" {
				w.tap(w.offered(m.ID-1, "Sign in another way"), "Sign in another way")
				w.until("it is another page", func() bool {
					return !strings.Contains(w.tmux("capture-pane", "-p", "-t", "=ccbot:=cx"), "Sign in with Device Code")
				})
			}
			w.stop()
		})
	}
}

// TestRealP7_CodexHooksAreShown: ccbot trusts no hook for a person. Without trust Codex is ready,
// and runs none.
func TestRealP7_CodexHooksAreShown(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	ran := filepath.Join(w.dir, "..", "ran")
	hooks := `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"touch ` + ran + `","timeout":5}]}]}}`
	require.NoError(t, os.WriteFile(filepath.Join(w.state, "..", "codex", "hooks.json"), []byte(hooks), 0o600))
	w.start()
	m := w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is waiting for an answer")
	assert.Contains(t, m.Text, "Hooks need review")
	w.tap(w.offered(m.ID-1, "Continue without trusting (hooks won't run)"), "Continue without trusting (hooks won't run)")
	w.hear(0, "cx is ready") // in the message about the start
	w.hear(w.say("say without hooks"), "without hooks")
	assert.NoFileExists(t, ran)
	w.stop()
}

// TestRealP3_CodexLosesHalf: without its server or its terminal a session of Codex ends, and the
// chat shows why.
func TestRealP3_CodexLosesHalf(t *testing.T) {
	for name, tt := range map[string]struct {
		pick func(w *world, b *session.Binding) int
		says string
	}{
		"server":   {func(_ *world, b *session.Binding) int { return b.AgentServer.PID }, "cx crashed (exit code 137)"},
		"terminal": {(*world).codexTerminal, "cx crashed (exit code 137)"},
		"pane":     {func(_ *world, b *session.Binding) int { return b.Agent.PID }, "cx was ended by signal 9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCodexWorld(t)
			w.start()
			m := w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
			w.hear(w.say("say hello"), "hello")
			held := w.record("cx").Binding
			w.removesSocket(held)
			require.NoError(t, syscall.Kill(tt.pick(w, held), syscall.SIGKILL))
			w.hear(m.ID, tt.says)
			w.until("both are gone", func() bool { return !w.alive(held.Agent) && !w.alive(held.AgentServer) })
			w.hear(w.say("/resume cx"), "cx is ready")
			w.hear(w.say("say again"), "again")
			w.stop()
		})
	}
}

// removesSocket removes the folder of a server's socket after the test: a killed ccbot-codex leaves
// it.
func (w *world) removesSocket(b *session.Binding) {
	p, err := w.table.Inspect(b.AgentServer.PID)
	require.NoError(w.t, err)
	socket, is := strings.CutPrefix(p.Args[slices.Index(p.Args, "--listen")+1], "unix://")
	require.True(w.t, is)
	w.t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(socket)) })
}

// codexTerminal returns the child of a session's process that is no server.
func (w *world) codexTerminal(b *session.Binding) (pid int) {
	all, err := w.table.Snapshot(w.t.Context())
	require.NoError(w.t, err)
	for _, p := range all.Children(b.Agent.PID) {
		if p.PID != b.AgentServer.PID {
			pid = p.PID
		}
	}
	require.NotZero(w.t, pid)
	return pid
}
