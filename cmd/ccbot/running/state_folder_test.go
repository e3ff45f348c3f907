package running

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/hookwire"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
)

// begun starts the parts of a bot on a folder, and returns the log.
func begun(t *testing.T, dir string) (string, error) {
	t.Helper()
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=1",
		"CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(t.TempDir()), "PATH=" + os.Getenv("PATH")}
	c, err := config.Load(environ)
	require.NoError(t, err)
	var log strings.Builder
	s, err := begin(t.Context(), c, "run", "/bin/true", environ, slog.New(slog.NewTextHandler(&log, nil)))
	if err == nil {
		s.end()
	}
	return log.String(), err
}

// TestP9_FolderOfOthersIsRefused before anything in it is read or locked.
func TestP9_FolderOfOthersIsRefused(t *testing.T) {
	for _, mode := range []fs.FileMode{0o770, 0o702, 0o777} {
		dir := stateWith(t, one(1, "api"), one(2, "web"))
		require.NoError(t, os.Chmod(dir, mode))
		before := tree(t, dir)
		table := func() error {
			_, _, err := statefolder.Take(t.Context(), dir, "run", 0, slog.New(slog.DiscardHandler))
			return err
		}
		refused(t, table(), "chmod 700 "+dir)
		_, err := config.LoadForReading([]string{"HOME=" + dir, "CCBOT_DIR=" + dir})
		refused(t, err, "chmod 700 "+dir)
		assert.Equal(t, before, tree(t, dir))
	}
}

// TestP9_ClosedFolderIsUsed whatever the permissions in it are: nobody else reaches them.
func TestP9_ClosedFolderIsUsed(t *testing.T) {
	record := "sessions/" + idOf(1).String() + ".json"
	dir := stateWith(t, one(1, "api"))
	require.NoError(t, os.Chmod(filepath.Join(dir, record), 0o666))
	require.NoError(t, os.Chmod(filepath.Join(dir, "sessions"), 0o777))
	_, err := begun(t, dir)
	require.NoError(t, err)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077)
}

// TestP9_LinkedFolderIsRefused: ccbot moves and removes files in its folders, and a link may lead to a
// person's files. What it removes below them is the link alone.
func TestP9_LinkedFolderIsRefused(t *testing.T) {
	for name, refuses := range map[string]bool{"backups": true, "backups/purged": false, "changes": true, "changes/" + idOf(1).String(): false,
		"events": true, "launch": true, "outbox": true, "sessions": true} {
		t.Run(name, func(t *testing.T) {
			dir := stateWith(t, one(1, "api"))
			theirs := t.TempDir()
			require.NoError(t, os.Chmod(theirs, 0o755))
			require.NoError(t, os.MkdirAll(filepath.Join(theirs, ".hidden", "deep"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(theirs, "note"), nil, 0o600))
			require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
			require.NoError(t, os.Symlink(theirs, filepath.Join(dir, name)))
			before := tree(t, theirs)
			_, err := begun(t, dir)
			if refuses {
				require.ErrorContains(t, err, filepath.Join(dir, name)+" is a link, and ccbot moves and removes what it finds in its own folders: put the folder itself in its place")
				assert.Equal(t, exit.Misuse, exit.Code(err))
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, before, tree(t, theirs))
		})
	}
}

func TestP9_ForeignFolderIsRefused_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	dir := stateWith(t, one(1, "api"))
	require.NoError(t, os.Chown(dir, 4711, 4711))
	_, err := config.LoadForReading([]string{"HOME=" + dir, "CCBOT_DIR=" + dir})
	require.ErrorContains(t, err, dir+" belongs to user 4711, and this ccbot runs as user 0: run ccbot as that user")
	assert.NotContains(t, err.Error(), "chown", "the ccbot of that user would refuse it")
	_, err = config.LoadForReading([]string{"HOME=/root", "CCBOT_DIR=" + filepath.Join(dir, "none")})
	require.ErrorContains(t, err, dir+" belongs to user 4711")
	require.ErrorContains(t, err, ": choose another CCBOT_DIR, or run ccbot as that user")
	assert.NotContains(t, err.Error(), "chown")
}

// TestReadableFolderIsClosed: no other user can have written there.
func TestReadableFolderIsClosed(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "mine"), 0o700))
	for _, name := range []string{".", "sessions", "mine"} {
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o755))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "sessions", idOf(1).String()+".json"), 0o644))
	log, err := begun(t, dir)
	require.NoError(t, err)
	for name, want := range map[string]fs.FileMode{".": 0o700, "sessions": 0o755, "mine": 0o755} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), name)
	}
	assert.Equal(t, 1, strings.Count(log, "level=INFO msg=folder_closed"), log)
	log, err = begun(t, dir)
	require.NoError(t, err)
	assert.NotContains(t, log, "folder_closed")
}

// Files are private under every umask, so that no start refuses a file that another start made.
func TestP9_CreatedFilesArePrivate(t *testing.T) {
	for _, umask := range []int{0o000, 0o002, 0o022, 0o077} {
		t.Run(fmt.Sprintf("%03o", umask), func(t *testing.T) {
			dir := filepath.Join(socketDir(t), "made", "state")
			before := syscall.Umask(umask)
			defer syscall.Umask(before)
			_, err := begun(t, dir)
			require.NoError(t, err)
			store, err := session.Open(filepath.Join(dir, "sessions"), filepath.Join(dir, "quarantine"), time.Now, slog.New(slog.DiscardHandler), nil)
			require.NoError(t, err)
			require.NoError(t, store.Create(one(1, "api")))
			_, err = offline.Backups(dir).Make(t.Context())
			require.NoError(t, err)
			require.NoError(t, hookwire.WriteEvent(dir, hookwire.Event{}))
			ended, end := context.WithCancel(t.Context())
			end()
			require.ErrorIs(t, statefolder.KeepAlive(ended, dir, &noClock{}, slog.New(slog.DiscardHandler)), context.Canceled)
			log, err := begun(t, dir)
			require.NoError(t, err)
			assert.NotContains(t, log, "folder_closed")
			require.NoError(t, filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
				require.NoError(t, err)
				info, err := d.Info()
				require.NoError(t, err)
				assert.Zero(t, info.Mode().Perm()&0o077, "%s: %s", path, info.Mode())
				return nil
			}))
		})
	}
}

type noClock struct{}

func (*noClock) Now() string                        { return "" }
func (*noClock) Since(string) (time.Duration, bool) { return 0, false }
