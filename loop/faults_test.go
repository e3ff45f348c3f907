package loop

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/internal/disk/disktest"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

// turnsOfLoops starts a loop, sends its prompt, and pauses it.
func turnsOfLoops() *disktest.Turns {
	var w *world
	q := port.LoopRequest{Key: uuid.New(), Task: "fix it", Check: "true", Bounds: port.LoopBounds{Turns: 3}}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			w = newWorld(t)
			w.engine.turn = outcome.Outcome{}
			q.Session = w.engine.record.ID
			return w.dir
		},
		Turn: disktest.InOrder(
			func() error { _, err := w.Start(w.t.Context(), q); return err },
			func() error { return w.advance(w.t.Context(), w.all()[0]) },
			func() error { _, err := w.Pause(w.t.Context(), q.Key, port.WhyPerson, ""); return err }),
		Done: func(t *testing.T) {
			assert.Equal(t, []any{port.LoopPaused, port.WhyPerson, port.LoopTurn}, []any{w.only().State, w.only().Reason, w.only().Phase})
			assert.Equal(t, []string{"fix it"}, w.engine.kept)
		},
	}
}

func TestP8_LoopsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfLoops() })
}
