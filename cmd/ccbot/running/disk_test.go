package running

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/control"
	"ccbot/internal/session/disktest"
)

// used is a state folder on a separate disk, as a ccbot left it.
func used(t *testing.T, disk string) (dir string, environ []string) {
	t.Helper()
	dir = filepath.Join(disk, "state")
	require.NoError(t, os.CopyFS(dir, os.DirFS(stateWith(t, one(1, "api"), one(2, "web")))))
	for _, folder := range []string{dir, filepath.Join(dir, "sessions")} {
		require.NoError(t, os.Chmod(folder, 0o700))
	}
	return dir, []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=1",
		"CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(t.TempDir()), "PATH=" + os.Getenv("PATH")}
}

// refuses starts a bot, and a command that changes something, in a folder that cannot be written.
// The reading verbs continue to work.
func refuses(t *testing.T, dir string, environ []string, why string) {
	t.Helper()
	records := tree(t, filepath.Join(dir, "sessions"))
	c, err := config.Load(environ)
	require.NoError(t, err)
	for _, role := range []string{"run", "cli"} {
		s, err := begin(t.Context(), c, role, "/bin/true", environ, slog.New(slog.DiscardHandler))
		require.Nil(t, s)
		require.ErrorContains(t, err, "ccbot's folder "+dir+" cannot be used: "+why)
		assert.Equal(t, exit.Failure, exit.Code(err))
		assert.Equal(t, records, tree(t, filepath.Join(dir, "sessions")))
	}
	d, err := offline.Open(environ, io.Discard)
	require.NoError(t, err)
	assert.Len(t, d.Store.List(), 2)
	assert.NoFileExists(t, filepath.Join(dir, ".probe"))
}

// TestP8_FullDiskLosesNothing: a start that cannot write fails.
func TestP8_FullDiskLosesNothing(t *testing.T) {
	disktest.Run(t, 1<<20, func(disk string) {
		dir, environ := used(t, disk)
		free := disktest.Fill(t, disk)
		refuses(t, dir, environ, "there is no room left")
		free()
		_, held, err := statefolder.Take(t.Context(), dir, "run", time.Second, slog.New(slog.DiscardHandler))
		require.NoError(t, err, "with room again it starts")
		require.NoError(t, held.Close())
		assert.NoFileExists(t, filepath.Join(dir, ".probe"))
	})
}

// TestP8_FullDiskIsReportedOnSocket: a verb reports the same error with a running bot as without
// one.
func TestP8_FullDiskIsReportedOnSocket(t *testing.T) {
	disktest.Run(t, 1<<20, func(disk string) {
		dir, environ := used(t, disk)
		c, err := config.Load(environ)
		require.NoError(t, err)
		defer disktest.Fill(t, disk)()
		verb := Change[struct{}, struct{}]{do: func(context.Context, *system, struct{}) (did struct{}, err error) {
			return did, os.WriteFile(filepath.Join(dir, "kept"), make([]byte, 64<<10), 0o600)
		}}
		_, err = verb.by(&system{Engine: &engine.Engine{Settings: engine.Settings{Config: c}}})(t.Context(), []byte("{}"))
		refusal := (*control.Refusal)(nil)
		require.ErrorAs(t, err, &refusal)
		assert.Contains(t, refusal.Text, "ccbot's folder "+dir+" cannot be used: there is no room left; make some and try again")
	})
}

// A read-only folder loses nothing either.
func TestP8_ReadOnlyFolderLosesNothing(t *testing.T) {
	disktest.Run(t, 1<<20, func(disk string) {
		dir, environ := used(t, disk)
		disktest.ReadOnly(t, disk)
		refuses(t, dir, environ, "it is read-only")
	})
}
