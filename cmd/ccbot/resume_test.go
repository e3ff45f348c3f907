package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/ccbottest"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
)

// botThat answers the verbs of any caller by the function, until stop or the end of the test.
func botThat(t *testing.T, dir string, answer func(ctx context.Context, c hookwire.Call) (any, error)) (stop func()) {
	t.Helper()
	table, err := process.NewTable()
	require.NoError(t, err)
	server := control.NewServer(filepath.Join(dir, hookwire.SocketName), table, slog.New(slog.DiscardHandler))
	for _, verb := range []string{"ping", hookwire.VerbSend, running.Recovering.Verb, running.Resuming.Verb} {
		server.Handle(verb, func(ctx context.Context, _ control.Peer, c hookwire.Call) (json.RawMessage, error) {
			reply, err := answer(ctx, c)
			if err != nil {
				return nil, err
			}
			return json.Marshal(reply)
		})
	}
	return ccbottest.Serve(t, server, dir)
}

// TestChangesGoThroughTheBot prints what it answers. No configuration is needed.
func TestChangesGoThroughTheBot(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir}
	var no error
	chat := "it continues in its chat"
	allowed := control.Refuse(control.CodeUnknown, "I know no ping") // an answer all the same
	botThat(t, dir, func(_ context.Context, c hookwire.Call) (any, error) {
		switch c.Verb {
		case running.Resuming.Verb:
			return running.Resumed{Name: "api", Dir: "/src", Attach: "tmux attach", Chat: chat, Ended: []string{"process 7 ended (term), verified gone"}}, no
		case running.Recovering.Verb:
			return show.Account{Actions: []show.Action{{Changes: true}, {Changes: true}, {Changes: true, Error: "no room"}},
				Notices: make([]show.Notice, 3), Backup: "2026-03-04T12-00-00.000Z"}, no
		}
		return struct{}{}, allowed
	})
	code, out, errs := ccbot(environ, "resume", "api")
	assert.Equal(t, exit.OK, code, errs)
	assert.Equal(t, "process 7 ended (term), verified gone\napi is back in /src; it continues in its chat\nin a terminal: tmux attach\n", out)
	chat = "" // also of an earlier ccbot
	_, out, _ = ccbot(environ, "resume", "api")
	assert.Contains(t, out, "api is back in /src; in the chat, choose it with /list\n")

	code, out, errs = ccbot(environ, "recover")
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, out, "2 changed, 1 failed, 3 notices")
	assert.Equal(t, "ccbot: 1 action failed; what could not be done stays as it is, and the next start tries again\n", errs)
	code, out, _ = ccbot(environ, "recover", "--json")
	assert.Equal(t, exit.Failure, code)
	assert.JSONEq(t, `"2026-03-04T12-00-00.000Z"`, backupIn(t, out))

	no = control.Refuse(control.CodeRefused, "api is open already")
	code, out, errs = ccbot(environ, "resume", "api")
	assert.Equal(t, []any{exit.Failure, "", "ccbot: api is open already\n"}, []any{code, out, errs})
	allowed = control.Refuse(control.CodeForbidden, "an agent may not do this")
	code, _, errs = ccbot(environ, "recover")
	assert.Equal(t, []any{exit.Failure, "ccbot: an agent may not do this\n"}, []any{code, errs})
	allowed, no = nil, errors.New("secret")
	code, _, errs = ccbot(environ, "resume", "api")
	assert.Equal(t, []any{exit.Failure, "ccbot: internal error in ccbot; see its log\n"}, []any{code, errs})
}

func backupIn(t *testing.T, out string) string {
	t.Helper()
	var a map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(out), &a))
	return string(a["backup"])
}

// TestSilentBotIsNamed: it is stopped, or starts, and holds the lock.
func TestSilentBotIsNamed(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	_, held, err := statefolder.Take(t.Context(), dir, "run", time.Second, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer held.Close()
	want := fmt.Sprintf("ccbot runs as process %d for %s and its socket does not answer", os.Getpid(), dir)

	t.Run("no socket", func(t *testing.T) {
		said := installed(t)(t, []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=1"}, exit.Failure, "resume", "api")
		assert.Contains(t, said, want)
	})
}

// Without a bot the whole configuration is needed, as for a start.
func TestChangesWithoutBotNeedConfiguration(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	before := tree(t, dir)
	environ := []string{"HOME=" + t.TempDir(), "CCBOT_DIR=" + dir}
	ccbot := installed(t)
	for _, args := range [][]string{{"resume", "api"}, {"recover"}} {
		said := ccbot(t, environ, exit.Misuse, args...)
		assert.Contains(t, said, "TELEGRAM_BOT_TOKEN is missing")
	}
	said := ccbot(t, environ, exit.Misuse, "resume")
	assert.Contains(t, said, "say which session: ccbot resume NAME|ID")
	assert.Equal(t, before, tree(t, dir))
}
