package loop

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port"
)

// TestEndedLoopIsPurged: it goes PurgeAfter after its end, and its copy a week later.
func TestEndedLoopIsPurged(t *testing.T) {
	w := newWorld(t)
	var ages []time.Duration
	w.begin("true", port.LoopBounds{Turns: 1})
	w.Ended = func(state port.LoopState, age time.Duration) {
		ages = append(ages, age)
		assert.Equal(t, port.LoopDone, state)
	}
	w.run()
	w.Purged = func(_ port.LoopState, age time.Duration) { ages = append(ages, age) }
	id := w.only().ID
	copied := filepath.Join(w.Copies.Path, id.String()+copySuffix)
	w.now = w.now.Add(w.PurgeAfter - 1)
	w.Purge(t.Context())
	assert.Len(t, w.All(), 1)
	w.now = w.now.Add(1)
	w.Purge(t.Context())
	assert.Empty(t, w.All())
	assert.FileExists(t, copied)
	assert.Equal(t, []time.Duration{0, w.PurgeAfter}, ages)
	w.restart()
	assert.Empty(t, w.All())
	w.Purge(t.Context())
	assert.FileExists(t, copied)
	w.now = time.Now().Add(copiesFor) // of the file
	w.Purge(t.Context())
	assert.NoFileExists(t, copied)
}

// TestLiveLoopIsNotPurged: neither is one of which the chat does not know.
func TestLiveLoopIsNotPurged(t *testing.T) {
	w := newWorld(t)
	l := w.begin("true", port.LoopBounds{Turns: 1})
	w.now = w.now.Add(2 * w.PurgeAfter)
	w.Purge(t.Context())
	assert.Len(t, w.All(), 1)
	_, err := w.Stop(t.Context(), l.ID)
	require.NoError(t, err)
	w.now = w.now.Add(2 * w.PurgeAfter)
	w.Purge(t.Context())
	assert.Len(t, w.All(), 1, "the chat was not told")
	w.PurgeAfter = 0
	w.run()
	w.Purge(t.Context())
	assert.Len(t, w.All(), 1)
}

// TestP9_ForgottenSessionHasNoLoops: a loop has the task and what a check has written.
func TestP9_ForgottenSessionHasNoLoops(t *testing.T) {
	w := newWorld(t)
	old := w.begin("true", port.LoopBounds{Turns: 1})
	w.run()
	w.now = w.now.Add(w.PurgeAfter)
	w.Purge(t.Context())
	w.begin("true", port.LoopBounds{Turns: 1})
	w.run()
	require.NoError(t, w.Forget(uuid.New()))
	assert.Len(t, w.All(), 1)
	assert.FileExists(t, filepath.Join(w.Copies.Path, old.ID.String()+copySuffix))
	require.NoError(t, w.Forget(w.engine.record.ID))
	assert.Empty(t, w.All())
	assert.NoFileExists(t, filepath.Join(w.Copies.Path, old.ID.String()+copySuffix))
}

// TestP9_ForgottenLiveLoopIsRemoved: the session was ended, and its loop is only paused.
func TestP9_ForgottenLiveLoopIsRemoved(t *testing.T) {
	w := newWorld(t)
	l := w.begin("true", port.LoopBounds{Turns: 3})
	_, err := w.Pause(t.Context(), l.ID, port.WhyPerson, "")
	require.NoError(t, err)
	w.engine.record = session.Record{}
	h := w.all()[0]
	require.NoError(t, w.Forget(l.Session))
	require.NoError(t, w.advance(t.Context(), h), "a step may be under way")
	assert.Empty(t, w.All())
	assert.NoFileExists(t, filepath.Join(w.dir, l.ID.String()+suffix))
}

// TestP9_ForgottenLoopWithCheck: the file has only the processes until they are gone.
func TestP9_ForgottenLoopWithCheck(t *testing.T) {
	for _, crash := range []bool{false, true} {
		w := newWorld(t)
		l := w.begin("exec sleep 1000", port.LoopBounds{Turns: 3})
		h := w.all()[0]
		if crash { // the check stays until the next start
			w.Spared = func(process.Process) error { return errors.New("spared") }
		}
		done := make(chan error, 1)
		go func() { done <- w.advance(t.Context(), h) }()
		waittest.Until(t, func() bool { return len(w.only().Processes) > 1 })
		noted := w.only().Processes
		w.engine.record = session.Record{}
		require.NoError(t, w.Forget(l.Session))
		require.NoError(t, <-done)
		if crash {
			left := w.only()
			assert.Equal(t, []any{"", "", port.LoopOrphaned}, []any{left.Task, left.Check, left.State})
			w.restart()
		}
		for _, id := range noted {
			assert.Equal(t, process.Gone, w.Processes.Liveness(id))
		}
		assert.NoFileExists(t, filepath.Join(w.dir, l.ID.String()+suffix))
	}
}

// TestLoopHasBaseline: the commit at its start, and after each turn.
func TestLoopHasBaseline(t *testing.T) {
	w := newWorld(t)
	w.begin("exit 1", port.LoopBounds{Turns: 2})
	w.run()
	assert.Equal(t, []string{"commit 0", "commit 2"}, []string{w.only().Commit, w.only().Last.Commit})
}
