package schedule

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/internal/disk/disktest"
	"ccbot/port"
)

// turnsOfSchedules makes a schedule, carries out a run, and removes the schedule.
func turnsOfSchedules() *disktest.Turns {
	var w *world
	q := port.ScheduleRequest{Key: uuid.New(), When: "day 09:00", Text: "do it"}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			w = newWorld(t)
			q.Session = w.engine.record.ID
			return w.dir
		},
		Turn: disktest.InOrder(
			func() error { _, err := w.Add(context.Background(), q); return err },
			func() (err error) {
				w.now = monday.Add(time.Hour)
				for again := true; again && err == nil; {
					again, err = w.step(w.t.Context(), q.Key)
				}
				return err
			},
			func() error { _, err := w.Remove(context.Background(), uuid.Nil, q.Key); return err }),
		Done: func(t *testing.T) {
			w.none()
			assert.Len(t, w.engine.order, 1)
			assert.NotEmpty(t, w.engine.told)
		},
	}
}

func TestP8_SchedulesOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfSchedules() })
}
