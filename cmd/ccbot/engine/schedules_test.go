package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP8_ScheduleOfUnreadableRecordStays: only a record that is nowhere is forgotten, also at later
// starts, when a damaged one is in quarantine.
func TestP8_ScheduleOfUnreadableRecordStays(t *testing.T) {
	f := newEngine(t)
	other, torn, nobody := uuid.New(), uuid.New(), uuid.New()
	read := one(1, "api")
	require.NoError(t, f.Store.Create(read))
	for id, text := range map[uuid.UUID]string{other: `{"version":9999}`, torn: `{"version":`} {
		require.NoError(t, os.WriteFile(filepath.Join(f.Dir, "sessions", id.String()+".json"), []byte(text), 0o600))
	}
	e := scheduleEngine{&loopEngine{Engine: f}}
	for range 3 {
		require.NoError(t, f.OpenRecords())
		for _, id := range []uuid.UUID{other, torn} {
			_, known, err := e.Session(id)
			assert.ErrorContains(t, err, "was not read")
			assert.False(t, known)
			assert.True(t, e.turns.Unread(id))
		}
	}
	aside, err := filepath.Glob(filepath.Join(f.Dir, "quarantine", "sessions-"+torn.String()+".json"))
	require.NoError(t, err)
	require.Len(t, aside, 1)
	require.NoError(t, os.Rename(aside[0], aside[0]+".1"), "the same record was damaged twice")
	assert.True(t, e.turns.Unread(torn))
	require.NoError(t, os.Remove(aside[0]+".1"), "a person has decided")
	require.NoError(t, f.OpenRecords())
	assert.False(t, e.turns.Unread(torn))
	_, known, err := e.Session(nobody)
	assert.NoError(t, err)
	assert.False(t, known)
	_, known, err = e.Session(read.ID)
	assert.NoError(t, err)
	assert.True(t, known)
}
