package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/transcript"
	"ccbot/agent/jsonl"
	"ccbot/internal/process"
	"ccbot/loop"
	"ccbot/port"
	"ccbot/port/talk"
)

// typedPrompts are the prompts in the only transcript, in order.
func (w *world) typedPrompts() (all []string) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.claude, "projects", "*", "*.jsonl"))
	require.NoError(w.t, err)
	require.Len(w.t, files, 1)
	require.NoError(w.t, transcript.Form().Each(talk.Cursor{Path: files[0]}, true, func(item jsonl.Item) bool {
		if item.IsFromPerson() {
			all = append(all, item.Text)
		}
		return true
	}))
	return all
}

// TestRealP8_LoopFixesFailingTest is a loop with the real CLI: the model corrects one of three
// mistakes in each turn, so the test passes after the third. Kills of ccbot in a turn and in a
// check repeat no prompt and leave none out.
func TestRealP8_LoopFixesFailingTest(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	code := filepath.Join(w.dir, "code.txt")
	for path, text := range map[string]string{
		code:            "wrong 1\nwrong 2\nwrong 3\n",
		code + ".go-on": "",
		filepath.Join(w.dir, "test.sh"): "#!/bin/sh\nsleep 600 &\nsleep 2\nn=$(grep -c wrong code.txt)\necho mistakes: $n\n" +
			"[ $n -ne 2 ] || rm code.txt.go-on # the second turn lasts until ccbot was killed\n" +
			"[ $n -ne 1 ] || until [ -e killed ]; do sleep 1; done\n[ $n -eq 0 ]\n",
		filepath.Join(w.dir, ".claude", "settings.json"): `{"permissions": {"allow": ["Read", "Edit"]}}`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	}
	w.start()
	w.open("work", w.dir)
	agent := w.record("work").Binding.Agent
	w.newTerminal().says("ccbot loop start work 'fix " + code + "' --check ./test.sh --max-turns 9")

	w.newestLoop("has its second turn", func(l loop.Loop) bool {
		return l.Iteration == 2 && l.Step == port.LoopTurn && w.record("work").Phase == "working"
	})
	w.kill9()
	w.makes("code.txt.go-on")
	w.start()
	l := w.newestLoop("checks for the second time", func(l loop.Loop) bool {
		return l.Iteration == 2 && l.Step == port.LoopCheck && len(l.Processes) >= 3
	})
	w.kill9()
	w.makes("killed")
	left := l.Processes
	w.start()
	l = w.newestLoop("is done", func(l loop.Loop) bool { return l.State == port.LoopDone })

	assert.Equal(t, []any{3, 3, 0}, []any{l.Iteration, l.Used.Turns, l.Last.Exit}, "%s %s", l.Reason, l.Detail)
	data, err := os.ReadFile(code)
	require.NoError(t, err)
	assert.Equal(t, "right 1\nright 2\nright 3\n", string(data))
	prompts := w.typedPrompts()
	require.Len(t, prompts, 3)
	assert.Equal(t, "fix "+code, prompts[0])
	for n, text := range prompts[1:] {
		assert.Contains(t, text, fmt.Sprintf("mistakes: %d\n", 2-n))
	}
	assert.Equal(t, agent, w.record("work").Binding.Agent, "the agent was not started again")
	for _, id := range append(left, l.Processes...) {
		assert.Equal(t, process.Gone, w.table.Liveness(id), id)
	}
	w.hear(0, "Loop of work: done, the check passed")
	w.stop()
}
