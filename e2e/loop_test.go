package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/loop"
	"ccbot/port"
)

// loops are the loops as the disk has them, the newest last.
func (w *world) loops() (all []loop.Loop) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.state, "loops", "*.json"))
	require.NoError(w.t, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(w.t, err)
		var l loop.Loop
		require.NoError(w.t, json.Unmarshal(data, &l))
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b loop.Loop) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all
}

// newestLoop waits for a state of the newest loop.
func (w *world) newestLoop(what string, is func(l loop.Loop) bool) (found loop.Loop) {
	w.t.Helper()
	w.until("the loop "+what, func() bool {
		all := w.loops()
		if len(all) > 0 {
			found = all[len(all)-1]
		}
		return len(all) > 0 && is(found)
	})
	return found
}

// countingCheck succeeds when the agents have got n prompts. It takes a while, and leaves a
// process.
func (w *world) countingCheck(n int) string {
	return fmt.Sprintf("sleep 600 & sleep 1; n=$(grep -c . %s); echo prompts: $n; [ $n -ge %d ]", w.sent, n)
}

// TestP8_LoopOutlivesKill: a loop whose check fails twice continues after kill -9, and ends done.
// No prompt comes twice, and no process of a check stays.
func TestP8_LoopOutlivesKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	waits := w.countingCheck(2) + " || exit 1; [ $n -ne 2 ] || until [ -e killed ]; do sleep 1; done; [ $n -ge 3 ]"
	term.says("ccbot loop start work 'say I try' --check '" + waits + "' --max-turns 9")
	l := w.newestLoop("checks for the second time", func(l loop.Loop) bool {
		return l.Iteration == 2 && l.Step == port.LoopCheck && len(l.Processes) >= 3
	})
	w.kill9()
	w.makes("killed")
	left := l.Processes
	w.start()
	l = w.newestLoop("is done", func(l loop.Loop) bool { return l.State == port.LoopDone })
	assert.Equal(t, []any{3, 3}, []any{l.Used.Turns, l.Iteration})
	received := w.received()
	require.Len(t, received, 3)
	assert.Equal(t, "say I try", received[0])
	assert.Contains(t, received[1], "prompts: 1")
	assert.Contains(t, received[2], "prompts: 2")
	for _, id := range append(left, l.Processes...) {
		assert.Equal(t, process.Gone, w.table.Liveness(id), id)
	}
	w.hear(0, "Loop of work: done, the check passed")
	assert.Contains(t, term.says("ccbot loop list"), "work: done, iteration 3")
	assert.Contains(t, term.says("ccbot loop status work --json"), `"exit_code": 0`)
}

// TestPersonPausesLoop: a person's message in the chat pauses the loop, and only a resume continues
// it.
func TestPersonPausesLoop(t *testing.T) {
	inShortRun(t, "a loop")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	term.says("ccbot loop start work 'slow until told' --check 'exit 1' --max-turns 99")
	assert.Contains(t, term.fails("ccbot loop start work 'slow until told' --check 'exit 1' --max-turns 9"), "stop that one first")
	w.until("the turn runs", func() bool { return w.record("work").Phase == "working" })
	w.say("say I am a person")
	l := w.newestLoop("is paused", func(l loop.Loop) bool { return l.State == port.LoopPaused })
	assert.Equal(t, port.WhyPersonActed, l.Reason)
	w.hear(0, "Loop of work: paused")
	w.makes("told")
	w.until("the person's prompt is typed", func() bool { return slices.Contains(w.received(), "say I am a person") })
	assert.Len(t, w.received(), 2)
	term.says("ccbot loop resume work")
	w.until("the loop goes on", func() bool { return len(w.received()) >= 3 })
	assert.True(t, strings.HasPrefix(w.received()[2], "The task is not done"))
	term.says("ccbot loop stop work")
	assert.Equal(t, port.LoopStopped, w.loops()[0].State)
}

// TestP4_RaisedLoopContinues: a loop that a bound has ended continues from the terminal, and sends
// exactly one prompt more.
func TestP4_RaisedLoopContinues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	term.says("ccbot loop start work 'say I try' --check '" + w.countingCheck(2) + "' --max-turns 1")
	l := w.newestLoop("has ended", func(l loop.Loop) bool { return !l.State.Live() && l.Reported == l.State })
	require.Equal(t, []any{port.LoopExhausted, port.BoundTurns}, []any{l.State, l.Reason})
	assert.Contains(t, term.says("ccbot loop raise work --max-turns 1 --json"), `"turns": 2`)
	l = w.newestLoop("is done", func(l loop.Loop) bool { return l.State == port.LoopDone })
	assert.Equal(t, 2, l.Used.Turns)
	assert.Len(t, w.received(), 2)
}
