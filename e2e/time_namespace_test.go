package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
)

// TestP6_TimeNamespaceEndsNothing_AsRoot runs ccbot in another time namespace than its agents and a
// person's agent: no process is taken for dead or ended, and no second writer starts. In the first
// namespace all continues.
func TestP6_TimeNamespaceEndsNothing_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	t.Parallel()
	enter := programtest.Require(t, "unshare") + " --time --boottime 100000 "
	out, err := exec.Command("sh", "-c", enter+"readlink /proc/self/ns/time").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) == link(t, "/proc/self/ns/time") {
		programtest.Skip(t, "this kernel starts no program in another time namespace: "+string(out))
	}
	w := newWorld(t, "ORPHAN_GRACE=0s", "KILL_GRACE=2s")
	w.start()
	for _, name := range []string{"ended", "busy", "one"} {
		w.open(name, w.dir)
		w.hear(w.say("say hello from "+name), "hello from "+name)
	}
	claude := w.record("ended").AgentSessionID.String()
	w.end("ended")
	desk := w.newPersonTerminal().agent("--resume", claude)
	w.drained()
	w.stop()
	agents := w.agents()
	require.Len(t, agents, 2)
	agents = append(agents, desk)
	before := w.states()

	here := filepath.Join(binaries, "ccbot")
	w.ccbot = filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.WriteFile(w.ccbot, []byte("#!/bin/sh\nexec "+enter+here+` "$@"`), 0o700))
	last := w.lastID()
	w.start()
	require.NotEqual(t, link(t, "/proc/self/ns/time"), link(t, fmt.Sprintf("/proc/%d/ns/time", w.bot.cmd.Process.Pid)))
	w.until("the start has ended", func() bool { return strings.Contains(w.bot.log.String(), "msg=recovery_done") })
	assert.Equal(t, before, w.states())
	w.offered(w.say("/resume ended"), "Cancel")
	w.tap(w.offered(w.say("/kill one"), "Kill"), "Kill")
	w.until("the kill has an outcome", func() bool { return w.record("one").State != session.Running })
	w.until("the kill is over", func() bool { return w.record("one").State != session.Stopping })
	w.stop()
	for _, id := range agents {
		assert.True(t, w.alive(id), id)
	}
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && m.ID > last {
			t.Logf("%q", m.Text)
		}
	}
	for _, event := range []string{"msg=session_lost", "msg=leftover_ended"} {
		assert.NotContains(t, w.bot.log.String(), event)
	}
	assert.Equal(t, session.CleanupFailed, w.record("one").State)
	assert.Equal(t, session.Running, w.record("busy").State)

	w.ccbot = ""
	w.start()
	w.use("busy")
	w.hear(w.say("say all continues"), "all continues")
	assert.Equal(t, process.Alive, w.table.Liveness(desk))
	w.until("the kill that was asked for is carried out", func() bool { return w.record("one").State == session.Archived })
	w.stop()
	assert.True(t, w.alive(desk))
}

func link(t *testing.T, path string) string {
	t.Helper()
	to, err := os.Readlink(path)
	require.NoError(t, err)
	return to
}
