package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/host"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// TestIgnoredFilesKeepWorktreeOfLoop: nobody is asked about its removal.
func TestIgnoredFilesKeepWorktreeOfLoop(t *testing.T) {
	programtest.Require(t, "git")
	f := newEngine(t)
	f.Places = &host.Machine{GitEnv: []string{"PATH=" + os.Getenv("PATH")}, Records: f.Store, Unread: f.Store.UnreadIn, Folders: new(session.Gate)}
	repo := filepath.Join(t.TempDir(), "api")
	for _, args := range [][]string{{"init", "-q", repo}, {"-C", repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "a"}} {
		require.NoError(t, exec.Command("git", args...).Run())
	}
	require.NoError(t, os.WriteFile(filepath.Join(repo, ".git", "info", "exclude"), []byte(".env\nnode_modules\n"), 0o600))
	top, err := f.Places.Add(t.Context(), repo, "key")
	require.NoError(t, err)
	require.NoError(t, f.Places.Done(t.Context(), "", "key"))
	e := &loopEngine{Engine: f}
	require.NoError(t, os.MkdirAll(filepath.Join(top, "node_modules"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(top, "node_modules", "a"), nil, 0o600))
	secrets := filepath.Join(top, ".env")
	require.NoError(t, os.WriteFile(secrets, nil, 0o600))
	err = e.RemoveWorktree(t.Context(), top)
	require.True(t, refusal.Is(err, refusal.HasWork), "%v", err)
	assert.Equal(t, string(folders.Ignored), refusal.In(err).Reason)
	assert.FileExists(t, secrets)
	require.NoError(t, os.Remove(secrets))
	require.NoError(t, e.RemoveWorktree(t.Context(), top))
	assert.NoDirExists(t, top)
}
