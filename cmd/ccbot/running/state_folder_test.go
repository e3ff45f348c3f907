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

// The entries are checked before anything in the folder is read or locked.
func TestP9_FolderEntriesAreChecked(t *testing.T) {
	record := "sessions/" + idOf(1).String() + ".json"
	tests := []struct {
		name    string
		corrupt func(t *testing.T, dir string)
		fix     string // DIR stands for the folder
	}{
		{"a record", spoilt(0o660, record), "chmod go-w DIR/" + record},
		{"several of it", spoilt(0o666, record, "sessions/"+idOf(2).String()+".json"), "chmod -R go-w DIR"},
		{"the folder of the records", spoilt(0o770, "sessions"), "chmod go-w DIR/sessions"},
		{"the lock", func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "ccbot.lock"), nil, 0o600))
			spoilt(0o602, "ccbot.lock")(t, dir)
		}, "chmod go-w DIR/" + "ccbot.lock"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := stateWith(t, one(1, "api"), one(2, "web"))
			tt.corrupt(t, dir)
			before := tree(t, dir)
			fix := strings.ReplaceAll(tt.fix, "DIR", dir)
			_, err := begun(t, dir)
			refused(t, err, fix)
			assert.Equal(t, before, tree(t, dir))
			c, err := config.LoadForReading([]string{"HOME=" + dir, "CCBOT_DIR=" + dir})
			require.NoError(t, err)
			_, err = Lock(t.Context(), c, nil, &strings.Builder{})
			refused(t, err, fix)
			assert.Equal(t, before, tree(t, dir))
		})
	}
}

// TestP9_LinkedFolderIsRefused: ccbot closes, moves and removes files in its folders, and a link
// may lead to a person's files.
func TestP9_LinkedFolderIsRefused(t *testing.T) {
	for _, name := range []string{"backups", "backups/purged", "changes", "changes/" + idOf(1).String(), "events", "launch", "outbox", "sessions"} {
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
			require.ErrorContains(t, err, filepath.Join(dir, name)+" is a link, and ccbot moves and removes what it finds in its own folders: put the folder itself in its place")
			assert.Equal(t, exit.Misuse, exit.Code(err))
			assert.Equal(t, before, tree(t, theirs))
		})
	}
}

func spoilt(mode fs.FileMode, names ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		for _, name := range names {
			require.NoError(t, os.Chmod(filepath.Join(dir, name), mode))
		}
	}
}

func TestP9_ForeignFilesAreRefused_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	for name, fix := range map[string]string{
		".": "sudo chown -R 0 DIR", "sessions": "sudo chown -R 0 DIR/sessions", "sessions/" + idOf(1).String() + ".json": "sudo chown -R 0 DIR/sessions/" + idOf(1).String() + ".json",
	} {
		t.Run(name, func(t *testing.T) {
			dir := stateWith(t, one(1, "api"))
			require.NoError(t, os.Chown(filepath.Join(dir, name), 4711, 4711))
			fix := strings.ReplaceAll(fix, "DIR", dir)
			if name != "." {
				_, err := begun(t, dir)
				refused(t, err, fix)
				return
			}
			_, err := config.LoadForReading([]string{"HOME=" + dir, "CCBOT_DIR=" + dir})
			refused(t, err, fix)
			_, err = config.LoadForReading([]string{"HOME=/root", "CCBOT_DIR=" + filepath.Join(dir, "none")})
			require.ErrorContains(t, err, dir+" belongs to user 4711")
			require.ErrorContains(t, err, ": choose another CCBOT_DIR, or run ccbot as that user")
			assert.NotContains(t, err.Error(), "chown")
		})
	}
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
	for name, want := range map[string]fs.FileMode{".": 0o700, "sessions": 0o700, "mine": 0o755} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), name)
	}
	assert.Equal(t, 2, strings.Count(log, "level=INFO msg=folder_closed"), log)
	assert.Contains(t, log, filepath.Join(dir, "sessions"))
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

// TestUnknownFilesAreLeftAlone_AsRoot: a folder may be a separate volume, and a note in it
// another user's.
func TestUnknownFilesAreLeftAlone_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	dir := stateWith(t, one(1, "api"))
	for _, name := range []string{"lost+found", "sessions/lost+found"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o777))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "state.tar.gz"), nil, 0o600))
	require.NoError(t, os.Chmod(filepath.Join(dir, "state.tar.gz"), 0o666))
	require.NoError(t, os.Chown(filepath.Join(dir, "lost+found"), 4711, 4711))
	require.NoError(t, os.Chown(filepath.Join(dir, "state.tar.gz"), 4711, 4711))
	_, err := begun(t, dir)
	require.NoError(t, err)
}

// TestFolderEntriesAreKnown: the next start checks everything that a start makes.
func TestFolderEntriesAreKnown(t *testing.T) {
	dir := stateWith(t, one(1, "api", func(r *session.Record) { r.State = session.Running }))
	_, err := begun(t, dir)
	require.NoError(t, err)
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, e := range all {
		info, err := e.Info()
		require.NoError(t, err)
		require.NoError(t, os.Chmod(filepath.Join(dir, e.Name()), info.Mode().Perm()|0o020))
		_, err = begun(t, dir)
		refused(t, err, "chmod go-w "+filepath.Join(dir, e.Name()))
		require.NoError(t, os.Chmod(filepath.Join(dir, e.Name()), info.Mode().Perm()))
	}
}

type noClock struct{}

func (*noClock) Now() string                        { return "" }
func (*noClock) Since(string) (time.Duration, bool) { return 0, false }
