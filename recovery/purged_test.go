package recovery_test

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/recovery"
)

// left puts the record of a session that is over there, with a field of a later program.
func (s *shelf) left(t *testing.T, n int) (id uuid.UUID, file string) {
	t.Helper()
	id = recordID(n)
	s.put(t, files{id.String() + ".json": `{"version":2,"id":"` + id.String() + `","name":"api","dir":"/src","host":"box","state":"archived",` +
		`"agent_session_id":"` + uuid.NewString() + `","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z",` +
		`"ended_at":"2026-01-02T03:04:05Z","later":"kept",` +
		`"history":[{"at":"2026-01-02T03:04:05Z","from":"stopping","to":"archived","why":"it ended"}]}`})
	return id, filepath.Join(s.Sessions, id.String()+".json")
}

// TestP9_CopiesHaveNoPrompt neither in a backup nor in what is kept of a record that is too old.
// The record keeps it.
func TestP9_CopiesHaveNoPrompt(t *testing.T) {
	s := newShelf(t.TempDir())
	id := recordID(1)
	s.put(t, files{id.String() + ".json": `{"name":"a prompt","named_by":"prompt","dir":"/src/api","exit":{"screen":"> a prompt"}}`})
	made := s.mustMake(t)
	require.NoError(t, s.Keep(id))
	for _, copied := range []string{filepath.Join(s.Dir, "purged", id.String()+".json"), filepath.Join(s.Sessions, id.String()+".json")} {
		data, err := os.ReadFile(copied)
		require.NoError(t, err)
		assert.Equal(t, filepath.Dir(copied) == s.Sessions, strings.Contains(string(data), "a prompt"), copied)
	}
	_, err := s.Restore(t.Context(), made)
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(s.Sessions, id.String()+".json"))
	require.NoError(t, err)
	assert.NotContains(t, string(data), "a prompt")
}

// The session is restored with every field, and its retention time starts again.
func TestP8_PurgedSessionIsRestored(t *testing.T) {
	s := newShelf(t.TempDir())
	id, file := s.left(t, 1)
	require.NoError(t, s.Keep(id))
	require.NoError(t, s.Keep(id), "a crash before the record goes repeats it")
	require.NoError(t, os.Remove(file))
	s.mustMake(t)
	all, err := s.Purged(nil)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, "api", all[0].Record.Name)

	require.NoError(t, s.BringBack(all[0]))
	store, err := session.OpenReadOnly(s.Sessions, s.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	r, err := store.Whole(id)
	require.NoError(t, err)
	assert.Equal(t, backupNoon, r.ReturnedAt)
	require.Len(t, r.History, 2)
	last := r.History[1]
	assert.Equal(t, []any{session.BroughtBack, backupNoon, session.Archived}, []any{last.Rule, last.At, r.State})
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"later": "kept"`)
	require.ErrorIs(t, s.BringBack(all[0]), recovery.ErrPresent, "it is not made older again")
	all, err = s.Purged(nil)
	require.NoError(t, err)
	assert.Empty(t, all)
}

// A record that names its agent is restored if that agent is known.
func TestPurgedSessionOfOtherAgent(t *testing.T) {
	s := newShelf(t.TempDir())
	id, file := s.left(t, 1)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), "{", `{"agent_name": "other",`, 1)), 0o600))
	require.NoError(t, s.Keep(id))
	for _, tt := range []struct {
		agents []string
		want   int
	}{{[]string{"other"}, 1}, {nil, 0}} {
		all, err := s.Purged(tt.agents)
		require.NoError(t, err)
		assert.Len(t, all, tt.want)
	}
}

// The files from before an upgrade have the words of all sessions: they leave after a week, and at
// once when a session is forgotten.
func TestUpgradeCopiesStayForAWeek(t *testing.T) {
	dir := t.TempDir()
	s := newShelf(dir)
	forgotten, _ := s.left(t, 1)
	copied := recovery.UpgradeCopy(dir, 2)
	cutShort := filepath.Join(filepath.Dir(copied), "."+filepath.Base(copied))
	for _, forget := range []bool{false, true} {
		for _, path := range []string{copied, cutShort} {
			require.NoError(t, os.MkdirAll(filepath.Join(path, "sessions"), 0o700))
			require.NoError(t, os.Chtimes(path, backupNoon, backupNoon))
		}
		s.setTime(backupNoon.Add(recovery.PurgedFor - 1))
		require.NoError(t, s.Expire())
		assert.DirExists(t, copied)
		if forget {
			require.NoError(t, s.Erase(t.Context(), forgotten))
		} else {
			s.setTime(backupNoon.Add(recovery.PurgedFor))
			require.NoError(t, s.Expire())
		}
		assert.NoDirExists(t, copied)
		assert.NoDirExists(t, cutShort)
	}
}

// Purged sessions are kept for a week, in addition to the ten backups.
func TestPurgedSessionsStayInBackupWeek(t *testing.T) {
	s := newShelf(t.TempDir())
	first, _ := s.left(t, 1)
	second, _ := s.left(t, 2)
	for _, id := range []uuid.UUID{first, second} {
		require.NoError(t, s.Keep(id))
	}
	kept := filepath.Join(s.Dir, "purged", first.String()+".json")
	require.NoError(t, os.Chtimes(kept, backupNoon, backupNoon))
	young := filepath.Join(s.Dir, "purged", second.String()+".json")
	require.NoError(t, os.Chtimes(young, backupNoon.Add(time.Hour), backupNoon.Add(time.Hour)))
	for range 12 {
		s.setTime(s.Now().Add(time.Minute))
		s.mustMake(t)
	}
	assert.Len(t, s.names(t), 10)
	for _, at := range []time.Duration{-time.Hour, 0, recovery.PurgedFor - 1} {
		s.setTime(backupNoon.Add(at))
		require.NoError(t, s.Expire())
		assert.FileExists(t, kept)
	}
	s.setTime(backupNoon.Add(recovery.PurgedFor))
	require.NoError(t, s.Expire())
	assert.NoFileExists(t, kept)
	assert.FileExists(t, young)
	all, err := s.Purged(nil)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, second, all[0].Record.ID)
	assert.True(t, backupNoon.Add(time.Hour).Equal(all[0].Left))
}

// An erased session is removed from every backup; the other sessions stay.
func TestErasedSessionsLeaveBackups(t *testing.T) {
	s := newShelf(t.TempDir())
	require.NoError(t, s.Erase(t.Context(), recordID(1)), "there is no backup yet")
	gone, _ := s.left(t, 1)
	stays, _ := s.left(t, 2)
	for range 3 {
		s.setTime(s.Now().Add(time.Minute))
		s.mustMake(t)
	}
	for _, id := range []uuid.UUID{gone, stays} {
		require.NoError(t, s.Keep(id))
	}
	half := filepath.Join(s.Dir, ".2026-03-04T12-00-00.000Z.tar.gz4711")
	require.NoError(t, os.WriteFile(half, []byte(gone.String()), 0o600), "what a crash has left of a backup")
	for range 2 {
		require.NoError(t, s.Erase(t.Context(), gone))
		for _, name := range s.names(t) {
			assert.Equal(t, []string{stays.String() + ".json"}, slices.Collect(maps.Keys(s.backup(t, name))))
		}
		assert.Equal(t, []string{stays.String() + ".json"}, slices.Collect(maps.Keys(in(t, filepath.Join(s.Dir, "purged")))))
		assert.Len(t, s.entries(t), 4, "the three backups and the folder of what has left, and no half a backup")
	}
	assert.FileExists(t, filepath.Join(s.Sessions, gone.String()+".json"), "the record itself is not of the copies")
}
