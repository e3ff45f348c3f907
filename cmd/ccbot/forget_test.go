package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// recordOf is the file of a session's record.
func recordOf(environ []string, r session.Record) string {
	return filepath.Join(strings.TrimPrefix(environ[0], "HOME="), "sessions", r.ID.String()+".json")
}

// saying is ccbot with an answer to what it asks.
func saying(answer string, environ []string, args ...string) (said string, err error) {
	var out strings.Builder
	root := commands(environ, &out, &out)
	root.SetArgs(args)
	root.SetIn(strings.NewReader(answer))
	err = root.ExecuteContext(context.Background())
	return out.String(), err
}

// An interrupt ends a read of an input without data.
func TestInterruptEndsReading(t *testing.T) {
	dir := stateWith(t, one(1, "api"), one(2, "web", func(r *session.Record) { r.State = session.Running }))
	for _, args := range [][]string{{"forget", "api"}, {"archive", "web"}, {"new", "--prompt", "-"}, {"send-prompt", "web", "-"}} {
		in, writer, err := os.Pipe()
		require.NoError(t, err)
		defer in.Close()
		defer writer.Close()
		root := commands([]string{"HOME=" + dir, "CCBOT_DIR=" + dir}, io.Discard, io.Discard)
		root.SetArgs(args)
		root.SetIn(in)
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(0, interrupt)
		require.EqualError(t, root.ExecuteContext(ctx), "interrupted: nothing was done", args)
	}
}

// forget lists the files that stay, and does nothing without a yes.
func TestForgetAsksFirst(t *testing.T) {
	conversation := filepath.Join(t.TempDir(), "y.jsonl")
	r := one(1, "api", func(r *session.Record) { r.Cursors = []talk.Cursor{{Path: conversation}} })
	live := one(2, "web", func(r *session.Record) { r.State = session.Running })
	stuck := one(3, "stuck", func(r *session.Record) { r.State = session.CleanupFailed })
	dir := stateWith(t, r, live, stuck, one(4, "other"))
	codex := recordOf([]string{"HOME=" + dir, "CCBOT_DIR=" + dir}, one(4, "other"))
	data, err := os.ReadFile(codex)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(codex, append([]byte(`{"agent_name":"codex",`), data[1:]...), 0o600))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir}
	said, err := saying("", environ, "forget", "api")
	require.Error(t, err)
	assert.Contains(t, said, "Claude Code has no conversation file of it\n", "it had no prompt")
	require.NoError(t, os.WriteFile(conversation, nil, 0o600))
	for _, answer := range []string{"", "n\n", "what?\n"} {
		said, err := saying(answer, environ, "forget", "api")
		require.EqualError(t, err, "nothing was done: answer y, or give --yes")
		assert.Equal(t, "api  "+r.ID.String()+"  archived, in /src/api\nThe conversation's file is kept: "+conversation+"\n"+
			"Delete ccbot's record of api, also from the backups? This cannot be undone. [y/N]\n", said)
		assert.FileExists(t, recordOf(environ, r))
	}
	said, err = saying("", environ, "forget", "other")
	require.Error(t, err)
	assert.Contains(t, said, "Codex has no conversation file of it\n")
	_, err = saying("y\n", environ, "forget", "web")
	require.EqualError(t, err, "web is open; end it first: ccbot archive web")
	_, err = saying("y\n", environ, "forget", "stuck")
	require.ErrorContains(t, err, "stuck has not fully ended")
	_, err = saying("y\n", environ, "forget", "none")
	require.ErrorContains(t, err, "there is no session \"none\"")
	assert.Equal(t, exit.Misuse, exit.Code(func() error { _, err := saying("", environ, "forget"); return err }()))
}

// TestForgetWithoutABot: the record goes with every copy, and so does what the chat keeps.
func TestForgetWithoutABot(t *testing.T) {
	r, other := one(1, "api"), one(2, "web")
	environ := machine(t, r, other)
	dir := strings.TrimPrefix(environ[0], "HOME=")
	backups := offline.Backups(dir)
	name, err := backups.Make(t.Context())
	require.NoError(t, err)
	require.NoError(t, backups.Keep(r.ID))
	ccbot := installed(t)
	said := ccbot(t, environ, exit.OK, "forget", "--yes", "api")
	assert.Contains(t, said, "Claude Code has no conversation file of it\n")
	assert.NotContains(t, said, "[y/N]")
	assert.Contains(t, said, "The record of api is deleted, also from the backups.\n")
	assert.NoFileExists(t, recordOf(environ, r))
	assert.FileExists(t, recordOf(environ, other))
	_, err = backups.Restore(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, []string{other.ID.String() + ".json"}, names(t, filepath.Join(dir, "sessions")), "the backup has it no more")
	assert.Empty(t, names(t, filepath.Join(dir, "backups", "purged")))
	assert.Contains(t, ccbot(t, environ, exit.Failure, "forget", "--yes", "api"), "there is no session \"api\"")
}

// finderToForget finds what is there at each call.
func finderToForget(t *testing.T, environ []string) func(what string) (session.Record, error) {
	return func(what string) (session.Record, error) {
		d, err := offline.Open(environ, io.Discard)
		require.NoError(t, err)
		return d.RecordToForget(what)
	}
}

// A record that was removed because of its age is found by its whole name only, not by a prefix. A
// deletion without a question needs the full name.
func TestForgetNeedsWholeName(t *testing.T) {
	left, other := one(1, "api"), one(2, "api-2")
	environ := machine(t, left, other)
	dir := strings.TrimPrefix(environ[0], "HOME=")
	require.NoError(t, offline.Backups(dir).Keep(left.ID))
	require.NoError(t, os.Remove(recordOf(environ, left)))
	find := finderToForget(t, environ)
	for what, want := range map[string]session.Record{"api": left, "api-": other, naming.ShortID(left.ID): left} {
		r, err := find(what)
		require.NoError(t, err)
		assert.Equal(t, want.ID, r.ID, what)
	}
	code, _, errs := ccbot(environ, "forget", "--yes", "api-")
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, errs, "without a question the whole name or id is needed")
	assert.FileExists(t, recordOf(environ, other))
}

// A record that was removed because of its age is found by its id even if its name is used again;
// that name means the present record. If several were removed, the error lists their full ids,
// which forget accepts.
func TestForgetFindsPurgedRecords(t *testing.T) {
	left, gone, other, apart := one(1, "api"), one(2, "api"), one(3, "API"), one(4, "apart")
	environ := machine(t, left, gone, other, apart)
	dir := strings.TrimPrefix(environ[0], "HOME=")
	for _, r := range []session.Record{left, gone, apart} {
		require.NoError(t, offline.Backups(dir).Keep(r.ID))
		require.NoError(t, os.Remove(recordOf(environ, r)))
	}
	find := finderToForget(t, environ)
	for what, want := range map[string]session.Record{"api": other, left.ID.String(): left, gone.ID.String(): gone} {
		r, err := find(what)
		require.NoError(t, err)
		assert.Equal(t, want.ID, r.ID, what)
	}
	_, err := find("ap")
	require.ErrorContains(t, err, "any of 2 sessions", "the beginning of two names")
	require.NoError(t, os.Remove(recordOf(environ, other)))
	code, _, errs := ccbot(environ, "forget", "--yes", "api")
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, errs, "\n  "+left.ID.String()+"  api, ")
	assert.Contains(t, errs, "\n  "+gone.ID.String()+"  api, ")
	said := installed(t)(t, environ, exit.OK, "forget", "--yes", "--json", left.ID.String())
	assert.Contains(t, said, `"id": "`+left.ID.String()+`"`)
	r, err := find("api")
	require.NoError(t, err)
	assert.Equal(t, gone.ID, r.ID)
}

// names are the files of a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestRecoverForgetsDueRecords, without a bot; it can be brought back, for the whole time
// again.
func TestRecoverForgetsDueRecords(t *testing.T) {
	old := one(1, "old", func(r *session.Record) { r.EndedAt = time.Now().Add(-91*24*time.Hour - time.Hour) })
	young := one(2, "young", func(r *session.Record) { r.EndedAt = time.Now().Add(-time.Hour) })
	environ := machine(t, old, young)
	ccbot := installed(t)
	line := "old (" + naming.ShortID(old.ID) + "): "
	assert.Contains(t, ccbot(t, environ, exit.OK, "recover", "--dry-run"), line+"is due to be forgotten: ended 91d ago (ARCHIVE_PURGE_AFTER 90d)\n")
	assert.Contains(t, ccbot(t, environ, exit.OK, "recover"), line+"was forgotten: ended 91d ago (ARCHIVE_PURGE_AFTER 90d); `ccbot recover --restore-purged` brings it back for a week\n")
	assert.NoFileExists(t, recordOf(environ, old))
	assert.FileExists(t, recordOf(environ, young))

	assert.Regexp(t, `"none" is not one of the sessions .*:\n  old  `+naming.ShortID(old.ID)+`  forgotten \d+[sm] ago, in /src/old\n$`,
		ccbot(t, environ, exit.Failure, "recover", "--restore-purged", "none"))
	assert.NotContains(t, ccbot(t, environ, exit.Failure, "recover", "--restore", "old"), " is back", "a session is no time")
	assert.Equal(t, "old is back, archived; it is forgotten again after ARCHIVE_PURGE_AFTER (90d) from now\n",
		ccbot(t, environ, exit.OK, "recover", "--restore-purged", naming.ShortID(old.ID)))
	assert.NotContains(t, ccbot(t, environ, exit.OK, "recover", "--dry-run"), "is due")
	assert.NotContains(t, ccbot(t, environ, exit.OK, "recover"), "was forgotten")
	assert.FileExists(t, recordOf(environ, old))
	assert.Contains(t, ccbot(t, environ, exit.Failure, "recover", "--restore-purged", "old"), "no session was forgotten because of its age within the last week")
}

// TestBroughtBackRecordStaysWithoutPurge: it names no time that would pass.
func TestBroughtBackRecordStaysWithoutPurge(t *testing.T) {
	environ := machine(t, one(1, "old", func(r *session.Record) { r.EndedAt = time.Now().Add(-91 * 24 * time.Hour) }))
	ccbot := installed(t)
	ccbot(t, environ, exit.OK, "recover")
	assert.Equal(t, "old is back, archived; it stays, because ARCHIVE_PURGE_AFTER is 0\n",
		ccbot(t, append(environ, "ARCHIVE_PURGE_AFTER=0"), exit.OK, "recover", "--restore-purged", "old"))
}

// A restored record stays for its whole time again.
func TestRestoredRecordIsKept(t *testing.T) {
	old := one(1, "old", func(r *session.Record) { r.EndedAt = time.Now().Add(-91 * 24 * time.Hour) })
	environ := machine(t, old)
	name, err := offline.Backups(strings.TrimPrefix(environ[0], "HOME=")).Make(t.Context())
	require.NoError(t, err)
	ccbot := installed(t)
	ccbot(t, environ, exit.OK, "recover")
	assert.NoFileExists(t, recordOf(environ, old))
	ccbot(t, environ, exit.OK, "recover", "--restore", name)
	ccbot(t, environ, exit.OK, "recover")
	assert.FileExists(t, recordOf(environ, old))
}
