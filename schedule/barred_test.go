package schedule

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

var barred = port.Planner{By: 7, Barred: true}

func (w *world) setPlanner(id uuid.UUID, by port.Planner) {
	w.t.Helper()
	require.NoError(w.t, w.SetPlanner(w.t.Context(), uuid.Nil, id, by))
}

// TestP9_BarredScheduleSendsNothing: and what fell due meanwhile is not sent later.
func TestP9_BarredScheduleSendsNothing(t *testing.T) {
	w := newWorld(t)
	s := w.add("day 09:00", func(q *port.ScheduleRequest) { q.By = 7 })
	assert.Equal(t, port.Planner{By: 7}, s.Planner)
	w.setPlanner(s.ID, barred)
	w.restart()
	for range 3 {
		w.pass(24 * time.Hour)
	}
	assert.Empty(t, w.engine.order)
	assert.Empty(t, w.engine.told, "people were told when it was barred")
	assert.Equal(t, port.SkipBarred, w.only().Last.Reason)
	assert.True(t, w.Next(s.Session).IsZero())
	w.now = w.now.Add(24 * time.Hour) // it falls due, and nobody has looked at the clock yet
	w.setPlanner(s.ID, port.Planner{By: 8})
	w.pass(time.Minute)
	assert.Empty(t, w.engine.order)
	w.pass(24 * time.Hour)
	assert.Len(t, w.engine.order, 1)
}

// TestP4_BarredTimeIsReported: of a schedule for one time, which is over with it.
func TestP4_BarredTimeIsReported(t *testing.T) {
	w := newWorld(t)
	s := w.add("09:00")
	w.setPlanner(s.ID, barred)
	w.pass(time.Hour)
	assert.Empty(t, w.engine.order)
	require.Len(t, w.engine.told, 1)
	assert.Equal(t, port.SkipBarred, w.engine.told[0].Reason)
	w.none()
}

// TestP9_BarredSchedulesPromptIsTakenBack, unless the agent has it, at whatever step it was barred.
func TestP9_BarredSchedulesPromptIsTakenBack(t *testing.T) {
	for _, at := range []string{"schedule-begun", "schedule-kept", "schedule-sent"} {
		w := newWorld(t)
		w.engine.turn, w.engine.queues = outcome.Open, true
		s := w.add("day 09:00")
		w.Failpoint = func(name string) {
			if name == at {
				w.setPlanner(s.ID, barred)
			}
		}
		w.pass(time.Hour)
		w.pass(time.Minute)
		assert.Empty(t, w.engine.kept, at)
		assert.Nil(t, w.only().Run, at)
		assert.Equal(t, port.SkipBarred, w.only().Last.Reason, at)
	}
}

// TestP4_BarredRunOfOneTimeIsReported: its prompt is taken back, and the schedule is over with it.
func TestP4_BarredRunOfOneTimeIsReported(t *testing.T) {
	w := newWorld(t)
	w.engine.turn, w.engine.queues = outcome.Open, true
	s := w.add("09:00")
	w.Failpoint = func(name string) {
		if name == "schedule-sent" {
			w.setPlanner(s.ID, barred)
		}
	}
	w.pass(time.Hour)
	w.pass(time.Minute)
	assert.Empty(t, w.engine.kept)
	require.Len(t, w.engine.told, 2, "sent, and taken back")
	assert.Equal(t, port.SkipBarred, w.engine.told[1].Reason)
	w.none()
}
