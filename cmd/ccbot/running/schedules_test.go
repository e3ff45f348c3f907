package running

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP8_ScheduleOfUnreadableRecordStays: only a record that is nowhere is forgotten.
func TestP8_ScheduleOfUnreadableRecordStays(t *testing.T) {
	f := newForgetful(t)
	newer, torn, nobody := uuid.New(), uuid.New(), uuid.New()
	read := one(1, "api")
	require.NoError(t, f.store.Create(read))
	for id, text := range map[uuid.UUID]string{newer: `{"version":9999}`, torn: `{"version":`} {
		require.NoError(t, os.WriteFile(filepath.Join(f.Dir, "sessions", id.String()+".json"), []byte(text), 0o600))
	}
	require.NoError(t, f.openStores())
	e := scheduleEngine{&loopEngine{system: f.system}}
	for _, id := range []uuid.UUID{newer, torn} {
		_, known, err := e.Session(id)
		assert.ErrorContains(t, err, "was not read")
		assert.False(t, known)
	}
	_, known, err := e.Session(nobody)
	assert.NoError(t, err)
	assert.False(t, known)
	_, known, err = e.Session(read.ID)
	assert.NoError(t, err)
	assert.True(t, known)
}
