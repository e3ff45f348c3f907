package loop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/waittest"
	"ccbot/lifecycle/outcome"
	"ccbot/lifecycle/typing"
	"ccbot/port"
)

// TestLiveDuringStep: a report to the chat may ask for the loops while a step is under way.
func TestLiveDuringStep(t *testing.T) {
	w := newWorld(t)
	l := w.begin("true", port.LoopBounds{Turns: 1})
	w.Tell = func(context.Context, port.Loop) error { _, _ = w.Live(l.Session); return nil }
	done := make(chan struct{})
	go func() { defer close(done); w.run() }()
	waittest.Next(t, done, "the step ends, and does not wait for itself")
	assert.Equal(t, port.LoopDone, w.only().State)
}

// TestBoundBeforePromptIsTyped: the agent may be busy with another's turn. That one is not
// interrupted, and the prompt is taken back.
func TestBoundBeforePromptIsTyped(t *testing.T) {
	w := newWorld(t)
	w.engine.turn = outcome.Outcome{}
	w.engine.onWithdraw = func() { w.engine.turn.Kind = outcome.Withdrawn }
	w.begin("exit 1", port.LoopBounds{Minutes: 5})
	w.run()
	w.now = w.now.Add(5 * time.Minute)
	w.run()
	assert.Zero(t, w.engine.escs)
	assert.Equal(t, []any{port.LoopExhausted, port.BoundMinutes}, []any{w.only().State, w.only().Reason})
}

// TestBoundBeforeTurnBegins: an agent that does not work yet is interrupted as soon as it works.
func TestBoundBeforeTurnBegins(t *testing.T) {
	w := newWorld(t)
	w.engine.turn, w.engine.escError = outcome.Outcome{}, typing.ErrIdle
	w.begin("exit 1", port.LoopBounds{Minutes: 5})
	w.run()
	w.now = w.now.Add(5 * time.Minute)
	w.run()
	assert.Equal(t, port.LoopRunning, w.only().State)
	w.engine.escError = nil
	w.run()
	assert.Equal(t, 1, w.engine.escs)
	assert.Equal(t, []any{port.LoopExhausted, port.BoundMinutes}, []any{w.only().State, w.only().Reason})
}

// TestInterruptedAfterResume: a turn that a person interrupts after the loop was resumed pauses it
// again.
func TestInterruptedAfterResume(t *testing.T) {
	for _, step := range []port.LoopStep{port.LoopAsk, port.LoopTurn} {
		w := newWorld(t)
		w.engine.turn = outcome.Outcome{}
		l := w.begin("true", port.LoopBounds{Turns: 9})
		if step == port.LoopTurn {
			w.run()
		}
		_, err := w.Pause(t.Context(), l.ID, port.WhyPerson, "")
		require.NoError(t, err)
		require.Equal(t, step, w.only().Step)
		_, err = w.Resume(t.Context(), l.ID, 0)
		require.NoError(t, err)
		w.run() // the turn runs
		w.engine.turn.Kind = outcome.Stopped
		w.run()
		assert.Equal(t, []any{port.LoopPaused, port.WhyInterrupted}, []any{w.only().State, w.only().Reason}, step)
		assert.Len(t, w.engine.kept, 1, step)
	}
}

// TestCheckCutByPauseHasNoResult also if the loop is resumed before the check has ended.
func TestCheckCutByPauseHasNoResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mark := filepath.Join(w.engine.record.Dir, "mark")
	l := w.begin(fmt.Sprintf("[ -e %s ] || { trap '' TERM; touch %s; sleep 1000; exit 1; }", mark, mark), port.LoopBounds{Turns: 5})
	done := make(chan error, 1)
	h := w.all()[0]
	go func() { done <- w.advance(t.Context(), h) }()
	waittest.Until(t, func() bool { _, err := os.Stat(mark); return err == nil && len(w.only().Processes) > 1 })
	_, err := w.Pause(t.Context(), l.ID, port.WhyPerson, "")
	require.NoError(t, err)
	_, err = w.Resume(t.Context(), l.ID, 0)
	require.NoError(t, err)
	require.NoError(t, <-done)
	w.run()
	assert.Equal(t, []any{port.LoopDone, 1}, []any{w.only().State, w.only().Used.Turns})
	assert.Len(t, w.engine.kept, 1)
}

// readPid waits for a pid in a file.
func readPid(t *testing.T, path string) (pid int) {
	t.Helper()
	waittest.Until(t, func() bool {
		data, _ := os.ReadFile(path)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return pid > 0
	})
	return pid
}

// TestP2_CheckCutByCrashIsEnded: what began after the last look is ended too.
func TestP2_CheckCutByCrashIsEnded(t *testing.T) {
	w := newWorld(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	pid := filepath.Join(w.engine.record.Dir, "pid")
	w.begin("[ -e pid ] && exit 0; sleep 1000 & echo $! > pid; wait", port.LoopBounds{Turns: 5})
	c, _ := w.beginCheck()
	id, err := table.Identify(readPid(t, pid))
	require.NoError(t, err)
	require.NoError(t, c.hold.Close()) // ccbot is gone
	w.restart()
	assert.Equal(t, process.Gone, table.Liveness(id))
	assert.Empty(t, w.only().Processes)
	c.done.Wait()
}

// TestP2_CheckEndsItsHolder: without the holder nothing is proven, and the loop pauses.
func TestP2_CheckEndsItsHolder(t *testing.T) {
	w := newWorld(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	w.begin("echo $$ > pid; kill -9 $PPID; exec sleep 1000", port.LoopBounds{Turns: 5})
	w.run()
	id, err := table.Identify(readPid(t, filepath.Join(w.engine.record.Dir, "pid")))
	if err == nil {
		p, err := os.FindProcess(id.PID)
		require.NoError(t, err)
		t.Cleanup(func() { _ = p.Kill() })
	}
	l := w.only()
	assert.Equal(t, []any{port.LoopPaused, port.WhyCheckStays, 1}, []any{l.State, l.Reason, l.Used.Turns})
}

// TestUseNeverFalls: days leave the window of the ledger while a loop runs.
func TestUseNeverFalls(t *testing.T) {
	w := newWorld(t)
	w.engine.spent = Spent{Tokens: 1000} // of a day that leaves the window
	first := true
	w.engine.onKeep = func() {
		if w.engine.spent.Tokens += 30; first {
			w.engine.spent.Tokens -= 1000
			first = false
		}
	}
	w.begin("exit 1", port.LoopBounds{Tokens: 100, Turns: 30})
	w.run()
	assert.Equal(t, port.BoundTokens, w.only().Reason)
}
