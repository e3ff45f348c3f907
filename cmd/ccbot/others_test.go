package main

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/session"
)

// TestP9_WhatOthersCouldHaveWrittenIsNotUsed is the whole rule.
func TestP9_WhatOthersCouldHaveWrittenIsNotUsed(t *testing.T) {
	const me, other, nobody = 1000, 1001, 65534
	const elsewhere, asThem, meant = "choose another CCBOT_DIR", "or run ccbot as that user", "if that is meant, set CCBOT_ALLOW_READABLE_ENV=1 in the environment"
	dir, sticky, link, socket := fs.ModeDir, fs.ModeDir|fs.ModeSticky, fs.ModeSymlink, fs.ModeSocket
	tests := []struct {
		name    string
		what    place
		uid     int
		mode    fs.FileMode
		mayRead bool
		root    int // who owns /
		me      int
		command string // with instead empty: it is used
		instead string
	}{
		{"a folder of mine", placeFolder, me, dir | 0o700, false, 0, me, "", ""},
		{"a folder that others may read", placeFolder, me, dir | 0o755, false, 0, me, "", ""},
		{"a folder that the group may write", placeFolder, me, dir | 0o770, false, 0, me, "chmod go-w", ""},
		{"a folder that others may write", placeFolder, me, dir | 0o702, false, 0, me, "chmod go-w", ""},
		{"a folder of everybody's, sticky", placeFolder, me, sticky | 0o777, false, 0, me, "chmod go-w", ""},
		{"a folder of another user's", placeFolder, other, dir | 0o700, false, 0, me, "sudo chown -R 1000", ""},
		{"a folder of root's", placeFolder, 0, dir | 0o700, false, 0, me, "sudo chown -R 1000", ""},
		{"a folder of a user's, for root", placeFolder, me, dir | 0o700, false, 0, 0, "sudo chown -R 0", asThem},
		{"both", placeFolder, other, dir | 0o777, false, 0, me, "sudo chown -R 1000", ""},

		{"a folder above of mine", placeAbove, me, dir | 0o755, false, 0, me, "", ""},
		{"a folder above of root's", placeAbove, 0, dir | 0o755, false, 0, me, "", ""},
		{"a folder above of root's, in a user namespace", placeAbove, nobody, dir | 0o755, false, nobody, me, "", ""},
		{"a folder above of nobody's", placeAbove, nobody, dir | 0o755, false, 0, me, "", elsewhere},
		{"a folder above of nobody's, for root", placeAbove, nobody, dir | 0o755, false, 0, 0, "", elsewhere},
		{"/tmp", placeAbove, 0, sticky | 0o777, false, 0, me, "", ""},
		{"a /tmp of another user's", placeAbove, other, sticky | 0o777, false, 0, me, "", elsewhere},
		{"a folder above of another user's", placeAbove, other, dir | 0o755, false, 0, me, "", elsewhere},
		{"a folder above of a user's, for root", placeAbove, other, dir | 0o755, false, 0, 0, "", elsewhere + ", " + asThem},
		{"a folder above that the group may write", placeAbove, me, dir | 0o775, false, 0, me, "", ""},
		{"a folder above of root's that the group may write", placeAbove, 0, dir | fs.ModeSetgid | 0o775, false, 0, me, "", ""},
		{"a folder above of another user's that the group may write", placeAbove, other, dir | 0o775, false, 0, me, "", elsewhere},
		{"a folder above that others may write", placeAbove, me, dir | 0o777, false, 0, me, "chmod o-w", ""},
		{"a folder above of root's that others may write", placeAbove, 0, dir | 0o757, false, 0, me, "sudo chmod o-w", "or " + elsewhere},
		{"a link of mine on the way", placeAbove, me, link | 0o777, false, 0, me, "", ""},
		{"a link of root's on the way", placeAbove, 0, link | 0o777, false, 0, me, "", ""},
		{"a link of another user's on the way", placeAbove, other, link | 0o777, false, 0, me, "", elsewhere},

		{"a file of mine", placePart, me, 0o600, false, 0, me, "", ""},
		{"a file that others may read", placePart, me, 0o644, false, 0, me, "", ""},
		{"a file that the group may write", placePart, me, 0o660, false, 0, me, "chmod go-w", ""},
		{"a file of root's", placePart, 0, 0o600, false, 0, me, "sudo chown -R 1000", ""},
		{"a link of mine in it", placePart, me, link | 0o777, false, 0, me, "", ""},
		{"a link of another user's in it", placePart, other, link | 0o777, false, 0, me, "sudo chown -R 1000", ""},
		{"a socket of a start that was killed", placePart, me, socket | 0o775, false, 0, me, "", ""},
		{"a socket of another user's", placePart, other, socket | 0o600, false, 0, me, "sudo chown -R 1000", ""},
		{"a folder in it", placeBelow, me, dir | 0o755, false, 0, me, "", ""},
		{"a folder in it that others may write", placeBelow, me, dir | 0o777, false, 0, me, "chmod go-w", ""},
		{"a folder in it of another user's", placeBelow, other, dir | 0o700, false, 0, me, "sudo chown -R 1000", ""},

		{"ccbot.env", placeSettings, me, 0o600, false, 0, me, "", ""},
		{"ccbot.env that the group may read", placeSettings, me, 0o640, false, 0, me, "chmod 600", meant},
		{"ccbot.env that others may read", placeSettings, me, 0o604, false, 0, me, "chmod 600", meant},
		{"ccbot.env that others may read, and that is meant", placeSettings, me, 0o644, true, 0, me, "", ""},
		{"ccbot.env that others may write, whatever is meant", placeSettings, me, 0o646, true, 0, me, "chmod 600", ""},
		{"ccbot.env of another user's", placeSettings, other, 0o600, true, 0, me, "sudo chown -R 1000", ""},
		{"ccbot.env of another user's, for root", placeSettings, other, 0o600, true, 0, 0, "sudo chown -R 0", ""},
		{"ccbot.env of nobody's, in a user namespace", placeSettings, nobody, 0o644, true, nobody, me, "sudo chown -R 1000", ""},
		{"ccbot.env of root's", placeSettings, 0, 0o600, false, 0, me, "", ""},
		{"ccbot.env of root's that the group may read", placeSettings, 0, 0o640, false, 0, me, "", meant},
		{"ccbot.env of root's that others may read, and that is meant", placeSettings, 0, 0o644, true, 0, me, "", ""},
		{"ccbot.env of root's that the group may write, whatever is meant", placeSettings, 0, 0o660, true, 0, me, "sudo chmod go-w", ""},
		{"ccbot.env of root's that others may write, for root", placeSettings, 0, 0o646, true, 0, 0, "chmod 600", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := entry{"/x", tt.what, tt.uid, tt.mode}.objection(viewer{tt.me, tt.root, tt.mayRead})
			assert.Equal(t, []string{tt.command, tt.instead}, []string{o.command, o.instead})
			assert.Equal(t, tt.command+tt.instead == "", o.why == "", o.why)
		})
	}
}

// TestP9_WhatIsRefusedIsOneSentence: it ends with what a person does about it.
func TestP9_WhatIsRefusedIsOneSentence(t *testing.T) {
	folder := entry{"/home", placeAbove, 0, fs.ModeDir | 0o755}
	tests := []struct {
		name string
		me   int
		of   entry
		end  string
	}{
		{"a home", 0, entry{"/home/u", placeAbove, 1001, fs.ModeDir | 0o755},
			"/home/u belongs to user 1001, who could put another folder in ccbot's place: choose another CCBOT_DIR, or run ccbot as that user"},
		{"a folder of root's", 1000, entry{"/srv/all", placeAbove, 0, fs.ModeDir | 0o777},
			"others may write /srv/all, and so put another folder in ccbot's place: `sudo chmod o-w /srv/all` mends that, or choose another CCBOT_DIR"},
		{"a file", 1000, entry{"/home/u/my state/alive", placePart, 1000, 0o620},
			"group or others may write /home/u/my state/alive, and ccbot would take what they write for its own: `chmod go-w '/home/u/my state/alive'` mends that"},
		{"a secret", 1000, entry{"/run/ccbot.env", placeSettings, 0, 0o640},
			"group or others may read /run/ccbot.env, where the token is: if that is meant, set CCBOT_ALLOW_READABLE_ENV=1 in the environment"},
		{"an own file", 1000, entry{"/x/ccbot.env", placeSettings, 1000, 0o640},
			"group or others may read /x/ccbot.env, where the token is: `chmod 600 /x/ccbot.env` mends that; if that is meant, set CCBOT_ALLOW_READABLE_ENV=1 in the environment"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.EqualError(t, refusal("/x", []entry{folder, tt.of}, viewer{uid: tt.me}), tt.end)
		})
	}
}

// refused wants all that ccbot says to be one sentence with the command that mends it.
func refused(t *testing.T, err error, mend string) {
	t.Helper()
	require.ErrorContains(t, err, "`"+mend+"`")
	assert.NotContains(t, err.Error(), "\n")
	assert.Equal(t, exitUsage, exitCode(err), err.Error())
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
			_, err := loadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + path})
			if mend == "" {
				require.NoError(t, err)
				return
			}
			refused(t, err, mend)
		})
	}
	_, err = loadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + home + "/loop"})
	require.ErrorContains(t, err, "too many levels of symbolic links")
	assert.Equal(t, exitUsage, exitCode(err))
	require.NoError(t, os.WriteFile(filepath.Join(mkdir(0o700, "home", ".ccbot"), configFile), []byte("CCBOT_DIR="+inShared+"\n"), 0o600))
	_, err = loadForReading([]string{"HOME=" + home})
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
		require.NoError(t, os.WriteFile(filepath.Join(path, configFile), []byte("CCBOT_LANG="+lang+"\n"), 0o600))
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
		_, err = loadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + prefix + "/link/../open"})
		refused(t, err, "chmod go-w "+open)
		c, err := loadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + prefix + "/link/../closed"})
		require.NoError(t, err)
		assert.Equal(t, []string{home + "/closed", "ru"}, []string{c.Dir, c.Lang})
		c, err = loadForReading([]string{"HOME=" + home, "CCBOT_DIR=" + prefix + "/link/../none"})
		require.NoError(t, err)
		assert.Equal(t, []string{home + "/none", "en"}, []string{c.Dir, c.Lang})
	}

	secret := filepath.Join(real, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("CCBOT_LANG=zh\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(home, "linked"), 0o700))
	require.NoError(t, os.Symlink("../../secret", filepath.Join(home, "linked", configFile)))
	env, err := refuseOthers(filepath.Join(home, "linked"), false)
	require.NoError(t, err)
	assert.Equal(t, secret, env, "the file itself, so that no link is followed twice")
	c, err := loadForReading([]string{"HOME=" + home, "CCBOT_DIR=~/linked"})
	require.NoError(t, err)
	assert.Equal(t, "zh", c.Lang)
	for _, dir := range []string{filepath.Join(home, "none"), filepath.Join(real, "elsewhere", "deep")} {
		env, err = refuseOthers(dir, false)
		require.NoError(t, err)
		assert.Empty(t, env, "what was not there is not read")
	}
}

// TestP9_AReadableConfigurationIsRefused, by everything that reads it.
func TestP9_AReadableConfigurationIsRefused(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	file := filepath.Join(dir, configFile)
	require.NoError(t, os.WriteFile(file, []byte("CCBOT_ALLOW_READABLE_ENV=1\nTELEGRAM_BOT_TOKEN="+goodToken+"\nALLOWED_USERS=1\n"), 0o600))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "PATH=" + os.Getenv("PATH"), "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir)}
	c, err := loadConfig(environ)
	require.NoError(t, err)
	assert.False(t, bool(c.ReadableEnv), "what the file says of itself counts for nothing")
	require.NoError(t, os.Chmod(file, 0o640))
	_, err = loadConfig(environ)
	refused(t, err, "chmod 600 "+file)
	before := tree(t, dir)
	for _, args := range [][]string{{"list"}, {"why", "api"}, {"recover", "--dry-run"}, {"recover", "--restore", "list"}, {"recover"},
		{"resume", "api"}, {"hooks", "status"}, {"hooks", "install"}, {"hooks", "uninstall"}} {
		code, out, errs := ccbot(environ, args...)
		assert.Equal(t, []any{exitUsage, ""}, []any{code, out}, args)
		assert.Contains(t, errs, "`chmod 600 "+file+"`", args)
		assert.Contains(t, errs, "CCBOT_ALLOW_READABLE_ENV", args)
		assert.NotContains(t, errs, tokenSecret)
	}
	assert.Equal(t, before, tree(t, dir))

	c, err = loadConfig(append(environ, "CCBOT_ALLOW_READABLE_ENV=1"))
	require.NoError(t, err)
	assert.Equal(t, ids{1}, c.AllowedUsers)
	var log strings.Builder
	c.warn(slog.New(slog.NewTextHandler(&log, nil)))
	assert.Contains(t, log.String(), "configuration_readable_by_others")
	assert.Equal(t, before, tree(t, dir), "it is meant, so it stays")
}

// begun starts the parts of a bot on a folder, and gives the log.
func begun(t *testing.T, dir string) (string, error) {
	t.Helper()
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=1",
		"CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(t.TempDir()), "PATH=" + os.Getenv("PATH")}
	c, err := loadConfig(environ)
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
			require.NoError(t, os.WriteFile(filepath.Join(dir, lockFile), nil, 0o600))
			spoilt(0o602, lockFile)(t, dir)
		}, "chmod go-w DIR/" + lockFile},
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
			c, err := loadForReading([]string{"HOME=" + dir, "CCBOT_DIR=" + dir})
			require.NoError(t, err)
			_, err = c.lockRecords(t.Context(), nil, &strings.Builder{})
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

// TestP9_AnotherUsersFilesAreRefused needs root, who alone can give files away.
func TestP9_AnotherUsersFilesAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can make files of another user")
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
			_, err := loadForReading([]string{"HOME=" + dir, "CCBOT_DIR=" + dir})
			refused(t, err, mend)
			_, err = loadForReading([]string{"HOME=/root", "CCBOT_DIR=" + filepath.Join(dir, "none")})
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
			_, err = config{Dir: dir}.backups().Make(t.Context())
			require.NoError(t, err)
			require.NoError(t, hookwire.WriteEvent(dir, hookwire.Event{}))
			require.NoError(t, touch(filepath.Join(dir, aliveFile), at))
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

// TestWhatIsNotCcbotsIsLeftAlone: a folder may be a volume of its own, and a note in it somebody else's.
func TestWhatIsNotCcbotsIsLeftAlone(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	for _, name := range []string{"lost+found", "sessions/lost+found"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o777))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "state.tar.gz"), nil, 0o600))
	require.NoError(t, os.Chmod(filepath.Join(dir, "state.tar.gz"), 0o666))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(filepath.Join(dir, "lost+found"), 4711, 4711))
		require.NoError(t, os.Chown(filepath.Join(dir, "state.tar.gz"), 4711, 4711))
	}
	_, err := begun(t, dir)
	require.NoError(t, err)
}

// TestWhatLiesInTheFolderIsKnown: what a start makes is looked at by the next, and so is every file that has a name
// in the code that makes it.
func TestWhatLiesInTheFolderIsKnown(t *testing.T) {
	dir := stateWith(t, one(1, "api", func(r *session.Record) { r.State = session.Running }))
	_, err := begun(t, dir)
	require.NoError(t, err)
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range all {
		known := ownFiles
		if e.IsDir() {
			known = subfolders
		}
		assert.True(t, slices.Contains(known, e.Name()), "%s is not known", e.Name())
	}
	name := regexp.MustCompile(`(?m)^(?:const |\t)\w*File\s+= "([^"]+)"`)
	found := 0
	for _, folder := range []string{".", "../../bot/outbox", "../../recovery"} {
		sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, source := range sources {
			text, err := os.ReadFile(source)
			require.NoError(t, err)
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				found++
				assert.True(t, slices.Contains(ownFiles, m[1]) || m[1] == configFile, "%s of %s is not known", m[1], source)
			}
		}
	}
	assert.GreaterOrEqual(t, found, 8)
}

// TestALookIntoTheFolderIsBounded: there may be very many events.
func TestALookIntoTheFolderIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range mostLooked + 10 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strings.Repeat("x", i%200+1)+string(rune('a'+i/200))), nil, 0o600))
	}
	names, err := someOf(dir)
	require.NoError(t, err)
	assert.Len(t, names, mostLooked)
}
