package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
)

// A user who may write a parent folder, or the folder of a link, could replace the folder.
func TestP9_PathToFolderIsChecked(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	mkdir := func(mode fs.FileMode, names ...string) string {
		path := filepath.Join(append([]string{real}, names...)...)
		require.NoError(t, os.Mkdir(path, 0o700))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	home := mkdir(0o755, "home")
	state := mkdir(0o700, "home", "state")
	mkdir(0o777, "shared")
	mkdir(0o775|fs.ModeSetgid, "group")
	inGroup := mkdir(0o700, "group", "state")
	inShared := mkdir(0o700, "shared", "state")
	mkdir(0o777|fs.ModeSticky, "sticky")
	inSticky := mkdir(0o700, "sticky", "state")
	open := mkdir(0o777, "open")
	require.NoError(t, os.Symlink("../home/state", filepath.Join(home, "link")))
	require.NoError(t, os.Symlink("../home/../home/link", filepath.Join(real, "shared", "link")))
	require.NoError(t, os.Symlink(real+"/shared", filepath.Join(home, "into")))
	require.NoError(t, os.Symlink("loop", filepath.Join(home, "loop")))
	sharedFix := "chmod o-w " + filepath.Join(real, "shared")
	for path, fix := range map[string]string{
		state: "", home + "/link": "", home + "/none/at/all": "", inSticky: "", inGroup: "",
		inShared: sharedFix, real + "/shared/link": sharedFix, real + "/shared/none": sharedFix,
		home + "/into/state": sharedFix, home + "/into/link": sharedFix,
		open: "chmod 700 " + open,
	} {
		t.Run(path, func(t *testing.T) {
			_, err := config.LoadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + path})
			if fix == "" {
				require.NoError(t, err)
				return
			}
			refused(t, err, fix)
		})
	}
	_, err = config.LoadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + home + "/loop"})
	require.ErrorContains(t, err, "too many levels of symbolic links")
	assert.Equal(t, exit.Misuse, exit.Code(err))
	require.NoError(t, os.WriteFile(filepath.Join(mkdir(0o700, "home", ".ccbot"), statefolder.SettingsFile), []byte("CCBOT_DIR="+inShared+"\n"), 0o600))
	_, err = config.LoadForReading([]string{"HOME=" + home})
	refused(t, err, sharedFix)
}

// TestP9_CheckedFileIsRead: a link before a ".." leads the kernel elsewhere than the
// words do.
func TestP9_CheckedFileIsRead(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	state := func(mode fs.FileMode, lang string, names ...string) string {
		path := filepath.Join(append([]string{real}, names...)...)
		require.NoError(t, os.MkdirAll(path, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(path, statefolder.SettingsFile), []byte("CCBOT_LANG="+lang+"\n"), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	open := state(0o777, "zh", "home", "open")
	state(0o700, "ru", "elsewhere", "open")
	state(0o700, "ru", "home", "closed")
	state(0o777, "zh", "elsewhere", "closed")
	state(0o700, "zh", "elsewhere", "none")
	require.NoError(t, os.Mkdir(filepath.Join(real, "elsewhere", "deep"), 0o700))
	home := filepath.Join(real, "home")
	require.NoError(t, os.Symlink("../elsewhere/deep", filepath.Join(home, "link")))
	for _, prefix := range []string{home, "~"} {
		_, err = config.LoadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + prefix + "/link/../open"})
		refused(t, err, "chmod 700 "+open)
		c, err := config.LoadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + prefix + "/link/../closed"})
		require.NoError(t, err)
		assert.Equal(t, []string{home + "/closed", "ru"}, []string{c.Dir, c.Lang})
		c, err = config.LoadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + prefix + "/link/../none"})
		require.NoError(t, err)
		assert.Equal(t, []string{home + "/none", "en"}, []string{c.Dir, c.Lang})
	}

	secret := filepath.Join(real, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("CCBOT_LANG=zh\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(home, "linked"), 0o700))
	require.NoError(t, os.Symlink("../../secret", filepath.Join(home, "linked", statefolder.SettingsFile)))
	env, err := statefolder.RefuseOthers(filepath.Join(home, "linked"), false)
	require.NoError(t, err)
	assert.Equal(t, secret, env, "the file itself, so that no link is followed twice")
	c, err := config.LoadForReading([]string{"HOME=" + home, "CCBOT_DIR=~/linked"})
	require.NoError(t, err)
	assert.Equal(t, "zh", c.Lang)
	for _, dir := range []string{filepath.Join(home, "none"), filepath.Join(real, "elsewhere", "deep")} {
		env, err = statefolder.RefuseOthers(dir, false)
		require.NoError(t, err)
		assert.Empty(t, env, "what was not there is not read")
	}
}

// TestP9_ReadableConfigurationIsRefused, by everything that reads it.
func TestP9_ReadableConfigurationIsRefused(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	file := filepath.Join(dir, statefolder.SettingsFile)
	require.NoError(t, os.WriteFile(file, []byte("CCBOT_ALLOW_READABLE_ENV=1\nTELEGRAM_BOT_TOKEN="+goodToken+"\nALLOWED_USERS=1\n"), 0o600))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "PATH=" + os.Getenv("PATH"), "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir)}
	c, err := config.Load(environ)
	require.NoError(t, err)
	assert.False(t, bool(c.ReadableEnv), "what the file says of itself counts for nothing")
	require.NoError(t, os.Chmod(file, 0o640))
	_, err = config.Load(environ)
	refused(t, err, "chmod 600 "+file)
	before := tree(t, dir)
	for _, args := range [][]string{{"list"}, {"why", "api"}, {"recover", "--dry-run"}, {"recover", "--restore", "2026"}, {"recover", "--restore-purged", "api"}, {"recover"},
		{"resume", "api"}, {"hooks", "status"}, {"hooks", "install"}, {"hooks", "uninstall"}} {
		code, out, errs := ccbot(environ, args...)
		assert.Equal(t, []any{exit.Misuse, ""}, []any{code, out}, args)
		assert.Contains(t, errs, "`chmod 600 "+file+"`", args)
		assert.Contains(t, errs, "CCBOT_ALLOW_READABLE_ENV", args)
		assert.NotContains(t, errs, tokenSecret)
	}
	assert.Equal(t, before, tree(t, dir))

	c, err = config.Load(append(environ, "CCBOT_ALLOW_READABLE_ENV=1"))
	require.NoError(t, err)
	assert.EqualValues(t, []int64{1}, c.AllowedUsers)
	assert.Equal(t, before, tree(t, dir), "it is meant, so it stays")
}
