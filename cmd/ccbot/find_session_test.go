package main

import (
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
	"ccbot/internal/session"
)

func TestP9_OutputMovesNoCursor(t *testing.T) {
	for in, want := range map[string]string{
		"api": "api", "каталог 東": "каталог 東", "a\x1b[2Jb": "a·[2Jb", "a\nb\tc\r": "a·b·c·",
		"a\u202eb": "a·b", "\u009b31m": "·31m", "a\u00a0\u3164": "a··", "bad\xff": "bad\uFFFD",
	} {
		assert.Equal(t, want, terminal.Printable(in), "%q", in)
	}
}

// ccbot runs the program in this process.
func ccbot(environ []string, args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = run(args, environ, &out, &errs)
	return code, out.String(), errs.String()
}

// TestP8_ReadingVerbsChangeNothing holds the lock, as a bot does, and has files in the folder that
// a start would quarantine.
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

// Without a state folder there is nothing to read, and nothing is made.
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
