package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session/disktest"
)

func TestStateErrorSaysWhatToMend(t *testing.T) {
	at := func(path string, err error) error {
		return fmt.Errorf("x: %w", &fs.PathError{Op: "write", Path: path, Err: err})
	}
	tests := []struct {
		name string
		err  error
		want string // part of it; empty: as it was
	}{
		{"full", at("/state/sessions/.tmp", syscall.ENOSPC), "there is no room left"},
		{"the person's share is full", at("/state/x", syscall.EDQUOT), "there is no room left"},
		{"read-only", at("/state", syscall.EROFS), "it is read-only"},
		{"not allowed", at("/state/x", syscall.EACCES), "this user has no permission"},
		{"another folder is full", at("/tmp/x", syscall.ENOSPC), ""},
		{"whose name begins so", at("/state2/x", syscall.ENOSPC), ""},
		{"missing", at("/state/x", syscall.ENOENT), ""},
		{"of no file", errors.New("x"), ""},
		{"none", nil, ""},
	}
	once := stateError("/state", stateError("/state", at("/state/"+probe, syscall.ENOSPC)))
	assert.EqualError(t, stateError("/state", fmt.Errorf("CCBOT_DIR: %w", once)), "CCBOT_DIR: ccbot's folder /state cannot be used: there is no room left; "+
		"make some and start again (it takes 256 KiB to start); what was saved in it stays: no space left on device", "it is said once")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := stateError("/state", tt.err)
			if tt.want == "" {
				assert.Equal(t, tt.err, err)
				return
			}
			assert.NotContains(t, err.Error(), "as it was", "it may have run for hours")
			require.ErrorContains(t, err, "ccbot's folder /state cannot be used: "+tt.want)
			assert.ErrorIs(t, err, tt.err)
			assert.Equal(t, exitFailure, exitCode(err))
		})
	}
}

// used is a state folder on a disk of its own, as a ccbot left it.
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

// refuses starts a bot, and a command that changes something, in a folder that
// cannot be written. The reading verbs go on.
func refuses(t *testing.T, dir string, environ []string, why string) {
	t.Helper()
	records := tree(t, filepath.Join(dir, "sessions"))
	c, err := loadConfig(environ)
	require.NoError(t, err)
	for _, role := range []string{"run", "cli"} {
		s, err := begin(t.Context(), c, role, "/bin/true", environ, slog.New(slog.DiscardHandler))
		require.Nil(t, s)
		require.ErrorContains(t, err, "ccbot's folder "+dir+" cannot be used: "+why)
		assert.Equal(t, exitFailure, exitCode(err))
		assert.Equal(t, records, tree(t, filepath.Join(dir, "sessions")))
	}
	code, out, errs := ccbot(environ, "list", "--all")
	assert.Equal(t, exitOK, code, errs)
	assert.Contains(t, out, "web")
	assert.NoFileExists(t, filepath.Join(dir, probe))
}

// TestP8_AFullDiskLosesNothing: a start that could keep nothing is none.
func TestP8_AFullDiskLosesNothing(t *testing.T) {
	disktest.Run(t, 1<<20, func(disk string) {
		dir, environ := used(t, disk)
		free := disktest.Fill(t, disk)
		refuses(t, dir, environ, "there is no room left")
		free()
		require.NoError(t, checkState(dir), "with room again it starts")
		assert.NoFileExists(t, filepath.Join(dir, probe))
	})
}

// TestP8_AReadOnlyFolderLosesNothing as well.
func TestP8_AReadOnlyFolderLosesNothing(t *testing.T) {
	disktest.Run(t, 1<<20, func(disk string) {
		dir, environ := used(t, disk)
		disktest.ReadOnly(t, disk)
		refuses(t, dir, environ, "it is read-only")
	})
}
