package main

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

// TestP9_WhatOthersCouldHaveWrittenIsNotUsed is the whole rule.
func TestP9_WhatOthersCouldHaveWrittenIsNotUsed(t *testing.T) {
	const me, other, nobody = 1000, 1001, 65534
	dir, sticky, link, socket := fs.ModeDir, fs.ModeDir|fs.ModeSticky, fs.ModeSymlink, fs.ModeSocket
	tests := []struct {
		name    string
		what    place
		uid     int
		mode    fs.FileMode
		mayRead bool
		root    int // who owns /
		me      int
		mend    string // empty: it is used
	}{
		{"a folder of mine", placeFolder, me, dir | 0o700, false, 0, me, ""},
		{"a folder that others may read", placeFolder, me, dir | 0o755, false, 0, me, ""},
		{"a folder that the group may write", placeFolder, me, dir | 0o770, false, 0, me, "chmod go-w"},
		{"a folder that others may write", placeFolder, me, dir | 0o702, false, 0, me, "chmod go-w"},
		{"a folder of everybody's, sticky", placeFolder, me, sticky | 0o777, false, 0, me, "chmod go-w"},
		{"a folder of another user's", placeFolder, other, dir | 0o700, false, 0, me, "sudo chown -R 1000"},
		{"a folder of root's", placeFolder, 0, dir | 0o700, false, 0, me, "sudo chown -R 1000"},
		{"a folder of a user's, for root", placeFolder, me, dir | 0o700, false, 0, 0, "sudo chown -R 0"},
		{"both", placeFolder, other, dir | 0o777, false, 0, me, "sudo chown -R 1000"},

		{"a folder above of mine", placeAbove, me, dir | 0o755, false, 0, me, ""},
		{"a folder above of root's", placeAbove, 0, dir | 0o755, false, 0, me, ""},
		{"a folder above of root's, in a user namespace", placeAbove, nobody, dir | 0o755, false, nobody, me, ""},
		{"a folder above of nobody's", placeAbove, nobody, dir | 0o755, false, 0, me, "sudo chown 1000"},
		{"/tmp", placeAbove, 0, sticky | 0o777, false, 0, me, ""},
		{"a /tmp of another user's", placeAbove, other, sticky | 0o777, false, 0, me, "sudo chown 1000"},
		{"a folder above of another user's", placeAbove, other, dir | 0o755, false, 0, me, "sudo chown 1000"},
		{"a folder above of a user's, for root", placeAbove, other, dir | 0o755, false, 0, 0, "sudo chown 0"},
		{"a folder above that the group may write", placeAbove, me, dir | 0o775, false, 0, me, "chmod go-w"},
		{"a folder above of root's that others may write", placeAbove, 0, dir | 0o757, false, 0, me, "sudo chmod go-w"},
		{"a link of mine on the way", placeAbove, me, link | 0o777, false, 0, me, ""},
		{"a link of root's on the way", placeAbove, 0, link | 0o777, false, 0, me, ""},
		{"a link of another user's on the way", placeAbove, other, link | 0o777, false, 0, me, "sudo chown 1000"},

		{"a file of mine", placePart, me, 0o600, false, 0, me, ""},
		{"a file that others may read", placePart, me, 0o644, false, 0, me, ""},
		{"a file that the group may write", placePart, me, 0o660, false, 0, me, "chmod go-w"},
		{"a file of root's", placePart, 0, 0o600, false, 0, me, "sudo chown -R 1000"},
		{"a link of mine in it", placePart, me, link | 0o777, false, 0, me, ""},
		{"a link of another user's in it", placePart, other, link | 0o777, false, 0, me, "sudo chown -R 1000"},
		{"a socket of a start that was killed", placePart, me, socket | 0o775, false, 0, me, ""},
		{"a socket of another user's", placePart, other, socket | 0o600, false, 0, me, "sudo chown -R 1000"},
		{"a folder in it", placeBelow, me, dir | 0o755, false, 0, me, ""},
		{"a folder in it that others may write", placeBelow, me, dir | 0o777, false, 0, me, "chmod go-w"},
		{"a folder in it of another user's", placeBelow, other, dir | 0o700, false, 0, me, "sudo chown -R 1000"},

		{"ccbot.env", placeSettings, me, 0o600, false, 0, me, ""},
		{"ccbot.env that the group may read", placeSettings, me, 0o640, false, 0, me, "chmod 600"},
		{"ccbot.env that others may read", placeSettings, me, 0o604, false, 0, me, "chmod 600"},
		{"ccbot.env that others may read, and that is meant", placeSettings, me, 0o644, true, 0, me, ""},
		{"ccbot.env that others may write, whatever is meant", placeSettings, me, 0o646, true, 0, me, "chmod 600"},
		{"ccbot.env of another user's", placeSettings, other, 0o600, true, 0, me, "sudo chown -R 1000"},
		{"ccbot.env of root's", placeSettings, 0, 0o644, true, 0, me, "sudo chown -R 1000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			why, mend := entry{"/x", tt.what, tt.uid, tt.mode}.objection(viewer{tt.me, tt.root, tt.mayRead})
			assert.Equal(t, tt.mend, mend)
			assert.Equal(t, tt.mend == "", why == "", why)
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
	mkdir(0o775, "shared")
	inShared := mkdir(0o700, "shared", "state")
	mkdir(0o777|fs.ModeSticky, "sticky")
	inSticky := mkdir(0o700, "sticky", "state")
	open := mkdir(0o777, "open")
	require.NoError(t, os.Symlink("../home/state", filepath.Join(home, "link")))
	require.NoError(t, os.Symlink("../home/../home/link", filepath.Join(real, "shared", "link")))
	require.NoError(t, os.Symlink(real+"/shared", filepath.Join(home, "into")))
	require.NoError(t, os.Symlink("loop", filepath.Join(home, "loop")))
	sharedMend := "chmod go-w " + filepath.Join(real, "shared")
	for path, mend := range map[string]string{
		state: "", home + "/link": "", home + "/none/at/all": "", inSticky: "",
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
			refused(t, err, "sudo chown 0 "+dir)
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

// TestTheFoldersAreKnown: one that a start makes is looked into by the next.
func TestTheFoldersAreKnown(t *testing.T) {
	dir := stateWith(t, one(1, "api", func(r *session.Record) { r.State = session.Running }))
	_, err := begun(t, dir)
	require.NoError(t, err)
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range all {
		if e.IsDir() {
			assert.True(t, slices.Contains(subfolders, e.Name()), "%s is not in folders", e.Name())
		}
	}
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
