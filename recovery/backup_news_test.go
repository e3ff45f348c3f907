package recovery_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

// The chat drops news with a number that it has seen. A restored record is older than the last
// number, and so may the clock be.
func TestP8_NewsAfterRestoreAreNoRepeat(t *testing.T) {
	s, id := newShelf(t.TempDir()), uuid.New()
	open := func() *session.Store {
		store, err := session.Open(s.Sessions, filepath.Join(s.base, "quarantine"), time.Now, slog.New(slog.DiscardHandler), nil)
		require.NoError(t, err)
		return store
	}
	add := func(at time.Time) (number int64) {
		require.NoError(t, open().Do(t.Context(), id, func(r *session.Record, save func() error) error {
			require.NoError(t, r.AddNews("Ready", "{}", at))
			number = r.LastNews
			return save()
		}))
		return number
	}
	require.NoError(t, open().Create(session.Record{ID: id, AgentSessionID: uuid.New(), Name: "api", Dir: "/src/api", State: session.Running, CreatedAt: backupNoon}))
	add(backupNoon)
	name, err := s.Make(t.Context())
	require.NoError(t, err)
	seen := add(backupNoon.Add(time.Hour))
	for range 2 { // as after a kill
		_, err = s.Restore(t.Context(), name)
		require.NoError(t, err)
		back, _ := open().Get(id)
		assert.Empty(t, back.News, "of the backup")
		s.setTime(s.Now().Add(time.Minute))
	}
	assert.Equal(t, seen+1, add(backupNoon), "the clock was set back")
}
