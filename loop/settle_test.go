package loop

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

// halts are the ways in which a person halts a loop.
var halts = map[string]func(w *world, l Loop) error{
	"pause": func(w *world, l Loop) error { _, err := w.Pause(w.t.Context(), l.ID, port.WhyPerson, ""); return err },
	"stop":  func(w *world, l Loop) error { _, err := w.Stop(w.t.Context(), l.ID); return err },
}

// asking is a loop with a prompt that is held.
func asking(t *testing.T) (*world, Loop) {
	t.Helper()
	w := newWorld(t)
	w.engine.turn.Kind, w.engine.unfinished = outcome.Open, true
	l := w.begin("true", port.LoopBounds{Turns: 3})
	w.run()
	require.Equal(t, port.LoopTurn, w.only().Step)
	return w, l
}

// TestP4_PromptOfHaltedLoopIsWithdrawnAfterCrash: the crash came after the pause or the stop was on
// disk. The start takes the prompt back before any prompt is typed.
func TestP4_PromptOfHaltedLoopIsWithdrawnAfterCrash(t *testing.T) {
	for name, halt := range halts {
		t.Run(name, func(t *testing.T) {
			w, l := asking(t)
			w.engine.onWithdraw = func() { panic(killed{}) }
			assert.Panics(t, func() { _ = halt(w, l) })
			w.engine.onWithdraw, w.engine.withdrew = nil, 0
			w.restart()
			assert.Positive(t, w.engine.withdrew)
		})
	}
}

// TestP4_FailedWithdrawalIsRepeated before the chat is told.
func TestP4_FailedWithdrawalIsRepeated(t *testing.T) {
	for name, halt := range halts {
		t.Run(name, func(t *testing.T) {
			w, l := asking(t)
			w.told = nil
			w.engine.withdrawError = errors.New("the disk is full")
			require.NoError(t, halt(w, l))
			require.Error(t, w.advance(t.Context(), w.all()[0]))
			assert.Empty(t, w.told)
			w.engine.withdrawError, w.engine.withdrew = nil, 0
			w.run()
			assert.Equal(t, []int{1, 1}, []int{w.engine.withdrew, len(w.told)})
		})
	}
}

// TestP4_PauseInMemoryWithdrawsPrompt: the disk does not take the pause.
func TestP4_PauseInMemoryWithdrawsPrompt(t *testing.T) {
	w, l := asking(t)
	require.NoError(t, os.RemoveAll(w.dir))
	require.NoError(t, os.WriteFile(w.dir, nil, 0o600)) // a file where the folder should be
	w.Yield(t.Context(), l.Session, "a prompt")
	assert.Equal(t, 1, w.engine.withdrew)
}
