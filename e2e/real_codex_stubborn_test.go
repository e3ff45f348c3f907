//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/e2e/realcodex"
	"ccbot/internal/process"
)

// TestRealP3_StubbornCodexIsEnded archives a Codex that is suspended or ignores signals, and whose
// tools ignore HUP and TERM: none of its processes is left, and the receipt lists those that ccbot
// ended. A process that left a tool, another session and a person's Codex stay.
func TestRealP3_StubbornCodexIsEnded(t *testing.T) {
	t.Parallel()
	for name, stopped := range map[string][]string{
		"the server is suspended":   {"server"},
		"the terminal is suspended": {"terminal"},
		"all three are suspended":   {"server", "terminal", "pane"},
		"they ignore HUP and TERM":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCodexWorld(t)
			if stopped == nil {
				ignores := filepath.Join(w.dir, "..", "codex-ignores")
				require.NoError(t, os.WriteFile(ignores, []byte("#!/bin/sh\ntrap '' HUP TERM\nexec "+realcodex.Require(t)+" \"$@\"\n"), 0o700))
				w.env = append(w.env, "CODEX_COMMAND="+ignores)
			}
			w.start("KILL_GRACE=12s")
			w.hear(w.say("/new other "+w.dir+" --agent codex"), "other is ready")
			w.hear(w.say("say other"), "other")
			other := w.record("other")
			w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
			w.hear(w.say("say hello"), "hello")
			_, theirs := w.codexDesk().codex(other.AgentSessionID)

			tools := w.codexTools("(setsid sh -c 'echo $$ > left; exec sleep 86399' &)\ntrap '' HUP TERM\necho $$ > tool\nexec sleep 86399")
			held := w.record("cx").Binding
			terminal, err := w.table.Identify(w.codexTerminal(held))
			require.NoError(t, err)
			parts := map[string]process.Identity{"server": held.AgentServer, "pane": held.Agent, "terminal": terminal}
			for _, part := range stopped {
				require.NoError(t, syscall.Kill(parts[part].PID, syscall.SIGSTOP))
			}

			receipt := w.end("cx")
			for part, id := range parts {
				assert.Equal(t, process.Gone, w.table.Liveness(id), part)
			}
			assert.Equal(t, process.Gone, w.table.Liveness(tools["tool"]))
			assert.Contains(t, receipt.Text, "ccbot-codex ("+pid(held.Agent))
			assert.Regexp(t, `sleep \(`+pid(tools["tool"])+`, .*\) ended by force \(KILL\)`, receipt.Text)
			assert.True(t, w.alive(tools["left"]), "it is no longer below the tool")
			for _, id := range []process.Identity{other.Binding.Agent, other.Binding.AgentServer, theirs} {
				assert.True(t, w.alive(id), id.PID)
			}
			w.stop()
		})
	}
}

// codexTools makes the session cx run a script in its folder, outside the sandbox. It returns
// the processes that write their pids to the files "tool" and "left" there.
func (w *world) codexTools(script string) map[string]process.Identity {
	w.t.Helper()
	path := filepath.Join(w.dir, "tool.sh")
	require.NoError(w.t, os.WriteFile(path, []byte(script+"\n"), 0o600))
	w.say("esc sh " + path)
	w.answersAtDesk("=ccbot:=cx", "y")
	all := make(map[string]process.Identity)
	for _, name := range []string{"tool", "left"} {
		w.until(name+" runs", func() bool {
			data, _ := os.ReadFile(filepath.Join(w.dir, name))
			pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
			id, err := w.table.Identify(pid)
			all[name] = id
			return pid > 0 && err == nil
		})
		w.endLater(all[name])
	}
	return all
}

// TestRealP3_SandboxedCodexToolEnds archives a Codex whose server is suspended while a tool in the
// sandbox ignores HUP and TERM.
func TestRealP3_SandboxedCodexToolEnds(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start("KILL_GRACE=12s")
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	script := filepath.Join(w.dir, "tool.sh")
	require.NoError(t, os.WriteFile(script, []byte("trap '' HUP TERM\nsleep 86398\ntrue\n"), 0o600))
	w.hear(w.say("run sh "+script), "I will run it")
	server := w.record("cx").Binding.AgentServer
	var tools []process.Process
	w.until("the tool runs in the sandbox", func() bool {
		all, err := w.table.Snapshot(t.Context())
		require.NoError(t, err)
		tools = slices.DeleteFunc(all.Processes, func(p process.Process) bool {
			return !slices.ContainsFunc(all.Ancestors(p.PID), func(above process.Process) bool { return above.Identity == server })
		})
		runs := func(word string) bool {
			return slices.ContainsFunc(tools, func(p process.Process) bool { return slices.Contains(p.Args, word) })
		}
		return runs("86398") && runs("bwrap")
	})
	require.NoError(t, syscall.Kill(server.PID, syscall.SIGSTOP))
	w.hear(w.say("/list"), "state unknown")
	w.hear(w.say("/health"), "did not answer when ccbot looked at it last")
	w.end("cx")
	for _, p := range tools {
		assert.Equal(t, process.Gone, w.table.Liveness(p.Identity), p.Args)
	}
	assert.False(t, w.alive(server))
	w.stop()
}
