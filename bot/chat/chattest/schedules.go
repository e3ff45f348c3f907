package chattest

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/schedule"
)

// schedules are the schedules of a world: they are made and removed, and nothing carries them out.
type schedules struct {
	schedule.Engine
	world *World
}

// Session implements schedule.Engine.
func (s schedules) Session(id uuid.UUID) (session.Record, bool, error) {
	r, known := s.world.Records.Get(id)
	return r, known, nil
}

// Abilities implements schedule.Engine.
func (s schedules) Abilities(r session.Record) port.Abilities {
	shown, _ := s.world.Machine.Records.Get(r.ID)
	return shown.Can
}

// openSchedules opens the schedules of the folder.
func (w *World) openSchedules(t *testing.T) *schedule.Keeper {
	t.Helper()
	k := &schedule.Keeper{Engine: schedules{world: w}, Now: func() time.Time { return w.Chat.Now() }, Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, k.Open(filepath.Join(w.Dir, "schedules"), filepath.Join(w.Dir, "quarantine")))
	return k
}

// ScheduleList returns all schedules.
func (w *World) ScheduleList(t *testing.T) []port.Schedule {
	t.Helper()
	all, err := w.Schedules.List(t.Context())
	require.NoError(t, err)
	return all
}

// ReadSchedules reads the schedules from their files again.
func (w *World) ReadSchedules(t *testing.T) {
	t.Helper()
	k := w.machine.Schedules.(*schedule.Keeper) //nolint:forcetypeassert // as openSchedules makes it
	require.NoError(t, k.Open(filepath.Join(w.Dir, "schedules"), filepath.Join(w.Dir, "quarantine")))
}
