package loop

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			assert.Equal(t, []any{port.LoopPaused, port.WhyPerson, port.LoopTurn}, []any{w.only().State, w.only().Reason, w.only().Step})
			assert.Equal(t, []string{"fix it"}, w.engine.kept)
		},
	}
}

func TestP8_LoopsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfLoops() })
}

// purgesOfLoops purges a loop, removes the copy of an older one, and forgets a session.
func purgesOfLoops() *disktest.Turns {
	var w *world
	unless := func(done bool) error {
		if done {
			return nil
		}
		return errors.New("it is still there")
	}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			w = newWorld(t)
			w.begin("true", port.LoopBounds{Turns: 3})
			w.run()
			require.NoError(t, put(w.Copies, Loop{Loop: port.Loop{ID: uuid.New(), Session: w.engine.record.ID}}, copySuffix))
			w.now = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) // the times of files are real
			return filepath.Dir(w.dir)
		},
		Turn: disktest.InOrder(
			func() error {
				w.Purge(w.t.Context())
				return unless(len(w.All()) == 0)
			},
			func() error { return w.Forget(w.engine.record.ID) }),
		Done: func(t *testing.T) { assert.Empty(t, w.All()) },
	}
}

func TestP8_PurgedLoopsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return purgesOfLoops() })
}
