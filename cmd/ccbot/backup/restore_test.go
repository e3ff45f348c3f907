package backup

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
	"ccbot/internal/session"
	"ccbot/internal/session/sessiontest"
)

// TestP8_NextRestoreFinishesKilledOne: at each step the sessions are all there or none is.
func TestP8_NextRestoreFinishesKilledOne(t *testing.T) {
	path, said := backedUp(t)
	kills := 0
	for n := 1; ; n++ {
		dir := t.TempDir()
		to := Target{Dir: dir, File: filepath.Join(dir, "ccbot.env"), Projects: filepath.Join(dir, "projects"), Host: "h", Now: at}
		left := n
		to.Failpoint = func(string) {
			if left--; left == 0 {
				panic("killed")
			}
		}
		restore := func() (killed bool) {
			defer func() { killed = recover() != nil }()
			restore(t, path, to)
			return false
		}
		if !restore() {
			break
		}
		kills++
		there, _ := os.ReadDir(filepath.Join(dir, "sessions"))
		assert.Contains(t, []int{0, 3}, len(there), "step %d", n)
		if len(there) == 0 {
			to.Failpoint = nil
			require.False(t, restore())
		}
		assert.FileExists(t, filepath.Join(dir, "sessions", sessiontest.ID(1).String()+".json"))
		assert.FileExists(t, filepath.Join(to.Projects, "-x", said+".jsonl"))
		data, err := os.ReadFile(to.File)
		require.NoError(t, err)
		assert.Equal(t, "LOG_LEVEL=debug\n", string(data))
	}
	assert.Equal(t, 11, kills, "six files, the settings, the two ids and two steps with the sessions")
}

// TestP8_FoldersAreSyncedBeforeSessions: after a power cut the sessions are there only with the
// rest, also if an earlier restore was killed before it synced what it wrote.
func TestP8_FoldersAreSyncedBeforeSessions(t *testing.T) {
	path, _ := backedUp(t)
	for _, killed := range []bool{false, true} {
		dir := t.TempDir()
		to := Target{Dir: dir, File: filepath.Join(dir, "ccbot.env"), Projects: filepath.Join(dir, "claude", "projects"), Host: "h", Now: at}
		if killed {
			to.Failpoint = func(point string) {
				if point == "settings" {
					panic("killed")
				}
			}
			assert.Panics(t, func() { restore(t, path, to) })
			to.Failpoint = nil
		}
		var synced []string
		there := false
		end := disk.Fail(func(op, path string) error {
			switch inside, err := filepath.Rel(dir, path); {
			case err != nil || there:
			case op == "sync":
				synced = append(synced, inside)
			case op == "rename" && filepath.Dir(inside) == "backups":
				there = true
			}
			return nil
		})
		restore(t, path, to)
		end()
		assert.True(t, there)
		folders := []string{"chats", "backups", "backups/.2026-03-04T12-00-00.000Z", "claude", "claude/projects", "claude/projects/-x"}
		if assert.Subset(t, synced, folders, "killed before: %v", killed); !killed {
			assert.Contains(t, synced, ".", "the folder above claude")
		}
	}
}

var at = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func restore(t *testing.T, path string, to Target) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	_, err = Restore(t.Context(), file, to)
	require.NoError(t, err)
}

// backedUp returns a backup of three sessions, and the id of a conversation that is in it.
func backedUp(t *testing.T) (path, said string) {
	t.Helper()
	from := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(from, "sessions"), 0o700))
	store, err := session.Open(filepath.Join(from, "sessions"), filepath.Join(from, "quarantine"), time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	for n := range 3 {
		require.NoError(t, store.Create(sessiontest.Over(n+1, "api")))
	}
	said = sessiontest.Over(1, "api").AgentSessionID.String()
	projects := filepath.Join(from, "projects")
	require.NoError(t, os.MkdirAll(filepath.Join(projects, "-x"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(projects, "-x", said+".jsonl"), []byte("{}\n"), 0o600))
	path = filepath.Join(from, "b.tar.gz")
	made, err := Make(t.Context(), path, Source{Dir: from, Settings: map[string]string{"LOG_LEVEL": "debug"}, Transcripts: true, Manifest: Manifest{At: at, Bot: "7", Projects: projects}})
	require.NoError(t, err)
	assert.Equal(t, []int{3, 1}, []int{made.Sessions, made.Transcripts})
	return path, said
}
