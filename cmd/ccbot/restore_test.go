package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
)

// The report lists records that the backup lacks, and unreadable ones.
func TestRestoreReportsMissingRecords(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir), "PATH=" + os.Getenv("PATH")}
	record := func(second int) string { return filepath.Join(dir, "sessions", idOf(second).String()+".json") }
	require.NoError(t, os.WriteFile(record(2), []byte("{"), 0o600))
	name, err := offline.Backups(dir).Make(t.Context())
	require.NoError(t, err)
	for _, second := range []int{3, 4} {
		require.NoError(t, os.WriteFile(record(second), []byte("{}"), 0o600))
	}

	code, out, errs := ccbot(environ, "recover", "--restore", name)
	require.Equal(t, exit.OK, code, errs)
	assert.Regexp(t, `^restored: 2 records of backup `+name+`; the earlier records are in backup (\S+Z) \(4 records\)
not in it: 2 records of what was there; backup \S+Z has that
not readable by this ccbot: 1 of the restored
next: `, out)
	assert.NoFileExists(t, record(3))
	data, err := os.ReadFile(record(2))
	require.NoError(t, err)
	assert.Equal(t, "{", string(data), "it is back as it was")
}

// TestRestoreOfEmptyBackup: an empty backup would take all sessions away.
func TestRestoreOfEmptyBackup(t *testing.T) {
	dir := stateWith(t)
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir), "PATH=" + os.Getenv("PATH")}
	name, err := offline.Backups(dir).Make(t.Context())
	require.NoError(t, err)
	file := filepath.Join(dir, "sessions", idOf(1).String()+".json")
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	code, out, errs := ccbot(environ, "recover", "--restore", name)
	assert.Equal(t, []any{exit.Failure, ""}, []any{code, out})
	assert.Contains(t, errs, "backup "+name+" has no record in it; nothing was changed. There are:\n")
	assert.FileExists(t, file)
}

// TestRestoreSaysThatFolderIsOfAnotherVersion, and not that there is no copy, and changes nothing.
func TestRestoreSaysThatFolderIsOfAnotherVersion(t *testing.T) {
	for version, says := range map[int]string{
		statefolder.Format + 1: "ccbot: a newer ccbot wrote the folder ",
		statefolder.Format - 1: "or run `ccbot recover`, which brings the folder to version ",
	} {
		dir := stateWith(t, one(1, "api"))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "format"), []byte(strconv.Itoa(version)+"\n"), 0o600))
		before := tree(t, dir)
		for _, form := range []string{"--restore", "--restore-purged"} {
			code, out, errs := ccbot([]string{"HOME=" + dir, "CCBOT_DIR=" + dir}, "recover", form, "2026")
			assert.Equal(t, []any{exit.Failure, ""}, []any{code, out}, form)
			assert.Contains(t, errs, says, form)
		}
		assert.Equal(t, before, tree(t, dir))
	}
}

// TestTornBackupIsNamed: and nothing is changed by it.
func TestTornBackupIsNamed(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir), "PATH=" + os.Getenv("PATH")}
	name, err := offline.Backups(dir).Make(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Truncate(filepath.Join(dir, "backups", name+".tar.gz"), 100))
	code, out, errs := ccbot(environ, "recover", "--restore", "1999")
	assert.Equal(t, []any{exit.Failure, ""}, []any{code, out})
	assert.Contains(t, errs, "\n  "+name+"  ")
	assert.Contains(t, errs, "ago, cannot be restored: unexpected EOF\n")
	code, out, errs = ccbot(environ, "recover", "--restore", name)
	assert.Equal(t, []any{exit.Failure, ""}, []any{code, out})
	assert.Contains(t, errs, "restore "+name+": unexpected EOF")
	assert.FileExists(t, filepath.Join(dir, "sessions", idOf(1).String()+".json"))
	assert.Equal(t, []string{name + ".tar.gz"}, names(t, filepath.Join(dir, "backups")), "no backup is made of it")
}
