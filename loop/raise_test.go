package loop

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// TestRaisedBoundContinues: a loop that ended at a bound sends exactly as many prompts more as the
// raised bound allows, each with another key.
func TestRaisedBoundContinues(t *testing.T) {
	tests := []struct {
		name         string
		bounds, more port.LoopBounds
		each         Spent
		turns        int // in total
	}{
		{"turns", port.LoopBounds{Turns: 2}, port.LoopBounds{Turns: 3}, Spent{}, 5},
		{"tokens", port.LoopBounds{Tokens: 25}, port.LoopBounds{Tokens: 20}, Spent{Tokens: 10}, 5},
		{"cost", port.LoopBounds{Cost: 2}, port.LoopBounds{Cost: 2}, Spent{Cost: 1}, 4},
		{"minutes", port.LoopBounds{Minutes: 2}, port.LoopBounds{Minutes: 2}, Spent{}, 4},
		{"an end time", port.LoopBounds{Until: noon.Add(2 * time.Minute)}, port.LoopBounds{Until: noon.Add(4 * time.Minute)}, Spent{}, 4},
		{"only bounds that it has", port.LoopBounds{Turns: 2}, port.LoopBounds{Turns: 1, Tokens: 1, Cost: 1, Minutes: 1}, Spent{Tokens: 5, Cost: 5}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.now = noon
			w.engine.each = tt.each
			w.engine.onKeep = func() { w.now = w.now.Add(time.Minute) }
			l := w.begin("exit 1", tt.bounds)
			w.run()
			ended := w.only()
			require.Equal(t, port.LoopExhausted, ended.State)
			_, err := w.Change(t.Context(), port.LoopChange{Loop: l.ID, Do: port.LoopRaise, More: tt.more})
			require.NoError(t, err)
			w.run()
			again := w.only()
			assert.Equal(t, []any{port.LoopExhausted, ended.Reason, tt.turns}, []any{again.State, again.Reason, again.Used.Turns})
			assert.Len(t, w.engine.keys, tt.turns)
		})
	}
}

// TestRaiseAfterInterruptedTurn: the turn that a bound has interrupted is asked for again.
func TestRaiseAfterInterruptedTurn(t *testing.T) {
	w := newWorld(t)
	w.engine.turn = outcome.Outcome{}
	l := w.begin("true", port.LoopBounds{Minutes: 5})
	w.run()
	w.now = w.now.Add(time.Hour)
	w.run()
	require.Equal(t, port.LoopExhausted, w.only().State)
	w.engine.onKeep = func() { w.engine.turn.Kind = outcome.Answered }
	_, err := w.Change(t.Context(), port.LoopChange{Loop: l.ID, Do: port.LoopRaise, More: port.LoopBounds{Minutes: 5}})
	require.NoError(t, err)
	w.run()
	assert.Equal(t, []any{port.LoopDone, 65, 2}, []any{w.only().State, w.only().Bounds.Minutes, w.only().Attempt})
}

// TestRaiseWhileLoopIsLive changes only the bound: a paused loop stays paused.
func TestRaiseWhileLoopIsLive(t *testing.T) {
	w := newWorld(t)
	w.engine.turn = outcome.Outcome{}
	l := w.begin("true", port.LoopBounds{Turns: 5})
	w.run()
	_, err := w.Change(t.Context(), port.LoopChange{Loop: l.ID, Do: port.LoopPause})
	require.NoError(t, err)
	_, err = w.Change(t.Context(), port.LoopChange{Loop: l.ID, Do: port.LoopRaise, More: port.LoopBounds{Turns: 5}})
	require.NoError(t, err)
	assert.Equal(t, []any{port.LoopPaused, 10}, []any{w.only().State, w.only().Bounds.Turns})
}

// TestRaiseIsRefused if the loop was stopped, or another loop has the feature.
func TestRaiseIsRefused(t *testing.T) {
	w := newWorld(t)
	l := w.begin("exit 1", port.LoopBounds{Turns: 1})
	w.run()
	raise := port.LoopChange{Loop: l.ID, Do: port.LoopRaise, More: port.LoopBounds{Turns: 5}}
	other, err := w.Start(t.Context(), port.LoopRequest{Key: uuid.New(), Session: l.Session, Task: "x", Check: "x", Bounds: port.LoopBounds{Turns: 1}})
	require.NoError(t, err)
	_, err = w.Change(t.Context(), raise)
	assert.True(t, refusal.Is(err, refusal.LoopHeld), err)
	_, err = w.Change(t.Context(), port.LoopChange{Loop: other.ID, Do: port.LoopStop})
	require.NoError(t, err)
	raise.Loop = other.ID
	_, err = w.Change(t.Context(), raise)
	assert.True(t, refusal.Is(err, refusal.Changed), err)
}

// TestStartWhileRaised: only one of them gets the session, and neither keeps readers waiting.
func TestStartWhileRaised(t *testing.T) {
	w := newWorld(t)
	l := w.begin("false", port.LoopBounds{Turns: 1})
	w.run()
	require.Equal(t, port.LoopExhausted, w.only().State)
	started := make(chan error, 1)
	w.engine.onPlace = func() { w.Live(l.Session) }
	w.engine.onSpent = func(context.Context) {
		w.engine.onSpent = nil
		w.Live(l.Session)
		go func() {
			_, err := w.Start(context.Background(), port.LoopRequest{Key: uuid.New(), Session: l.Session, Task: "x", Check: "x", Bounds: port.LoopBounds{Turns: 1}})
			started <- err
		}()
		time.Sleep(100 * time.Millisecond)
	}
	_, err := w.Change(t.Context(), port.LoopChange{Loop: l.ID, Do: port.LoopRaise, More: port.LoopBounds{Turns: 1}})
	require.NoError(t, err)
	assert.True(t, refusal.Is(<-started, refusal.LoopHeld))
}

// TestUseIsCountedInTime: a person's prompt waits for a count, and a limit may last for hours.
func TestUseIsCountedInTime(t *testing.T) {
	w := newWorld(t)
	w.begin("true", port.LoopBounds{Turns: 3})
	w.engine.turn = outcome.Outcome{Kind: outcome.Failed, Failure: talk.Failure{Kind: talk.FailedLimit, Until: noon.Add(5 * time.Hour)}}
	w.run()
	require.Equal(t, port.LoopWaiting, w.only().State)
	counts := 0
	w.engine.onSpent = func(ctx context.Context) {
		counts++
		_, limited := ctx.Deadline()
		assert.True(t, limited)
	}
	for range 60 {
		w.now = w.now.Add(time.Second)
		w.run()
	}
	assert.Equal(t, 12, counts)
}

// TestChangeWakesKeeperLast: Run, once woken, sees the changed loop. Otherwise a raised loop would
// stay where it is until another loop changes.
func TestChangeWakesKeeperLast(t *testing.T) {
	w := newWorld(t)
	l := w.begin("true", port.LoopBounds{Turns: 5})
	<-w.woken
	h := w.find(l.ID)
	for n := range 2000 {
		do, want := port.LoopPause, port.LoopPaused
		if n%2 == 1 {
			do, want = port.LoopResume, port.LoopRunning
		}
		saw := make(chan port.LoopState)
		go func() {
			<-w.woken
			saw <- h.copy().State
		}()
		_, err := w.Change(t.Context(), port.LoopChange{Loop: l.ID, Do: do})
		require.NoError(t, err)
		require.Equal(t, want, <-saw)
	}
}

// TestRaisedBoundStaysInRange: however much is added, and however often, a bound remains one.
func TestRaisedBoundStaysInRange(t *testing.T) {
	most := port.MostLoopBounds
	l := Loop{Loop: port.Loop{CreatedAt: noon, Bounds: port.LoopBounds{Turns: 1, Tokens: 1, Cost: 1, Minutes: 1}, Used: port.LoopUsed{Turns: 7, Tokens: math.MaxInt64, Cost: 9}}}
	for range 3 {
		l.addBounds(port.LoopBounds{Turns: math.MaxInt, Tokens: math.MaxInt64, Cost: math.Inf(1), Minutes: math.MaxInt}, noon)
		assert.Equal(t, most, l.Bounds)
	}
	assert.Empty(t, l.late(noon), "the time of the highest bound does not overflow")
	assert.Equal(t, port.BoundMinutes, l.late(noon.AddDate(2, 0, 0)))
}

// TestImpossibleBoundIsRefused: one that is below zero, no number, or so high that it overflows.
func TestImpossibleBoundIsRefused(t *testing.T) {
	for _, b := range []port.LoopBounds{{Turns: -1, Cost: 1}, {Tokens: -1, Cost: 1}, {Minutes: -1, Cost: 1}, {Cost: -1, Turns: 1}, {Cost: math.NaN()},
		{Cost: math.Inf(1)}, {Cost: 1e300}, {Turns: math.MaxInt}, {Tokens: math.MaxInt64}, {Minutes: math.MaxInt}, {Minutes: math.MaxInt, Turns: 1}} {
		assert.ErrorIs(t, Valid(port.LoopRequest{Task: "fix it", Check: "true", Bounds: b}), ErrBadBound, "%+v", b)
	}
	assert.NoError(t, Valid(port.LoopRequest{Task: "fix it", Check: "true", Bounds: port.MostLoopBounds}))
}
