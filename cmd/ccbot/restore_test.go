package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
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
