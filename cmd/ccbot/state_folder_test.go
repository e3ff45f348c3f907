package main

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
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
)

// refused wants all that ccbot says to be one sentence with the command that mends it.
func refused(t *testing.T, err error, mend string) {
	t.Helper()
	require.ErrorContains(t, err, "`"+mend+"`")
	assert.NotContains(t, err.Error(), "\n")
	assert.Equal(t, exit.Misuse, exit.Code(err), err.Error())
}

// TestP9_TheWayToTheFolderIsLookedAt: who may write a folder above, or the one a
// link lies in, puts another folder in its place.
func TestP9_TheWayToTheFolderIsLookedAt(t *testing.T) {
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
	sharedMend := "chmod o-w " + filepath.Join(real, "shared")
	for path, mend := range map[string]string{
		state: "", home + "/link": "", home + "/none/at/all": "", inSticky: "", inGroup: "",
		inShared: sharedMend, real + "/shared/link": sharedMend, real + "/shared/none": sharedMend,
		home + "/into/state": sharedMend, home + "/into/link": sharedMend,
		open: "chmod go-w " + open,
	} {
		t.Run(path, func(t *testing.T) {
			_, err := config.LoadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + path})
			if mend == "" {
				require.NoError(t, err)
				return
			}
			refused(t, err, mend)
		})
	}
	_, err = config.LoadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + home + "/loop"})
	require.ErrorContains(t, err, "too many levels of symbolic links")
	assert.Equal(t, exit.Misuse, exit.Code(err))
	require.NoError(t, os.WriteFile(filepath.Join(mkdir(0o700, "home", ".ccbot"), statefolder.SettingsFile), []byte("CCBOT_DIR="+inShared+"\n"), 0o600))
	_, err = config.LoadForReading([]string{"HOME=" + home})
	refused(t, err, sharedMend)
	_, _, err = hookFolders([]string{"HOME=" + home})
	refused(t, err, sharedMend)
}

// TestP9_WhatIsReadIsWhatWasLookedAt: a link before a ".." leads the kernel elsewhere than the words do.
func TestP9_WhatIsReadIsWhatWasLookedAt(t *testing.T) {
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
		refused(t, err, "chmod go-w "+open)
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

// TestP9_AReadableConfigurationIsRefused, by everything that reads it.
func TestP9_AReadableConfigurationIsRefused(t *testing.T) {
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
	for _, args := range [][]string{{"list"}, {"why", "api"}, {"recover", "--dry-run"}, {"recover", "--restore", "list"}, {"recover"},
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
	var log strings.Builder
	warn(c, slog.New(slog.NewTextHandler(&log, nil)))
	assert.Contains(t, log.String(), "configuration_readable_by_others")
	assert.Equal(t, before, tree(t, dir), "it is meant, so it stays")
}

// begun starts the parts of a bot on a folder, and gives the log.
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

// TestP9_WhatLiesInTheFolderIsLookedAt before anything of it is read or locked.
func TestP9_WhatLiesInTheFolderIsLookedAt(t *testing.T) {
	record := "sessions/" + idOf(1).String() + ".json"
	tests := []struct {
		name  string
		spoil func(t *testing.T, dir string)
		mend  string // DIR stands for the folder
	}{
		{"a record", spoilt(0o660, record), "chmod go-w DIR/" + record},
		{"several of it", spoilt(0o666, record, "sessions/"+idOf(2).String()+".json"), "chmod -R go-w DIR"},
		{"the folder of the records", spoilt(0o770, "sessions"), "chmod go-w DIR/sessions"},
		{"the lock", func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "ccbot.lock"), nil, 0o600))
			spoilt(0o602, "ccbot.lock")(t, dir)
		}, "chmod go-w DIR/" + "ccbot.lock"},
		{"a folder elsewhere", func(t *testing.T, dir string) {
			elsewhere := filepath.Join(dir, "disk")
			require.NoError(t, os.MkdirAll(filepath.Join(elsewhere, "backups"), 0o700))
			require.NoError(t, os.Symlink(filepath.Join(elsewhere, "backups"), filepath.Join(dir, "backups")))
			spoilt(0o777, "disk/backups")(t, dir)
		}, "chmod go-w DIR/disk/backups"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := stateWith(t, one(1, "api"), one(2, "web"))
			tt.spoil(t, dir)
			before := tree(t, dir)
			mend := strings.ReplaceAll(tt.mend, "DIR", dir)
			_, err := begun(t, dir)
			refused(t, err, mend)
			assert.Equal(t, before, tree(t, dir))
			c, err := config.LoadForReading([]string{"HOME=" + dir, "CCBOT_DIR=" + dir})
			require.NoError(t, err)
			_, err = lockRecords(t.Context(), c, nil, &strings.Builder{})
			refused(t, err, mend)
			assert.Equal(t, before, tree(t, dir))
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

func TestP9_AnotherUsersFilesAreRefused_AsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give files away")
	}
	for name, mend := range map[string]string{
		".": "sudo chown -R 0 DIR", "sessions": "sudo chown -R 0 DIR/sessions", "sessions/" + idOf(1).String() + ".json": "sudo chown -R 0 DIR/sessions/" + idOf(1).String() + ".json",
	} {
		t.Run(name, func(t *testing.T) {
			dir := stateWith(t, one(1, "api"))
			require.NoError(t, os.Chown(filepath.Join(dir, name), 4711, 4711))
			mend := strings.ReplaceAll(mend, "DIR", dir)
			if name != "." {
				_, err := begun(t, dir)
				refused(t, err, mend)
				return
			}
			_, err := config.LoadForReading([]string{"HOME=" + dir, "CCBOT_DIR=" + dir})
			refused(t, err, mend)
			_, err = config.LoadForReading([]string{"HOME=/root", "CCBOT_DIR=" + filepath.Join(dir, "none")})
			require.ErrorContains(t, err, dir+" belongs to user 4711")
			require.ErrorContains(t, err, ": choose another CCBOT_DIR, or run ccbot as that user")
			assert.NotContains(t, err.Error(), "chown")
		})
	}
}

// TestAFolderThatOthersMayReadIsClosed: nobody else can have written there.
func TestAFolderThatOthersMayReadIsClosed(t *testing.T) {
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

// TestP9_WhatCcbotMakesIsItsUsersOnly whatever the umask is, so that no start refuses what another one made.
func TestP9_WhatCcbotMakesIsItsUsersOnly(t *testing.T) {
	for _, umask := range []int{0o000, 0o002, 0o022, 0o077} {
		t.Run(fmt.Sprintf("%03o", umask), func(t *testing.T) {
			dir := filepath.Join(socketDir(t), "made", "state")
			before := syscall.Umask(umask)
			defer syscall.Umask(before)
			_, err := begun(t, dir)
			require.NoError(t, err)
			store, err := session.Open(filepath.Join(dir, "sessions"), filepath.Join(dir, "quarantine"), time.Now, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			require.NoError(t, store.Create(one(1, "api")))
			_, err = backupsIn(dir).Make(t.Context())
			require.NoError(t, err)
			require.NoError(t, hookwire.WriteEvent(dir, hookwire.Event{}))
			ended, end := context.WithCancel(t.Context())
			end()
			require.ErrorIs(t, statefolder.KeepAlive(ended, dir, slog.New(slog.DiscardHandler)), context.Canceled)
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

// TestWhatIsNotCcbotsIsLeftAlone_AsRoot: a folder may be a volume of its own, and a note in it somebody else's.
func TestWhatIsNotCcbotsIsLeftAlone_AsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give files away")
	}
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

// TestWhatLiesInTheFolderIsKnown: what a start makes is looked at by the next.
func TestWhatLiesInTheFolderIsKnown(t *testing.T) {
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
