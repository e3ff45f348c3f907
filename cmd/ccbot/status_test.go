package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/show"
	"ccbot/internal/git"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/internal/session/sessiontest"
	"ccbot/internal/spool"
	"ccbot/port"
)

// repository is one with a commit, and a file changed since.
func repository(t *testing.T) (dir, commit string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.email=nobody@localhost", "-c", "user.name=nobody"}, args...)...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	file := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(file, []byte("one\n"), 0o600))
	run("init", "-q", "-b", "main")
	run("add", "a")
	run("commit", "-q", "-m", "first")
	require.NoError(t, os.WriteFile(file, []byte("one\ntwo\n"), 0o600))
	return dir, run("rev-parse", "HEAD")
}

// TestStatusTellsAllOfOneSession, for people and for programs.
func TestStatusTellsAllOfOneSession(t *testing.T) {
	programtest.Require(t, "git")
	dir, commit := repository(t)
	r := sessiontest.Full()
	r.Dir, r.Binding, r.Prompts = dir, nil, []string{"7", "8"}
	r.Launch = &session.Launch{PermissionMode: "ask", Flags: []string{"--model", "opus"}}
	r.Progress.PermissionMode, r.GitStart = "plan", &git.State{Root: dir, Branch: "main", Head: commit, At: noon}
	r.Progress.Tasks[0].Text = "a\x1b[31m"
	r.History = []session.Change{{At: noon, From: session.Starting, To: session.Running, Why: "ready"}}
	beside := one(3, "beta", func(b *session.Record) { b.State, b.Dir = session.Running, dir })
	state := stateWith(t, r, beside)
	entry, err := json.Marshal(inbox.Entry{Version: inbox.Version, Key: "7", State: inbox.Held, Session: r.ID, Received: noon, Text: "run\nit"})
	require.NoError(t, err)
	require.NoError(t, spool.Folder{Path: filepath.Join(state, "inbox")}.Put("7.json", entry))
	environ := []string{"HOME=" + state, "CCBOT_DIR=" + state, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(state), "PATH=" + os.Getenv("PATH")}

	code, out, errs := ccbot(environ, "status", "api", "--json")
	require.Equal(t, exit.OK, code, errs)
	var got show.Details
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.Equal(t, r.Progress.Tokens, got.Tokens)
	assert.Equal(t, []string{"--model", "opus"}, got.Flags)
	assert.Equal(t, []string{"ask", "plan", "yes", "main"}, []string{got.Mode, got.ClaudeMode, got.Repository, got.Git.Branch})
	assert.Equal(t, []port.Task{{Text: "a\x1b[31m", Status: "completed"}, {Text: "b", Status: "in_progress"}}, got.TaskList)
	assert.Equal(t, &git.Changes{Files: 1, Insertions: 1}, got.Changes)
	assert.Equal(t, commit, got.Start.Head)
	assert.Equal(t, []string{"beta"}, got.SameDir)
	assert.Equal(t, []show.Queued{{Text: "run\nit", Received: noon}}, got.Queue)
	assert.Equal(t, r.History, got.Events)
	assert.NotNil(t, got.Writers)
	assert.Contains(t, out, `"other_writers": []`)

	code, out, errs = ccbot(environ, "changes", "api", "none")
	assert.Equal(t, []any{exit.Failure, "", "ccbot: none is not among the changes: `ccbot changes api` lists them\n"}, []any{code, out, errs})
	code, out, errs = ccbot(environ, "status", "api")
	require.Equal(t, exit.OK, code, errs)
	assert.NotContains(t, out, "\x1b")
	for _, line := range []string{
		`^api  ` + r.ID.String() + `  waiting for an answer$`, `^  phase     waiting for an answer for \d+d$`, `^  folder    ` + dir + `$`,
		`^            beta also works in this folder$`, `^  model     Opus 5\.5$`, `^  mode      ask; Claude Code's own: plan; --model opus$`,
		`^  used      7 turns, \$3\.50, context 42%, tokens: 3 in, 3 from the cache, 4 out$`,
		`^            turns, tokens and tasks are not counted from the beginning: the conversation is long$`,
		`^  git       branch main; since the start \(` + commit[:8] + `\): 1 file changed, \+1 -0, 0 not tracked$`,
		`^  tasks     \[x\] a.\[31m$`, `^            \[>\] b$`, `^  waits     \d+d ago: run it$`, `^  event     \S+ \S+  starting → running: ready$`,
	} {
		assert.Regexp(t, "(?m)"+line, out)
	}
}

// TestP9_ChangesVerbStaysInFolder: it shows no file outside of the session's folder, none of
// ccbot's own, and nothing of a session outside of CCBOT_ROOTS.
func TestP9_ChangesVerbStaysInFolder(t *testing.T) {
	programtest.Require(t, "git")
	top, commit := repository(t)
	top, err := filepath.EvalSymlinks(top)
	require.NoError(t, err)
	dir := filepath.Join(top, "sub")
	require.NoError(t, os.Mkdir(dir, 0o700))
	r := one(1, "api", func(r *session.Record) { r.Dir, r.GitStart = dir, &git.State{Root: top, Head: commit} })
	state := stateWith(t, r)
	settings := filepath.Join(dir, "hidden")
	require.NoError(t, os.WriteFile(settings, []byte("TELEGRAM_BOT_TOKEN="+goodToken+"\n"), 0o600))
	require.NoError(t, os.Symlink(settings, filepath.Join(state, "ccbot.env")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), []byte("x\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(top, "secret"), []byte("x\n"), 0o600))
	environ := []string{"HOME=" + state, "CCBOT_DIR=" + state, "PATH=" + os.Getenv("PATH")}

	code, out, errs := ccbot(environ, "changes", "api")
	require.Equal(t, exit.OK, code, errs)
	assert.Equal(t, "2 files changed since the session's start: +1 -0\n  untracked not shown  sub/hidden\n  untracked +1 -0  sub/new\n"+
		"outside of the session's folder: 2 more files, not shown\n", out)
	code, out, errs = ccbot(environ, "changes", "api", "sub/hidden", "--json")
	require.Equal(t, exit.OK, code, errs)
	assert.NotContains(t, out, tokenSecret)
	for _, path := range []string{"secret", "a"} {
		code, out, errs = ccbot(environ, "changes", "api", path)
		assert.Equal(t, []any{exit.Failure, "", "ccbot: " + path + " is not among the changes: `ccbot changes api` lists them\n"}, []any{code, out, errs})
	}
	code, out, errs = ccbot(append(environ, "CCBOT_ROOTS="+state), "changes", "api")
	assert.Equal(t, []any{exit.Failure, ""}, []any{code, out})
	assert.Contains(t, errs, "is outside the allowed folders")
}

// TestStatusShowsUnreportedWriter: it reads, and notes nowhere that the writer was
// shown.
func TestStatusShowsUnreportedWriter(t *testing.T) {
	r := one(1, "api", func(r *session.Record) { r.AgentSessionID = uuid.New() })
	state := stateWith(t, r)
	claude := filepath.Join(state, "claude")
	require.NoError(t, os.WriteFile(claude, []byte("#!/bin/sh\nread line\n"), 0o700))
	cmd := exec.Command(claude, "--resume", r.AgentSessionID.String())
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })

	environ := []string{"HOME=" + state, "CCBOT_DIR=" + state, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(state), "PATH=" + os.Getenv("PATH")}
	code, out, errs := ccbot(environ, "status", "api", "--json")
	require.Equal(t, exit.OK, code, errs)
	var got show.Details
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Writers, 1, out)
	assert.Equal(t, cmd.Process.Pid, got.Writers[0].PID)
	assert.True(t, got.Writers[0].Proven)
}

// TestStatusClaimsNothing: a session with hardly any known facts, in a folder outside of a
// repository.
func TestStatusClaimsNothing(t *testing.T) {
	r := one(1, "web", func(r *session.Record) { r.Dir = t.TempDir() })
	state := stateWith(t, r)
	environ := []string{"HOME=" + state, "CCBOT_DIR=" + state, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(state), "PATH=" + os.Getenv("PATH")}
	code, out, errs := ccbot(environ, "status", "web", "--json")
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, `"git_repository": "no"`)
	for _, empty := range []string{"flags", "task_list", "same_dir_sessions", "queue", "last_events"} {
		assert.Contains(t, out, `"`+empty+`": []`)
	}
	for _, absent := range []string{"git", "git_start", "git_changes_since_start", "claude_permission_mode", "phase"} {
		assert.NotContains(t, out, `"`+absent+`":`)
	}
	code, out, errs = ccbot(environ, "status", "web")
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, "the folder is in no repository")
	for _, args := range [][]string{{"status"}, {"status", ""}, {"status", "a", "b"}} {
		code, _, _ = ccbot(environ, args...)
		assert.Equal(t, exit.Misuse, code)
	}
	code, _, errs = ccbot(environ, "status", "none")
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, errs, "there is no session \"none\"")
}
