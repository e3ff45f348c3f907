package main

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/internal/session/sessiontest"
)

// one, idOf and noon are shorter here, where most tests have a record.
var one, idOf, noon = sessiontest.Over, sessiontest.ID, sessiontest.Noon

// stateWith is a state folder with these records.
func stateWith(t *testing.T, records ...session.Record) (dir string) {
	t.Helper()
	dir = socketDir(t)
	store, err := session.Open(filepath.Join(dir, "sessions"), filepath.Join(dir, "quarantine"), time.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for _, r := range records {
		require.NoError(t, store.Create(r))
	}
	return dir
}

func TestFind(t *testing.T) {
	moved := func(r *session.Record) { r.Closed = session.ClosedTransferred }
	old, api, upper := one(1, "api", moved), one(2, "api"), one(3, "API2")
	twin1, twin2 := one(4, "twin"), one(5, "twin")
	gone := one(6, "gone", moved)
	hex := one(7, "019cb8f00001")
	records := []session.Record{old, api, upper, twin1, twin2, gone, hex}
	tests := []struct {
		name, what string
		want       session.Record
		err        string // part of it; empty: found
	}{
		{"a name", "API2", upper, ""},
		{"in other letters", "api2", upper, ""},
		{"the name went on to the successor", "api", api, ""},
		{"the id still is the source's", old.ID.String(), old, ""},
		{"of a name that nobody has any more", "gone", gone, ""},
		{"the end of an id", naming.ShortID(upper.ID), upper, ""},
		{"the beginning of a name", "g", gone, ""},
		{"the beginning of several, of which one is the successor", "ap", session.Record{}, "may be any of 2 sessions"},
		{"a name before an id", "019cb8f00001", hex, ""},
		{"the id that Claude Code has", upper.ClaudeSessionID.String(), upper, ""},
		{"shared with a source", api.ClaudeSessionID.String(), api, ""},
		{"two have the name", "twin", session.Record{}, naming.ShortID(twin2.ID)},
		{"the clock that all ids begin with", "019cb8f0-", session.Record{}, "there is no session"},
		{"nothing like it", "web", session.Record{}, "there is no session \"web\"; `ccbot list --all` shows all there are"},
		{"nil is nobody's", uuid.Nil.String(), session.Record{}, "there is no session"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := find(records, tt.what)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want.ID, got.ID)
		})
	}
}

func TestP9_WhatIsPrintedMovesNoCursor(t *testing.T) {
	for in, want := range map[string]string{
		"api": "api", "каталог 東": "каталог 東", "a\x1b[2Jb": "a\uFFFD[2Jb", "a\nb\tc\r": "a\uFFFDb\uFFFDc\uFFFD",
		"a\u202eb": "a\uFFFDb", "\u009b31m": "\uFFFD31m", "bad\xff": "bad\uFFFD",
	} {
		assert.Equal(t, want, terminal.Printable(in), "%q", in)
	}
}

// tree is everything below a folder: names, kinds, times and bytes.
func tree(t *testing.T, dir string) (lines []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		text := []byte(nil)
		if info.Mode().IsRegular() {
			text, err = os.ReadFile(path)
			require.NoError(t, err)
		}
		lines = append(lines, strings.Join([]string{path, info.Mode().String(), info.ModTime().String(), string(text)}, " "))
		return nil
	}))
	return lines
}

// ccbot runs the program in this process.
func ccbot(environ []string, args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = run(args, environ, &out, &errs)
	return code, out.String(), errs.String()
}

// TestP8_ReadingVerbsChangeNothing holds the lock meanwhile, as a bot does, and has
// in the folder what a start would put away.
func TestP8_ReadingVerbsChangeNothing(t *testing.T) {
	dir := stateWith(t, one(1, "api"), one(2, "web", func(r *session.Record) { r.State = session.Running }))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sessions", idOf(3).String()+".json"), []byte(`{"version":`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sessions", idOf(4).String()+".json"), []byte(`{"version":9999}`), 0o600))
	_, held, err := statefolder.Take(t.Context(), dir, "run", time.Second, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer held.Close()
	before := tree(t, dir)
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir), "PATH=" + os.Getenv("PATH")}
	for _, args := range [][]string{{"list"}, {"list", "--all"}, {"list", "--all", "--json"}, {"why", "api"}, {"why", "web", "--json"},
		{"why", "nobody"}, {"status", "api"}, {"status", "web", "--json"}, {"recover", "--dry-run"}, {"recover", "--dry-run", "--json"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			code, out, errs := ccbot(environ, args...)
			assert.Equal(t, before, tree(t, dir))
			if args[len(args)-1] == "nobody" {
				assert.Equal(t, exit.Failure, code)
				return
			}
			assert.Equal(t, exit.OK, code, errs)
			for _, id := range []uuid.UUID{idOf(3), idOf(4)} {
				assert.Contains(t, out+errs, id.String(), "what cannot be read is named")
			}
		})
	}
}

// Where ccbot never was, there is nothing to see, and nothing is made.
func TestReadingVerbsMakeNoFolder(t *testing.T) {
	home := t.TempDir()
	environ := []string{"HOME=" + home, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(home), "PATH=" + os.Getenv("PATH")}
	code, out, errs := ccbot(environ, "list", "--all")
	assert.Equal(t, []any{exit.OK, "no sessions\n", ""}, []any{code, out, errs})
	code, out, errs = ccbot(environ, "list", "--json")
	assert.Equal(t, []any{exit.OK, "[]\n", ""}, []any{code, out, errs})
	code, out, errs = ccbot(environ, "recover", "--dry-run")
	assert.Equal(t, []any{exit.OK, "looked at tmux -L ccbot-none-" + filepath.Base(home) + ", session ccbot\n0 to change, 0 notices; nothing was changed\n", ""}, []any{code, out, errs})
	assert.Empty(t, tree(t, home)[1:])
}
