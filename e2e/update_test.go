package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/doctor"
	"ccbot/try/demoagent"
)

// TestP3_AgentOutlivesItsUpdate replaces the agent's program as Claude Code's installer does: a
// link leads to the folder of a version, and the folder of the version before it is removed. The
// agent that runs takes prompts, also from a ccbot that has started since; an archive ends it, and
// a resume starts the new version.
func TestP3_AgentOutlivesItsUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := filepath.Dir(w.dir)
	versions, link := filepath.Join(root, "versions"), filepath.Join(root, demoagent.Name)
	program, err := os.ReadFile(filepath.Join(binaries, "ccbot-try"))
	require.NoError(t, err)
	install := func(version string) {
		dir := filepath.Join(versions, version)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		writeProgram(t, filepath.Join(dir, demoagent.Name), program)
		require.NoError(t, os.Symlink(filepath.Join(dir, demoagent.Name), link+".new"))
		require.NoError(t, os.Rename(link+".new", link))
	}
	install("1")
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say one"), "one")
	agent := w.record("work").Binding.Agent

	install("2")
	require.NoError(t, os.RemoveAll(filepath.Join(versions, "1")))
	w.hear(w.say("say two"), "two")
	w.stop()
	w.start()
	w.hear(w.say("say three"), "three")
	assert.Equal(t, agent, w.record("work").Binding.Agent)
	faults, _ := w.newTerminal().doctor("")
	for _, code := range []doctor.Code{"claude_missing", "claude_old", "claude_silent", "orphan_windows", "recovery_due"} {
		assert.NotContains(t, faults, code)
	}

	killed := w.say("/kill")
	w.tap(w.hear(killed, "End work"), "Kill")
	w.hear(killed, "work is archived.")
	assert.False(t, w.alive(agent))
	w.hear(w.say("/resume work"), "work is ready")
	w.hear(w.say("say four"), "four")
	now, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", w.record("work").Binding.Agent.PID))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(versions, "2", demoagent.Name), now)
	assert.Equal(t, []string{"say one", "say two", "say three", "say four"}, w.received())
	w.stop()
}

// TestOldClaudeIsToldOnce: the log, the chat, /health and doctor name the version that is there and
// the oldest one that works. A later start tells the chat nothing more of it.
func TestOldClaudeIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.hear(w.say("/health"), "Everything works")
	w.stop()
	old := filepath.Join(filepath.Dir(w.dir), "old")
	writeProgram(t, old, []byte("#!/bin/sh\necho '2.1.77 (Claude Code)'\n"))
	w.env = append(w.env, "CLAUDE_COMMAND="+old)
	const sentence = "Claude Code 2.1.77 is too old: ccbot needs " + claudesettings.Oldest + " or newer."
	after := w.say("before the start")
	w.start()
	said := w.hear(after, sentence)
	assert.Contains(t, said.Text, "claude update")
	w.hear(w.say("/health"), sentence)
	assert.Contains(t, w.bot.log.String(), `msg=claude_old version="2.1.77 (Claude Code)" needed=`+claudesettings.Oldest)
	assert.Equal(t, 2, w.heard(sentence))
	w.stop()
	w.start()
	w.until("the version is known", func() bool { return strings.Contains(w.bot.log.String(), "msg=claude_old") })
	w.hear(w.say("/health"), sentence)
	assert.Equal(t, 3, w.heard(sentence), "/health alone")
	w.stop()
}

// TestOldClaudeIsReportedAtStart: as soon as there is a chat.
func TestOldClaudeIsReportedAtStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := filepath.Join(filepath.Dir(w.dir), "old")
	writeProgram(t, old, []byte("#!/bin/sh\necho '2.1.77 (Claude Code)'\n"))
	w.env = append(w.env, "CLAUDE_COMMAND="+old)
	w.start()
	w.hear(w.say("/list"), "Claude Code 2.1.77 is too old")
	w.stop()
}
