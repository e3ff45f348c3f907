package loop

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

// TestUnpricedBeforeLoop: answers before the loop are not the loop's.
func TestUnpricedBeforeLoop(t *testing.T) {
	w := newWorld(t)
	w.engine.before = Spent{Tokens: 500, Cost: 9, Unpriced: true}
	w.engine.each = Spent{Cost: 0.1}
	w.begin("true", port.LoopBounds{Cost: 5})
	w.run()
	l := w.only()
	assert.Equal(t, []any{port.LoopDone, int64(0), 0.1, false}, []any{l.State, l.Used.Tokens, l.Used.Cost, l.Used.Unpriced})
}

// TestCheckThatEndsCcbotPauses: without it each start would run it again.
func TestCheckThatEndsCcbotPauses(t *testing.T) {
	w := newWorld(t)
	l := w.begin("true", port.LoopBounds{Turns: 5})
	begun := 0
	for range maxCuts + 2 {
		func() {
			defer func() { _ = recover() }()
			w.Failpoint = func(name string) {
				if name == "loop-check-begun" {
					begun++
					panic(killed{})
				}
			}
			w.run()
		}()
		w.restart()
	}
	assert.Equal(t, []any{port.LoopPaused, port.WhyCheckCut, maxCuts}, []any{w.only().State, w.only().Reason, begun})
	_, err := w.Resume(t.Context(), l.ID, 0)
	require.NoError(t, err)
	w.run()
	assert.Equal(t, port.LoopDone, w.only().State)
}

// TestFinishedPromptIsNotedWhilePaused: the inbox forgets it after two days.
func TestFinishedPromptIsNotedWhilePaused(t *testing.T) {
	w := newWorld(t)
	w.engine.turn, w.engine.unfinished = outcome.Outcome{}, true
	l := w.begin("true", port.LoopBounds{Turns: 5})
	w.run()
	_, err := w.Pause(t.Context(), l.ID, port.WhyPerson, "")
	require.NoError(t, err)
	w.engine.unfinished = false
	w.run()
	assert.NotNil(t, w.only().Typed)
}

// TestPersonTypesDuringCheck: a prompt in the terminal pauses the loop also if the turn has ended.
func TestPersonTypesDuringCheck(t *testing.T) {
	w := newWorld(t)
	w.engine.onTree = func() { w.engine.turn.Others = true }
	l := w.begin("exit 1", port.LoopBounds{Turns: 5})
	w.run()
	assert.Equal(t, []any{port.LoopPaused, port.WhyPersonActed, 1}, []any{w.only().State, w.only().Reason, w.only().Used.Turns})
	w.engine.onTree, w.engine.turn.Others = nil, false
	_, err := w.Resume(t.Context(), l.ID, 0)
	require.NoError(t, err)
	w.run()
	assert.Equal(t, []any{port.LoopExhausted, 5}, []any{w.only().State, w.only().Used.Turns})
}

// TestPromptBeforeResumeIsNoReason: a person's prompt during a check is still in the transcript
// when the loop is resumed and the check runs again.
func TestPromptBeforeResumeIsNoReason(t *testing.T) {
	w := newWorld(t)
	w.engine.onTree = func() { w.engine.turn.Others = true }
	l := w.begin("exit 1", port.LoopBounds{Turns: 5})
	w.run()
	require.Equal(t, port.WhyPersonActed, w.only().Reason)
	_, err := w.Resume(t.Context(), l.ID, 0)
	require.NoError(t, err)
	w.engine.onTree, w.engine.onKeep = nil, func() { w.engine.turn.Others = false }
	w.run()
	assert.Equal(t, []any{port.LoopExhausted, 5}, []any{w.only().State, w.only().Used.Turns})
}

// TestNoCheckAfterBoundInTime: a check that the end time cuts is not a failed check, and none
// begins after it.
func TestNoCheckAfterBoundInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mark := filepath.Join(w.engine.record.Dir, "mark")
	w.engine.onKeep = func() { w.now = w.now.Add(time.Minute) }
	w.begin("touch "+mark, port.LoopBounds{Minutes: 1})
	w.run()
	assert.NoFileExists(t, mark)
	assert.Equal(t, []any{port.LoopExhausted, port.BoundMinutes}, []any{w.only().State, w.only().Reason})

	w = newWorld(t)
	w.Now = func() time.Time { return time.Now() }
	w.begin("exec sleep 1000", port.LoopBounds{Until: time.Now().Add(2 * time.Second)})
	w.run()
	l := w.only()
	assert.Equal(t, []any{port.LoopExhausted, port.BoundUntil}, []any{l.State, l.Reason})
	assert.Nil(t, l.Last)
	assert.Empty(t, l.Processes)
}

// TestFailedStepIsLoggedOnce also if each later one fails as well, as on a full disk.
func TestFailedStepIsLoggedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var said bytes.Buffer
	w.Log = slog.New(slog.NewTextHandler(&said, nil))
	w.begin("true", port.LoopBounds{Turns: 5})
	full := errors.New("no space left on device")
	var failed atomic.Int32
	w.Tell = func(context.Context, port.Loop) error { failed.Add(1); return full }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Run(ctx) }()
	waittest.Until(t, func() bool { return failed.Load() > 2 })
	cancel()
	<-done
	assert.Equal(t, 1, strings.Count(said.String(), "loop_step_failed"), said.String())
}

// TestP2_DoubleForkIsEnded: a process that leaves its parents and its group at once is ended too.
func TestP2_DoubleForkIsEnded(t *testing.T) {
	w := newWorld(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	pid := filepath.Join(w.engine.record.Dir, "pid")
	w.begin("env -i setsid sh -c 'setsid sh -c \"echo \\$\\$ > "+pid+"; exec sleep 1000\" & exit 0'; until [ -s "+pid+" ]; do :; done", port.LoopBounds{Turns: 5})
	w.run()
	assert.Equal(t, []any{port.LoopDone, 1}, []any{w.only().State, w.only().Used.Turns})
	id, err := table.Identify(readPid(t, pid))
	if err == nil {
		p, _ := os.FindProcess(id.PID)
		t.Cleanup(func() { _ = p.Kill() })
	}
	require.ErrorIs(t, err, process.ErrGone)
	assert.Empty(t, w.only().Processes)
}

// TestP2_HolderStaysWithLeftovers: after kill -9 of ccbot, what the check has left behind is still
// found below the check's first process, although the check itself has ended.
func TestP2_HolderStaysWithLeftovers(t *testing.T) {
	w := newWorld(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	pid := filepath.Join(w.engine.record.Dir, "pid")
	w.begin("[ -e pid ] && exit 0; setsid sh -c 'echo $$ > pid; exec sleep 1000' & until [ -s pid ]; do :; done", port.LoopBounds{Turns: 5})
	c, leader := w.beginCheck()
	assert.Zero(t, <-c.exit)
	require.NoError(t, c.hold.Close()) // ccbot is gone
	id, err := table.Identify(readPid(t, pid))
	require.NoError(t, err)
	time.Sleep(200 * time.Millisecond)
	w.restart()
	assert.Equal(t, process.Gone, table.Liveness(id))
	assert.Equal(t, process.Gone, table.Liveness(leader))
	assert.Empty(t, w.only().Processes)
	c.done.Wait()
}

// TestP8_ResumeAfterKillAtAsked: the kept prompt was taken back by the pause, or it is typed
// already.
func TestP8_ResumeAfterKillAtAsked(t *testing.T) {
	for _, typed := range []bool{false, true} {
		w := newWorld(t)
		w.engine.turn = outcome.Outcome{}
		l := w.begin("true", port.LoopBounds{Turns: 9})
		w.Failpoint = func(name string) {
			if name == "loop-asked" {
				panic(killed{})
			}
		}
		require.Panics(t, w.run)
		w.restart()
		if !typed {
			w.engine.onWithdraw = func() { w.engine.turn.Kind = outcome.Withdrawn }
		}
		w.Yield(t.Context(), l.Session, "a prompt")
		w.engine.onWithdraw, w.engine.onKeep = nil, func() { w.engine.turn.Kind = outcome.Answered }
		_, err := w.Resume(t.Context(), l.ID, 0)
		require.NoError(t, err)
		if typed {
			w.engine.turn.Kind = outcome.Answered
		}
		w.run()
		assert.Equal(t, port.LoopDone, w.only().State, w.only().Reason)
		assert.Equal(t, 1, w.only().Used.Turns)
		assert.Len(t, w.engine.kept, map[bool]int{false: 2, true: 1}[typed], "a prompt that was not typed is sent again with another key")
	}
}

// TestUnreadRecordDecidesNothing: a newer ccbot may read it, or a person may bring it back.
func TestUnreadRecordDecidesNothing(t *testing.T) {
	w := newWorld(t)
	w.begin("true", port.LoopBounds{Turns: 3})
	was := w.engine.record
	w.engine.record, w.engine.unread = session.Record{}, true
	w.restart()
	w.run()
	assert.Equal(t, port.LoopRunning, w.only().State)
	assert.Empty(t, w.told)
	w.engine.record, w.engine.unread = was, false
	w.restart()
	w.run()
	assert.Equal(t, port.LoopDone, w.only().State)
}

// TestCheckStaysAfterPause: the process is logged, because the loop is paused already.
func TestCheckStaysAfterPause(t *testing.T) {
	w := newWorld(t)
	var log bytes.Buffer
	w.Log = slog.New(slog.NewTextHandler(&log, nil))
	w.Spared = func(process.Process) error { return errors.New("spared") }
	l := w.begin("exec sleep 1000", port.LoopBounds{Turns: 3})
	h := w.all()[0]
	done := make(chan error, 1)
	go func() { done <- w.advance(t.Context(), h) }()
	waittest.Until(t, func() bool { return len(w.only().Processes) > 1 })
	_, err := w.Pause(t.Context(), l.ID, port.WhyPerson, "")
	require.NoError(t, err)
	require.NoError(t, <-done)
	assert.Contains(t, log.String(), errStays.Error())
	w.restart() // it ends the process
	assert.Empty(t, w.only().Processes)
}
