package hooks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
)

func TestP4_UnheardFindsPendingEvent(t *testing.T) {
	dir, launch := t.TempDir(), uuid.New()
	unheard := func(of uuid.UUID) bool {
		found, err := HasPendingEvents(dir, of)
		require.NoError(t, err)
		return found
	}
	assert.False(t, unheard(launch), "no folder")
	folder := filepath.Join(dir, hookwire.EventsFolder)
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "0-torn.json"), []byte("{"), 0o600))
	assert.False(t, unheard(launch))
	event := `{"version":1,"name":"UserPromptSubmit","received":"2026-05-04T10:00:00Z","launch":"` + launch.String() + `","session_id":"` + uuid.NewString() + `"}`
	require.NoError(t, os.WriteFile(filepath.Join(folder, "1-event.json"), []byte(event), 0o600))
	assert.True(t, unheard(launch))
	assert.False(t, unheard(uuid.New()), "another launch's")
}
