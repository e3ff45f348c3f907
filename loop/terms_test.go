package loop

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

// beginWith starts a loop with a check that succeeds, and other terms.
func (w *world) beginWith(check string, terms port.LoopTerms) {
	w.t.Helper()
	_, err := w.Start(w.t.Context(), port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Task: "fix it", Check: check, Bounds: port.LoopBounds{Turns: 3}, LoopTerms: terms})
	require.NoError(w.t, err)
}

// TestStopWordIsNeeded in addition to the check, never instead of it, and alone in a line.
func TestStopWordIsNeeded(t *testing.T) {
	for answer, want := range map[string]port.LoopState{"": port.LoopExhausted, "It is DONE.": port.LoopExhausted, "All is fixed.\n\n  DONE  \nBye.": port.LoopDone} {
		w := newWorld(t)
		w.engine.turn = outcome.Outcome{Kind: outcome.Answered, Text: answer}
		w.beginWith("true", port.LoopTerms{StopWord: "DONE"})
		w.run()
		assert.Equal(t, want, w.only().State, answer)
		assert.Contains(t, w.engine.kept[0], "a line with nothing but: DONE")
		if want != port.LoopDone {
			assert.Contains(t, w.engine.kept[1], `succeeds, but no line of your answer has only "DONE"`)
		}
	}
	w := newWorld(t)
	w.engine.turn.Text = "DONE"
	w.beginWith("exit 1", port.LoopTerms{StopWord: "DONE"})
	w.run()
	assert.Equal(t, port.LoopExhausted, w.only().State, "the check decides")
	_, err := w.Start(t.Context(), port.LoopRequest{Task: "x", Check: "x", Bounds: port.LoopBounds{Turns: 1}, LoopTerms: port.LoopTerms{StopWord: "a\nb"}})
	require.ErrorIs(t, err, ErrNoWord)
}

// TestToDoListIsNeeded: an empty one is not completed.
func TestToDoListIsNeeded(t *testing.T) {
	for name, tt := range map[string]struct {
		tasks []port.Task
		want  port.LoopState
	}{
		"none":           {nil, port.LoopExhausted},
		"an open one":    {[]port.Task{{Status: "completed"}, {Status: "pending"}}, port.LoopExhausted},
		"completed ones": {[]port.Task{{Status: "completed"}, {Status: "completed"}}, port.LoopDone},
	} {
		w := newWorld(t)
		w.engine.record.Progress.Tasks = tt.tasks
		w.beginWith("true", port.LoopTerms{ToDo: true})
		w.run()
		assert.Equal(t, tt.want, w.only().State, name)
	}
}

// TestUnmetTermsWithoutProgressPause as a check that fails does.
func TestUnmetTermsWithoutProgressPause(t *testing.T) {
	w := newWorld(t)
	w.engine.tree = "the same"
	_, err := w.Start(t.Context(), port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Task: "fix it", Check: "true", Bounds: port.LoopBounds{Turns: 30},
		LoopTerms: port.LoopTerms{StopWord: "DONE"}})
	require.NoError(t, err)
	w.run()
	assert.Equal(t, []any{port.LoopPaused, port.WhyNoProgress, 4}, []any{w.only().State, w.only().Reason, w.only().Used.Turns})
}
