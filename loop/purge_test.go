package loop

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// TestLoopHasBaseline: the commit at its start, and after each turn.
func TestLoopHasBaseline(t *testing.T) {
	w := newWorld(t)
	w.begin("exit 1", port.LoopBounds{Turns: 2})
	w.run()
	assert.Equal(t, []string{"commit 0", "commit 2"}, []string{w.only().Commit, w.only().Last.Commit})
}
