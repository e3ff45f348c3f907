package recovery

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port/talk"
	"ccbot/tmux/tmuxtest"
)

// The report counts what there is after the recovery, and the log line says the
// same.
func TestMetrics_ReportAndLogLine(t *testing.T) {
	m := newMachine(t)
	aged := func(age time.Duration) session.Record {
		return m.start(func(r *session.Record) {
			r.State, r.Binding.BoundAt = session.Running, time.Time{}
			r.CreatedAt, r.StartedAt, r.ReadyAt = noon.Add(-age), noon.Add(-age), noon.Add(-age)
		})
	}
	for _, age := range []time.Duration{59 * time.Minute, 2 * time.Hour, 6 * day, 29 * day, 31 * day, 400 * day} {
		aged(age)
	}
	path := filepath.Join(m.base, "transcript.jsonl") // the sign of life is not in the record
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Chtimes(path, noon, noon))
	m.change(aged(400*day).ID, func(r *session.Record) { r.Cursors = []talk.Cursor{{Path: path}} })
	m.lose(m.start(running))
	m.tmux.AddWindow(tmuxtest.Session, "notes")
	m.restart()
	started := m.now
	m.Backup = func(ctx context.Context) (string, error) { m.now = started.Add(time.Second); return m.backUp(ctx) }
	report, err := m.Run(t.Context())
	require.NoError(t, err)

	assert.Equal(t, noon, report.At)
	assert.Equal(t, time.Second, report.Took)
	assert.Equal(t, 8, report.Records)
	assert.Equal(t, map[session.State]int{session.Running: 7, session.Lost: 1}, report.States)
	assert.Equal(t, []AgeBucket{{time.Hour, 2}, {day, 1}, {7 * day, 1}, {30 * day, 1}, {0, 2}}, report.Ages)
	require.Len(t, report.Results, 8)
	assert.Len(t, report.Notices, 2)

	lines := m.lines("recovery_done")
	require.Len(t, lines, 1)
	delete(lines[0], "time")
	assert.Equal(t, map[string]any{"level": "INFO", "msg": "recovery_done", "duration": 1e9, "records": 8.0,
		"states":  map[string]any{"running": 7.0, "lost": 1.0},
		"ages":    map[string]any{"up_to_1h": 2.0, "up_to_24h": 1.0, "up_to_7d": 1.0, "up_to_30d": 1.0, "older": 2.0},
		"actions": 8.0, "succeeded": 8.0, "failed": 0.0, "notices": 2.0, "backup": "2026-03-04T12-00-00.000Z"}, lines[0])
}

func TestNoticesAreLogged(t *testing.T) {
	m := newMachine(t)
	failed := m.start(running)
	m.change(failed.ID, func(r *session.Record) {
		r.State, r.Binding, r.Cleanup = session.CleanupFailed, nil, &session.CleanupError{Reason: "process 7 survived", NotBefore: noon.Add(time.Hour)}
	})
	m.restart()
	m.Store = aside{m.store, []session.Unloaded{{File: "a.json", ID: uuid.New(), Why: "version 9"}, {File: "b.json", Why: "torn"}}}
	_, err := m.Run(t.Context())
	require.NoError(t, err)
	left := m.lines("session_record_left")
	require.Len(t, left, 2)
	assert.Equal(t, []any{"WARN", "a.json", "unreadable", "version 9"}, []any{left[0]["level"], left[0]["file"], left[0]["kind"], left[0]["why"]})
	assert.Equal(t, []any{"WARN", "b.json", "unreadable", "torn"}, []any{left[1]["level"], left[1]["file"], left[1]["kind"], left[1]["why"]})
	pending := m.lines("cleanup_pending")
	require.Len(t, pending, 1)
	assert.Equal(t, "process 7 survived; tried again after 2026-03-04T13:00:00Z", pending[0]["why"])
	assert.NotContains(t, m.reported, "ending.Receipt")
}
