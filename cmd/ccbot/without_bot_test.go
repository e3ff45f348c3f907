package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/naming"
	"ccbot/internal/session"
)

// TestResumeWithoutABot checks the output, and that the next start finds the session.
func TestResumeWithoutABot(t *testing.T) {
	r := one(1, "api", func(r *session.Record) { r.Dir = t.TempDir() })
	missing := one(2, "web", func(r *session.Record) { r.Dir = filepath.Join(t.TempDir(), "gone") })
	environ := machine(t, r, missing)
	ccbot := installed(t)
	assert.Contains(t, ccbot(t, environ, exit.Failure, "resume", "nobody"), "there is no session \"nobody\"")
	assert.Contains(t, ccbot(t, environ, exit.Failure, "resume", "web"), "The folder "+missing.Dir+" no longer exists.")
	said := ccbot(t, environ, exit.OK, "resume", "api")
	assert.Contains(t, said, "api is back in "+r.Dir+"; in the chat, choose it with /list, once ccbot runs\nin a terminal: tmux -L ")

	said = ccbot(t, environ, exit.OK, "list")
	assert.Regexp(t, `(?m)^api +`+naming.ShortID(r.ID)+` +restoring +\d+s ago `, said)
	said = ccbot(t, environ, exit.OK, "recover", "--dry-run")
	assert.Contains(t, said, "api ("+naming.ShortID(r.ID)+"): reattach: its pane is there (")
	assert.Contains(t, said, "0 to change, 0 notices; nothing was changed\n")
	_, held, err := statefolder.Take(t.Context(), strings.TrimPrefix(environ[0], "HOME="), "run", time.Second, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	said = ccbot(t, environ, exit.OK, "recover", "--dry-run")
	assert.Contains(t, said, "api ("+naming.ShortID(r.ID)+"): keep: its pane is there (", "a bot that runs has it already")
	require.NoError(t, held.Close())
	assert.Contains(t, ccbot(t, environ, exit.Failure, "resume", "api"), "api is already open. In a terminal: tmux -L ")
}

// A second recovery has nothing to do, the next start reports to the chat, and the earlier records
// are in a backup.
func TestP8_RecoverWithoutABot(t *testing.T) {
	r := one(1, "api", func(r *session.Record) { r.State, r.EndedAt = session.Running, r.EndedAt.AddDate(0, 0, -1) })
	environ := machine(t, r)
	ccbot := installed(t)
	said := ccbot(t, environ, exit.OK, "recover")
	assert.Contains(t, said, "api ("+naming.ShortID(r.ID)+"): mark_lost\n")
	assert.Regexp(t, `1 changed, 0 failed, 0 notices; the records as they were: ccbot recover --restore 20\d\d-`, said)
	assert.Contains(t, ccbot(t, environ, exit.OK, "recover"), "0 changed, 0 failed, 0 notices\n")
	why := ccbot(t, environ, exit.OK, "why", "api")
	assert.Contains(t, why, "running → lost  recovery.mark_lost")

	d, err := offline.Open(environ, io.Discard)
	require.NoError(t, err)
	lost, _ := d.Store.Get(r.ID)
	assert.Equal(t, session.Lost, lost.State)
	assert.True(t, lost.Unreported)
}
