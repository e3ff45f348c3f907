package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/internal/session/disktest"
)

// TestStartReadsEachRecordOnce starts with a running session and some archived ones: later reads
// come from memory.
func TestStartReadsEachRecordOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.stop()
	store := w.store()
	running := store.List()[0]
	want := map[string]int{running.ID.String() + ".json": 1}
	for range 20 {
		r := running.Clone()
		r.ID, r.AgentSessionID, r.State, r.Binding = uuid.New(), uuid.New(), session.Archived, nil
		r.Name, r.Cursors = "old "+r.ID.String(), nil
		require.NoError(t, store.Create(r))
		want[r.ID.String()+".json"] = 1
	}
	opened := disktest.Opens(t, filepath.Join(w.state, "sessions"))
	w.start()
	w.hear(w.say("say hello"), "hello")
	got := opened()
	maps.DeleteFunc(got, func(name string, _ int) bool { return strings.HasPrefix(name, ".") }) // writes under way
	assert.Equal(t, want, got)
	_, err := os.Stat(filepath.Join(w.state, "backups"))
	assert.ErrorIs(t, err, os.ErrNotExist, "nothing has changed, so nothing is copied")
	w.stop()
}
