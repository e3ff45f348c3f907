package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/naming"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// planned is a dry run in a folder with these records.
func planned(t *testing.T, dir string, args ...string) (code int, stdout string) {
	t.Helper()
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir), "PATH=" + os.Getenv("PATH")}
	code, stdout, errs := ccbot(environ, append([]string{"recover", "--dry-run"}, args...)...)
	assert.Empty(t, errs)
	return code, stdout
}

// TestDryRunReadsLikeAPlan: a session from before the last reboot, and an expired one.
func TestDryRunReadsLikeAPlan(t *testing.T) {
	ran := one(1, "api", func(r *session.Record) {
		r.State, r.EndedAt = session.Running, time.Time{}
		r.Binding = &session.Binding{Window: "@3", Pane: "%3", Server: session.Server{PID: 1, Start: 1},
			Agent: process.Identity{PID: 1, Start: 1, Boot: "an earlier boot"}}
	})
	old := one(2, "old", func(r *session.Record) { r.EndedAt = time.Now().Add(-91*24*time.Hour - time.Hour) })
	fresh := one(3, "fresh", func(r *session.Record) { r.EndedAt = time.Now().Add(-time.Hour) })
	dir := stateWith(t, ran, old, fresh)

	code, out := planned(t, dir)
	assert.Equal(t, exit.OK, code)
	where := "looked at tmux -L ccbot-none-" + filepath.Base(dir) + ", session ccbot\n"
	require.True(t, strings.HasPrefix(out, where), out)
	lines := strings.Split(strings.TrimSpace(strings.TrimPrefix(out, where)), "\n")
	assert.Equal(t, "api ("+naming.ShortID(ran.ID)+"): mark_lost", lines[0])
	assert.Contains(t, lines[1], "(reboot)")
	assert.Contains(t, out, "evidence:")
	assert.Contains(t, out, "stale_window @3 api")
	assert.Contains(t, out, "old ("+naming.ShortID(old.ID)+"): is due to be forgotten: ended 91d ago (ARCHIVE_PURGE_AFTER 90d)\n")
	assert.NotContains(t, out, "fresh")
	assert.Equal(t, "1 to change, 1 notice; nothing was changed", lines[len(lines)-1])

	code, out = planned(t, dir, "--json")
	assert.Equal(t, exit.OK, code)
	var a show.Account
	require.NoError(t, json.Unmarshal([]byte(out), &a))
	assert.True(t, a.DryRun)
	require.Len(t, a.Actions, 1)
	assert.Equal(t, "mark_lost", a.Actions[0].Do)
	assert.Equal(t, ran.ID, a.Actions[0].ID)
	assert.True(t, a.Actions[0].Changes)
	assert.Equal(t, session.ClosedReboot, a.Actions[0].Closed)
	assert.NotEmpty(t, a.Actions[0].Evidence)
	require.Len(t, a.Purge, 1)
	assert.Equal(t, old.ID, a.Purge[0].ID)
	assert.Empty(t, a.Backup)
}

// A dry run does not attach to a bot's sessions again, and does not take a launch under way for a
// failed one.
func TestDryRunBesideABot(t *testing.T) {
	earlier := one(1, "earlier", func(r *session.Record) { r.State, r.StartedAt = session.Starting, time.Now().Add(-time.Hour) })
	dir := stateWith(t, earlier)
	table, held, err := statefolder.Take(t.Context(), dir, "run", time.Second, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer held.Close()
	store, err := session.Open(filepath.Join(dir, "sessions"), filepath.Join(dir, "quarantine"), time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	underWay := one(2, "under way", func(r *session.Record) { r.State, r.StartedAt = session.Starting, time.Now() })
	require.NoError(t, store.Create(underWay))

	code, out := planned(t, dir)
	assert.Equal(t, exit.OK, code)
	lines := strings.Split(out, "\n")
	assert.Equal(t, fmt.Sprintf("ccbot runs as process %d and manages its sessions; `ccbot recover` would make it do this now", os.Getpid()), lines[0])
	assert.Contains(t, lines[1], "looked at tmux -L ")
	assert.Equal(t, "earlier ("+naming.ShortID(earlier.ID)+"): discard", lines[2])
	assert.NotContains(t, out, "under way (")

	_, out = planned(t, dir, "--json")
	var a show.Account
	require.NoError(t, json.Unmarshal([]byte(out), &a))
	assert.Equal(t, os.Getpid(), a.Bot)
	require.Len(t, a.Actions, 1)

	holder := fmt.Sprintf("role=run\npid=%d\nstart=1\nboot=%s\n", os.Getpid(), table.Self().Boot)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ccbot.lock"), []byte(holder), 0o600))
	_, out = planned(t, dir)
	assert.NotContains(t, out, "ccbot runs as", "that bot is gone")
	assert.Contains(t, out, "under way (", "and its launch came to nothing")
}

// TestDryRunListsUnreadableRecords once: a start moves such a record away.
func TestDryRunListsUnreadableRecords(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	junk := idOf(2).String() + ".json"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sessions", junk), []byte("{"), 0o600))
	code, out := planned(t, dir)
	assert.Equal(t, exit.OK, code)
	assert.Equal(t, 1, strings.Count(out, junk), out)
	assert.Contains(t, out, "\n0 to change, 1 to set aside, 1 notice; nothing was changed\n")
}

// TestRestoreBringsBackARecord: a wrong time lists the backups, also beside a bot, and a bot that
// runs keeps its records.
func TestRestoreBringsBackARecord(t *testing.T) {
	dir := stateWith(t, one(1, "api", func(r *session.Record) { r.EndedAt = time.Now() }))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir), "PATH=" + os.Getenv("PATH")}
	code, _, errs := ccbot(environ, "recover", "--restore", "2026")
	assert.Equal(t, []any{exit.Failure, "ccbot: there is no backup in " + filepath.Join(dir, "backups") + " yet: each recovery that changes something makes one\n"},
		[]any{code, errs})

	name, err := offline.Backups(dir).Make(t.Context())
	require.NoError(t, err)
	file := filepath.Join(dir, "sessions", idOf(1).String()+".json")
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.Remove(file))
	for _, wrong := range []string{"1999", "", "../sessions"} {
		code, _, errs = ccbot(environ, "recover", "--restore", wrong)
		assert.Equal(t, exit.Failure, code)
		assert.Regexp(t, `^ccbot: "`+wrong+`" is not a backup, or is the beginning of several; there are:\n  `+name+`  \d+s ago, 1 record\n$`, errs)
		assert.NoFileExists(t, file)
	}

	_, held, err := statefolder.Take(t.Context(), dir, "run", time.Second, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	code, _, errs = ccbot(environ, "recover", "--restore", "1999")
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, errs, "  "+name+"  ")
	code, _, errs = ccbot(environ, "recover", "--restore", name)
	assert.Equal(t, exit.Running, code)
	assert.Regexp(t, `^ccbot: ccbot has the folder in use; stop it first: another one is running \(pid \d+, \S+\)\n$`, errs)
	require.NoError(t, held.Close())

	code, out, errs := ccbot(environ, "recover", "--restore", name)
	require.Equal(t, exit.OK, code, errs)
	assert.Regexp(t, "^restored: 1 record of backup "+name+"; the earlier records are in backup 20\\S+Z \\(0 records\\)\nnext: `ccbot recover --dry-run` shows", out)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))

	for _, args := range [][]string{{"--restore", name, "--json"}, {"--restore", name, "--dry-run"}, {"--restore", name, "--restore-purged", "api"},
		{"--restore-purged", "api", "--json"}, {"now"}} {
		code, _, _ = ccbot(environ, append([]string{"recover"}, args...)...)
		assert.Equal(t, exit.Misuse, code)
	}
}
