package backup

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/toy"
	"ccbot/internal/disk"
	"ccbot/internal/session"
	"ccbot/internal/session/sessiontest"
	"ccbot/port/talk"
)

// TestP8_NextRestoreFinishesKilledOne: at each step the sessions are all there or none is.
func TestP8_NextRestoreFinishesKilledOne(t *testing.T) {
	path, said := backedUp(t)
	kills := 0
	for n := 1; ; n++ {
		dir := t.TempDir()
		to := target(dir, filepath.Join(dir, "projects"))
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
		to := target(dir, filepath.Join(dir, "claude", "projects"))
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

// agentsIn are Claude Code, with its conversations in a folder, and the toy next to it.
func agentsIn(projects string) agent.Agents {
	return agent.Agents{agent.Default: claude.New(projects, agent.Launch{}, nil), "toy": toy.New(filepath.Dir(projects), agent.Launch{})}
}

// target is a ccbot in a folder.
func target(dir, projects string) Target {
	return Target{Dir: dir, File: filepath.Join(dir, "ccbot.env"), Projects: projects, Agents: agentsIn(projects), Host: "h", Now: at}
}

// TestBackupOfTwoAgents: each session comes back with the conversation of its agent, and reads it
// where that agent has it on the other machine.
func TestBackupOfTwoAgents(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	projects := filepath.Join(from, "agents", "projects")
	its, toys := sessiontest.Over(1, "api"), sessiontest.Over(2, "web")
	toys.AgentName = "toy"
	files := map[string]string{"projects/-x/" + its.AgentSessionID.String() + ".jsonl": "{}\n", "toys/" + toy.Name(toys.AgentSessionID): "toy\n"}
	for name, content := range files {
		file := filepath.Join(from, "agents", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	of := func(dir string) (itsFile, toysFile string) {
		all := agentsIn(filepath.Join(dir, "agents", "projects"))
		itsFile, err := all[agent.Default].Transcripts.Find(its.AgentSessionID)
		require.NoError(t, err)
		toysFile, err = all["toy"].Transcripts.Find(toys.AgentSessionID)
		require.NoError(t, err)
		return itsFile, toysFile
	}
	itsFile, toysFile := of(from)
	its.Cursors, toys.Cursors = []talk.Cursor{{Path: itsFile, Offset: 3}}, []talk.Cursor{{Path: toysFile, Offset: 4}}
	store, err := session.Open(filepath.Join(from, "sessions"), filepath.Join(from, "quarantine"), time.Now, slog.New(slog.DiscardHandler), []string{"toy"})
	require.NoError(t, err)
	require.NoError(t, store.Create(its))
	require.NoError(t, store.Create(toys))
	file := filepath.Join(from, "b.tar.gz")
	source := Source{Dir: from, Agents: agentsIn(projects), Transcripts: true, Manifest: Manifest{At: at, Projects: projects}}
	made, err := Make(t.Context(), file, source)
	require.NoError(t, err)
	assert.Equal(t, Made{Sessions: 2, Transcripts: 2}, made)

	restore(t, file, target(to, filepath.Join(to, "agents", "projects")))
	for name, content := range files {
		data, err := os.ReadFile(filepath.Join(to, "agents", name))
		require.NoError(t, err)
		assert.Equal(t, content, string(data))
	}
	itsFile, toysFile = of(to)
	back, err := session.Open(filepath.Join(to, "sessions"), filepath.Join(to, "quarantine"), time.Now, slog.New(slog.DiscardHandler), []string{"toy"})
	require.NoError(t, err)
	for id, want := range map[uuid.UUID]string{its.ID: itsFile, toys.ID: toysFile} {
		r, ok := back.Get(id)
		require.True(t, ok)
		assert.Equal(t, want, r.Cursors[0].Path)
	}

	alone := target(t.TempDir(), "")
	delete(alone.Agents, "toy")
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	_, err = Restore(t.Context(), f, alone)
	require.ErrorIs(t, err, ErrForeign, "a ccbot without that agent")
	assert.ErrorContains(t, err, `this ccbot knows no agent "toy"`)
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
	made, err := Make(t.Context(), path, Source{Dir: from, Agents: agentsIn(projects), Settings: map[string]string{"LOG_LEVEL": "debug"}, Transcripts: true, Manifest: Manifest{At: at, Bot: "7", Projects: projects}})
	require.NoError(t, err)
	assert.Equal(t, []int{3, 1}, []int{made.Sessions, made.Transcripts})
	return path, said
}
