package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/tmux/tmuxtest"
)

func TestChangedUsageIsSavedAtIdle(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		require.Nil(t, w.get(r.ID).Usage)
		step := func() session.Record {
			w.Wake(r.ID)
			w.pass(time.Second)
			return w.get(r.ID)
		}
		a.set(works)
		w.status.notify(r, 12, 0.5)
		assert.Nil(t, step().Usage, "not in a turn")
		assert.InDelta(t, 12, w.Observer.Inspector(w.ctx)(r).Usage.Context, 0, "but a look shows it")

		a.set(func(a *agent) { a.status = presence.Idle })
		kept := step()
		require.NotNil(t, kept.Usage)
		assert.Equal(t, port.Usage{Model: "Opus", Context: 12, Cost: 0.5, At: kept.Usage.At}, *kept.Usage)

		w.status.notify(r, 12, 0.5) // the same once more
		assert.Equal(t, kept.UpdatedAt, step().UpdatedAt)
		w.status.notify(r, 13, 0.5)
		assert.InDelta(t, 13, step().Usage.Context, 0)
	})
}

// The status line comes a little after the end of a turn, and nothing wakes the session then.
func TestLateTurnUsageIsSaved(t *testing.T) {
	turns := map[string]func(w *world, r session.Record, a *agent){
		"seen": func(w *world, r session.Record, a *agent) {
			a.set(works)
			w.WakeAgent(r.Binding.Agent.PID)
			w.pass(10 * time.Second)
			a.set(func(a *agent) { a.status = presence.Idle })
		},
		"too short to be seen": func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.status, a.since = presence.Idle, time.Now() })
		},
	}
	for name, turn := range turns {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.pass(time.Minute)
				turn(w, r, a)
				w.WakeAgent(r.Binding.Agent.PID)
				w.pass(300 * time.Millisecond)
				require.Nil(t, w.get(r.ID).Usage)
				w.status.notify(r, 12, 0.5)
				w.pass(time.Second)
				require.NotNil(t, w.get(r.ID).Usage)
				assert.InDelta(t, 0.5, w.get(r.ID).Usage.Cost, 0)

				w.pass(time.Minute)
				w.status.notify(r, 13, 0.6)
				w.pass(time.Hour)
				assert.InDelta(t, 0.5, w.get(r.ID).Usage.Cost, 0, "these are a few more looks, no polling")
			})
		})
	}
}

func TestUsageIsKeptAtTheEnd(t *testing.T) {
	ends := map[string]func(t *testing.T, w *world, r session.Record, a *agent){
		"archived": func(t *testing.T, w *world, r session.Record, _ *agent) {
			require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		},
		"ended by itself": func(_ *testing.T, w *world, _ session.Record, a *agent) { w.tmux.die(a, tmuxtest.Exit{}) },
		"lost": func(_ *testing.T, w *world, _ session.Record, a *agent) {
			w.processes.Exit(a.id.PID)
			w.tmux.ClosePaneByHand(a.pane)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.pass(time.Minute)
				w.status.notify(r, 12, 0.5)
				end(t, w, r, a)
				w.pass(10 * time.Second)
				now := w.get(r.ID)
				require.False(t, now.State.Live(), now.State)
				require.NotNil(t, now.Usage)
				assert.InDelta(t, 0.5, now.Usage.Cost, 0)
			})
		})
	}
}

func TestUsageIsOfTheBoundAgent(t *testing.T) {
	tests := []struct {
		name string
		tell func(s *statuses)
	}{
		{"nothing told", func(s *statuses) { s.last = nil }},
		{"another pid", func(s *statuses) { s.last.AgentPID++ }},
		{"a recycled pid", func(s *statuses) { s.last.AgentStart++ }},
		{"another boot", func(s *statuses) { s.last.Boot = "another" }},
		{"unreadable", func(s *statuses) { s.err = errors.New("not JSON") }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				w.status.notify(r, 12, 0.5)
				w.status.set(tc.tell)
				w.Wake(r.ID)
				w.pass(time.Second)
				assert.Nil(t, w.get(r.ID).Usage)
				assert.Nil(t, w.Observer.Inspector(w.ctx)(w.get(r.ID)).Usage)
			})
		})
	}
}

// A restore of the session shows what was known before, until more is.
func TestUsageOfBeforeStays(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.status.notify(r, 12, 0.5)
		w.Wake(r.ID)
		w.pass(time.Second)
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		_, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		assert.InDelta(t, 12, w.Observer.Inspector(w.ctx)(w.get(r.ID)).Usage.Context, 0)
	})
}
