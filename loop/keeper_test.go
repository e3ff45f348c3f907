package loop

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

// TestLoopEndsDone: the check decides, and its output is in the next prompt.
func TestLoopEndsDone(t *testing.T) {
	w := newWorld(t)
	count := filepath.Join(w.engine.record.Dir, "count")
	w.begin(fmt.Sprintf("echo x >> %s; echo left: $(wc -l < %s); [ $(wc -l < %s) -ge 3 ]", count, count, count), port.LoopBounds{Turns: 9})
	w.run()
	l := w.only()
	assert.Equal(t, port.LoopDone, l.State)
	assert.Equal(t, 3, l.Used.Turns)
	require.Len(t, w.engine.kept, 3)
	assert.Equal(t, "fix it", w.engine.kept[0])
	assert.Contains(t, w.engine.kept[2], "left: 2")
	assert.Contains(t, w.engine.kept[2], "exited with 1")
	assert.Equal(t, []string{"commit 0", "tree 0"}, []string{l.Commit, l.Baseline}, "as they were when it began")
	require.Len(t, w.told, 2)
	assert.Equal(t, []port.LoopState{port.LoopRunning, port.LoopDone}, []port.LoopState{w.told[0].State, w.told[1].State})
	assert.Empty(t, l.Processes)
}

// TestLoopEndsAtEachBound: a check that never passes ends exactly at each bound.
func TestLoopEndsAtEachBound(t *testing.T) {
	tests := []struct {
		name   string
		bounds port.LoopBounds
		each   Spent
		turns  int
		want   port.LoopReason
	}{
		{"turns", port.LoopBounds{Turns: 3}, Spent{}, 3, port.BoundTurns},
		{"tokens", port.LoopBounds{Tokens: 100}, Spent{Tokens: 30}, 4, port.BoundTokens},
		{"dollars", port.LoopBounds{Cost: 1}, Spent{Cost: 0.5}, 2, port.BoundCost},
		{"an unknown price", port.LoopBounds{Cost: 1}, Spent{Unpriced: true}, 1, port.BoundCost},
		{"an unknown price that is free", port.LoopBounds{Cost: 1, Turns: 4, NoCost: true}, Spent{Unpriced: true}, 4, port.BoundTurns},
		{"minutes", port.LoopBounds{Minutes: 3}, Spent{}, 3, port.BoundMinutes},
		{"an end time", port.LoopBounds{Until: noon.Add(2 * time.Minute)}, Spent{}, 2, port.BoundUntil},
		{"the first of several", port.LoopBounds{Turns: 9, Tokens: 60, Minutes: 5}, Spent{Tokens: 30}, 2, port.BoundTokens},
	}
	var table strings.Builder
	defer func() { t.Logf("bound | value | of one turn | turns | ended by\n%s", &table) }()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.engine.each = tt.each
			w.engine.onKeep = func() { w.now = w.now.Add(time.Minute) }
			w.begin("exit 1", tt.bounds)
			w.run()
			l := w.only()
			assert.Equal(t, []any{port.LoopExhausted, tt.want, tt.turns}, []any{l.State, l.Reason, l.Used.Turns})
			assert.Len(t, w.engine.kept, tt.turns)
			bounds, _ := json.Marshal(tt.bounds)
			each, _ := json.Marshal(tt.each)
			fmt.Fprintf(&table, "%s | %s | %s, one minute | %d | %s\n", tt.name, bounds, each, l.Used.Turns, l.Reason)
		})
	}
}

// TestBoundInTurn: the turn is interrupted once, and the loop ends with it.
func TestBoundInTurn(t *testing.T) {
	w := newWorld(t)
	w.engine.turn = outcome.Outcome{}
	w.begin("exit 1", port.LoopBounds{Minutes: 5})
	w.run()
	assert.Zero(t, w.engine.escs)
	w.now = w.now.Add(5 * time.Minute)
	w.run()
	assert.Equal(t, 1, w.engine.escs)
	assert.Equal(t, []any{port.LoopExhausted, port.BoundMinutes}, []any{w.only().State, w.only().Reason})
}

// TestP7_NoEscAtOpenDialog: at a bound a dialog gets no key.
func TestP7_NoEscAtOpenDialog(t *testing.T) {
	w := newWorld(t)
	w.engine.turn, w.engine.asks = outcome.Outcome{}, true
	w.begin("exit 1", port.LoopBounds{Minutes: 5})
	w.now = w.now.Add(time.Minute)
	w.run()
	w.now = w.now.Add(5 * time.Minute)
	w.run()
	assert.Zero(t, w.engine.escs)
	assert.Equal(t, []any{port.LoopPaused, port.WhyDialog}, []any{w.only().State, w.only().Reason})
}

// TestNoProgressPauses counts the same output and the same files.
func TestNoProgressPauses(t *testing.T) {
	w := newWorld(t)
	w.engine.tree = "the same"
	w.begin("echo took $(date +%s%N | tail -c 3)ms; exit 1", port.LoopBounds{Turns: 30})
	w.run()
	assert.Equal(t, []any{port.LoopPaused, port.WhyNoProgress, 4}, []any{w.only().State, w.only().Reason, w.only().Used.Turns})
	_, err := w.Resume(t.Context(), w.only().ID, 0)
	require.NoError(t, err)
	w.run()
	assert.Equal(t, []any{port.LoopPaused, port.WhyNoProgress, 7}, []any{w.only().State, w.only().Reason, w.only().Used.Turns})
}

// TestEqualOutputsPauseWithoutGit, only later: files may have changed, and nobody sees that.
func TestEqualOutputsPauseWithoutGit(t *testing.T) {
	for check, want := range map[string][]any{
		"echo took $(date +%s%N | tail -c 3)ms; exit 1": {port.LoopPaused, port.WhyNoProgress, maxEqualOutputs + 1},
		"exit 1": {port.LoopPaused, port.WhyNoProgress, maxEqualOutputs + 1},
		"echo x >> seen; wc -l < seen | tr 0-9 a-j; exit 1": {port.LoopExhausted, port.BoundTurns, 30},
	} {
		w := newWorld(t)
		w.engine.noGit = true
		w.begin(check, port.LoopBounds{Turns: 30})
		w.run()
		assert.Equal(t, want, []any{w.only().State, w.only().Reason, w.only().Used.Turns}, check)
	}
}

// TestPersonComesFirst: the pause is on disk when Yield returns, the loop's prompt is taken back,
// and only a resume continues.
func TestPersonComesFirst(t *testing.T) {
	w := newWorld(t)
	w.engine.turn, w.engine.unfinished = outcome.Outcome{}, true
	l := w.begin("true", port.LoopBounds{Turns: 3})
	w.run()
	w.Yield(t.Context(), l.Session, "a prompt")
	assert.Equal(t, []any{port.LoopPaused, port.WhyPersonActed, 1}, []any{w.only().State, w.only().Reason, w.engine.withdrew})
	w.engine.turn, w.engine.unfinished = outcome.Outcome{Kind: outcome.Withdrawn}, false
	w.restart()
	w.run()
	assert.Equal(t, port.LoopPaused, w.only().State)
	_, err := w.Resume(t.Context(), l.ID, 0)
	require.NoError(t, err)
	w.engine.onKeep = func() { w.engine.turn.Kind = outcome.Answered }
	w.run()
	assert.Equal(t, port.LoopDone, w.only().State)
	assert.Len(t, w.engine.kept, 2, "the second attempt has another key")
}

// TestOneLoop: a second live loop of a session or of a feature is refused, and names the holder.
func TestOneLoop(t *testing.T) {
	w := newWorld(t)
	l := w.begin("true", port.LoopBounds{Turns: 1})
	again, err := w.Start(t.Context(), port.LoopRequest{Key: l.ID, Session: l.Session, Task: "x", Check: "x", Bounds: port.LoopBounds{Turns: 1}})
	require.NoError(t, err)
	assert.Equal(t, l.ID, again.ID, "a repeated request is the same loop")
	held := (*HeldError)(nil)
	_, err = w.Start(t.Context(), port.LoopRequest{Key: uuid.New(), Session: l.Session, Feature: "else", Task: "x", Check: "x", Bounds: port.LoopBounds{Turns: 1}})
	require.ErrorAs(t, err, &held)
	assert.Equal(t, l.ID, held.By.ID)
	w.engine.record.ID = uuid.New() // another session in the same folder
	_, err = w.Start(t.Context(), port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Task: "x", Check: "x", Bounds: port.LoopBounds{Turns: 1}})
	require.ErrorAs(t, err, &held)
	_, err = w.Start(t.Context(), port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Feature: "else", Task: "x", Check: "x", Bounds: port.LoopBounds{Turns: 1}})
	require.ErrorAs(t, err, &held, "they would write one work tree")
	w.engine.record.Dir = t.TempDir()
	_, err = w.Start(t.Context(), port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Feature: "else", Task: "x", Check: "x", Bounds: port.LoopBounds{Turns: 1}})
	require.NoError(t, err)
}

// TestP8_OrphanedLoopsAreSettled: a start ends the loops of sessions that are gone, and changes
// nothing when it is repeated.
func TestP8_OrphanedLoopsAreSettled(t *testing.T) {
	for state, want := range map[session.State]port.LoopState{session.Archived: port.LoopOrphaned, session.Completed: port.LoopOrphaned, session.Abandoned: port.LoopOrphaned, session.Lost: port.LoopPaused, "": port.LoopOrphaned} {
		w := newWorld(t)
		w.begin("true", port.LoopBounds{Turns: 1})
		w.engine.record.State, w.engine.record.EndedAt = state, w.now.Add(-time.Hour)
		if state == "" {
			w.engine.record.ID = uuid.New()
		}
		before := w.only()
		w.restart()
		first := w.only()
		assert.Equal(t, want, first.State, state)
		copied, err := w.Copies.Read(first.ID.String() + copySuffix)
		if want == port.LoopPaused {
			assert.ErrorIs(t, err, fs.ErrNotExist, "a pause ends nothing")
		} else {
			var kept Loop
			require.NoError(t, json.Unmarshal(copied, &kept), state)
			assert.Equal(t, before, kept, "as it was before the start ended it")
		}
		w.restart()
		assert.Equal(t, first, w.only())
	}
}

// A loop that moved when ccbot went away for long waits for a tap, and takes its prompt back, also if its
// session is not known yet. The tap continues at the same step.
func TestP4_LoopWaitsForATapAfterALongAbsence(t *testing.T) {
	for name, tt := range map[string]struct {
		away   time.Duration
		before func(w *world, l *Loop)
		heal   func(w *world) // after the first settlement
		want   port.LoopReason
	}{
		"away for long":                     {25 * time.Hour, nil, nil, port.WhyAway},
		"a short absence":                   {23 * time.Hour, nil, nil, ""},
		"paused by a person":                {25 * time.Hour, func(_ *world, l *Loop) { l.State, l.Reason = port.LoopPaused, port.WhyPerson }, nil, port.WhyPerson},
		"it waited for a limit":             {25 * time.Hour, func(w *world, l *Loop) { l.State, l.Until = port.LoopWaiting, w.now.Add(time.Hour) }, nil, port.WhyAway},
		"its record is unread at the start": {25 * time.Hour, func(w *world, _ *Loop) { w.engine.unread = true }, func(w *world) { w.engine.unread = false }, port.WhyAway},
	} {
		t.Run(name, func(t *testing.T) {
			w, l := asking(t)
			if tt.before != nil {
				l = w.only()
				tt.before(w, &l)
				require.NoError(t, w.store.put(l))
			}
			before := w.only()
			w.restartAfter(tt.away)
			if tt.heal != nil {
				tt.heal(w)
			}
			w.run()
			after := w.only()
			assert.Equal(t, []any{tt.want, before.Step, before.Iteration}, []any{after.Reason, after.Step, after.Iteration})
			if tt.want != port.WhyAway {
				assert.Equal(t, before.State, after.State)
				return
			}
			assert.Equal(t, port.LoopPaused, after.State)
			assert.Positive(t, w.engine.withdrew)
			_, err := w.Resume(t.Context(), l.ID, 7)
			require.NoError(t, err)
			w.Settle(t.Context())
			w.run()
			assert.Equal(t, port.LoopRunning, w.only().State, "an absence counts once")
		})
	}
}

// killed is the value with which a failpoint of these tests panics.
type killed struct{}

// TestP4_RandomKillsInLoop kills the Keeper at random failpoints of a loop of 30 iterations: each
// prompt is sent once, none is left out, and there is one loop.
func TestP4_RandomKillsInLoop(t *testing.T) {
	kills := 0
	for seed := range uint64(4) {
		kills += killLoop(t, rand.New(rand.NewPCG(seed, 1)))
	}
	assert.GreaterOrEqual(t, kills, 100)
}

func killLoop(t *testing.T, random *rand.Rand) (kills int) {
	t.Helper()
	w := newWorld(t)
	count := filepath.Join(w.engine.record.Dir, "count")
	// The check counts the prompts that the agent got, as a check that is repeatable does.
	w.engine.onKeep = func() { require.NoError(t, os.WriteFile(count, []byte(strconv.Itoa(len(w.engine.kept))), 0o600)) }
	request := port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Task: "fix it", Check: "cat count; [ $(cat count) -ge 30 ]", Bounds: port.LoopBounds{Turns: 60}}
	points := make(map[string]bool)
	for over := false; !over; {
		func() {
			defer func() {
				if r := recover(); r != nil && r != (killed{}) {
					panic(r)
				}
			}()
			w.restart()
			w.Failpoint = func(name string) {
				points[name] = true
				if random.IntN(5) == 0 {
					kills++
					panic(killed{})
				}
			}
			_, err := w.Start(t.Context(), request)
			require.NoError(t, err)
			w.run()
			over = true
		}()
	}
	l := w.only()
	assert.Equal(t, []any{port.LoopDone, 30, 30}, []any{l.State, l.Iteration, l.Used.Turns})
	require.Len(t, w.engine.kept, 30)
	for i, text := range w.engine.kept[1:] {
		assert.True(t, strings.Contains(text, fmt.Sprintf("\n\n%d\n", i+1)), text)
	}
	assert.ElementsMatch(t, []string{"loop-saved", "loop-asking", "loop-asked", "loop-turn-over", "loop-check-begun", "loop-check-saved", "loop-settled", "loop-told"},
		slices.Collect(maps.Keys(points)))
	return kills
}

// TestP2_CheckLeavesNothing: what a check leaves behind is ended by its identity, also when it has
// left the check's group, and after a crash.
func TestP2_CheckLeavesNothing(t *testing.T) {
	w := newWorld(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	pids := filepath.Join(w.engine.record.Dir, "pids")
	sleeper := func(n int) process.Identity {
		t.Helper()
		var id process.Identity
		waittest.Until(t, func() bool {
			data, _ := os.ReadFile(pids)
			words := strings.Fields(string(data))
			if len(words) < n {
				return false
			}
			pid, _ := strconv.Atoi(words[n-1])
			id, err = table.Identify(pid)
			return err == nil
		})
		return id
	}
	w.begin("sleep 1000 & echo $! >> pids", port.LoopBounds{Turns: 1})
	w.run()
	data, err := os.ReadFile(pids)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	_, err = table.Identify(pid)
	require.ErrorIs(t, err, process.ErrGone)
	assert.Equal(t, port.LoopDone, w.only().State)

	w = newWorld(t)
	pids = filepath.Join(w.engine.record.Dir, "pids")
	l := w.begin("setsid sleep 1000 & echo $! >> pids; sleep 1000", port.LoopBounds{Turns: 1})
	done := make(chan error, 1)
	h := w.all()[0]
	go func() { done <- w.advance(t.Context(), h) }()
	id := sleeper(1)
	waittest.Until(t, func() bool { return slices.Contains(w.only().Processes, id) })
	session, below := w.Below([]process.Process{{Identity: id}})
	assert.True(t, below)
	assert.Equal(t, l.Session, session)
	_, err = w.Pause(t.Context(), l.ID, port.WhyPerson, "")
	require.NoError(t, err)
	require.NoError(t, <-done)
	assert.Equal(t, process.Gone, table.Liveness(id))
	assert.Empty(t, w.only().Processes)
	assert.Equal(t, port.LoopPaused, w.only().State)
}

// TestP9_CheckGetsOnlyItsEnvironment and its output is bounded.
func TestP9_CheckGetsOnlyItsEnvironment(t *testing.T) {
	t.Setenv("TELEGRAM_BOT_TOKEN", "secret")
	w := newWorld(t)
	w.begin("env; pwd; [ -t 0 ] || echo no terminal; exit 3", port.LoopBounds{Turns: 1})
	w.run()
	last := w.only().Last
	assert.NotContains(t, last.Tail, "secret")
	assert.Contains(t, last.Tail, w.engine.record.Dir)
	assert.Equal(t, 3, last.Exit)
	w = newWorld(t)
	w.begin("yes 0123456789 | head -c 1000000; echo the end; exit 1", port.LoopBounds{Turns: 1})
	w.run()
	assert.LessOrEqual(t, len(w.only().Last.Tail), maxTail)
	assert.True(t, strings.HasSuffix(w.only().Last.Tail, "the end\n"))
}
