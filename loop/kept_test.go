package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/talk"
)

// killAtPrompt starts a loop whose Keeper is killed after the nth prompt was kept and before that
// was saved. The turn of the prompt runs.
func (w *world) killAtPrompt(q port.LoopRequest, n int) {
	w.t.Helper()
	func() {
		defer func() { require.Equal(w.t, killed{}, recover()) }()
		w.Failpoint = func(name string) {
			if name == "loop-asked" && len(w.engine.kept) == n {
				panic(killed{})
			}
		}
		_, err := w.Start(w.t.Context(), q)
		require.NoError(w.t, err)
		w.run()
	}()
	require.Len(w.t, w.engine.kept, n)
	w.restart()
	require.Equal(w.t, []any{port.LoopRunning, port.LoopAsk}, []any{w.only().State, w.only().Step})
	w.engine.turn = outcome.Outcome{Kind: outcome.Open}
}

// TestP8_BoundAfterKeptPromptEndsItsTurn: the bound is reached while ccbot is down. The turn of
// each phase is interrupted, and counts.
func TestP8_BoundAfterKeptPromptEndsItsTurn(t *testing.T) {
	for n, phase := range []port.LoopPhase{port.PhasePlan, port.PhaseImplement, port.PhaseDone} {
		for _, bound := range []port.LoopReason{port.BoundMinutes, port.BoundTokens} {
			w := newWorld(t)
			q := w.phased(allPhases, 2)
			q.Bounds = port.LoopBounds{Minutes: 60, Tokens: 100}
			w.killAtPrompt(q, n+1)
			if bound == port.BoundMinutes {
				w.now = w.now.Add(2 * time.Hour)
			} else {
				w.engine.spent.Tokens = 200
			}
			w.run()
			l := w.only()
			assert.Equal(t, []any{port.LoopExhausted, bound, phase, n + 1, 1}, []any{l.State, l.Reason, l.Phase, l.Used.Turns, w.engine.escs}, phase)
			assert.Len(t, w.engine.kept, n+1, phase)
		}
	}
}

// TestP8_KeptPromptHasItsTurn whatever the agent shows: it may be its own dialog or limit.
func TestP8_KeptPromptHasItsTurn(t *testing.T) {
	for _, phase := range []talk.Phase{talk.PhaseWorking, talk.PhaseWaitingPermission, talk.PhaseLimited, talk.PhaseLoggedOut} {
		w := newWorld(t)
		w.killAtPrompt(w.phased(port.LoopPhases{}, 1), 1)
		w.engine.record.Phase, w.engine.record.State = string(phase), session.Starting
		w.run()
		assert.Equal(t, port.LoopAsk, w.only().Step, "it comes back")
		w.engine.record.State = session.Running
		w.run()
		assert.Equal(t, []any{port.LoopRunning, port.LoopTurn, 1}, []any{w.only().State, w.only().Step, w.only().Used.Turns}, phase)
		w.engine.turn.Kind = outcome.Answered
		w.run()
		assert.Equal(t, port.LoopDone, w.only().State, phase)
		assert.Len(t, w.engine.kept, 1, phase)
	}
}

// TestP8_TakenBackPromptHasNoTurn: the bound ends the loop, and nothing is interrupted.
func TestP8_TakenBackPromptHasNoTurn(t *testing.T) {
	w := newWorld(t)
	q := w.phased(allPhases, 2)
	q.Bounds = port.LoopBounds{Minutes: 60}
	w.killAtPrompt(q, 3)
	w.engine.turn.Kind = outcome.Withdrawn
	w.now = w.now.Add(2 * time.Hour)
	w.run()
	assert.Equal(t, []any{port.LoopDone, 0}, []any{w.only().State, w.engine.escs}, "only the last prompt was not sent")
}
