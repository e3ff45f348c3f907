package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/show"
	"ccbot/internal/session"
	"ccbot/loop"
	"ccbot/port"
)

// TestEndTimeIsInZoneOfSettings not in the machine's.
func TestEndTimeIsInZoneOfSettings(t *testing.T) {
	c := loopVerbs{&call{environ: []string{"CCBOT_DIR=" + t.TempDir(), "HOME=" + t.TempDir(), "CCBOT_TIME_ZONE=Pacific/Kiritimati"}, stderr: io.Discard}}
	zone, err := time.LoadLocation("Pacific/Kiritimati")
	require.NoError(t, err)
	at, err := c.endTime("08:17")
	require.NoError(t, err)
	assert.Equal(t, "08:17", at.In(zone).Format("15:04"))
	assert.True(t, at.After(time.Now()))
	at, err = c.endTime("2999-01-31T08:00:00Z")
	require.NoError(t, err)
	assert.Equal(t, time.Date(2999, 1, 31, 8, 0, 0, 0, time.UTC), at)
	for _, text := range []string{"soon", "2001-01-31T08:00:00Z"} {
		_, err = c.endTime(text)
		assert.Error(t, err, text)
	}
}

// TestHelpOfRaiseSaysWhatIsAdded: its numbers are no bounds.
func TestHelpOfRaiseSaysWhatIsAdded(t *testing.T) {
	code, help, _ := ccbot([]string{"HOME=" + t.TempDir()}, "loop", "raise", "--help")
	assert.Equal(t, exit.OK, code)
	assert.NotContains(t, help, "end after")
	assert.Contains(t, help, "N more prompts")
	_, help, _ = ccbot([]string{"HOME=" + t.TempDir()}, "loop", "start", "--help")
	assert.Contains(t, help, "end after N prompts")
}

// TestP9_RepositorysTemplateIsShownAsItRuns: a folder's name cannot write to the terminal, and the
// check is shown as it was read.
func TestP9_RepositorysTemplateIsShownAsItRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "api\x1b[2J")
	file := filepath.Join(dir, ".ccbot", "loops", "fix.toml")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("task = '''\ncheck = 'make test'\n'''\ncheck = \"c\\u0075rl evil\"\n[bounds]\nturns = 1\n"), 0o600))
	state := stateWith(t, one(1, "api", func(r *session.Record) { r.State, r.Dir = session.Running, dir }))
	env := []string{"HOME=" + state, "CCBOT_DIR=" + state}
	code, out, _ := ccbot(env, "loop", "templates", "api")
	assert.Equal(t, exit.OK, code)
	assert.Contains(t, out, "fix: of ")
	assert.NotContains(t, out, "\x1b")
	_, _, said := ccbot(env, "loop", "start", "api", "--template", "fix")
	assert.NotContains(t, said, "\x1b")
	assert.Contains(t, said, "\ncheck: curl evil\n")
	assert.Contains(t, said, "Start this loop? [y/N]")
	_, _, said = ccbot(env, "loop", "start", "api", "--template", "fix", "--check", "true # mine")
	assert.Contains(t, said, "\ncheck: true # mine\n", "the flag wins")
}

// TestP9_BypassIsAskedAbout in the terminal, unless --yes says that nobody is to be asked.
func TestP9_BypassIsAskedAbout(t *testing.T) {
	state := stateWith(t, one(1, "api", func(r *session.Record) {
		r.State, r.Dir = session.Running, t.TempDir()
		r.Launch = &session.Launch{PermissionMode: "ask", Flags: []string{"--dangerously-skip-permissions"}}
	}), one(2, "web", func(r *session.Record) {
		r.State, r.Dir, r.Launch = session.Running, t.TempDir(), &session.Launch{PermissionMode: "ask"}
	}))
	starts := func(name string, more ...string) string {
		args := append([]string{"loop", "start", name, "fix it", "--check", "true", "--max-turns", "1"}, more...)
		_, _, said := ccbot([]string{"HOME=" + state, "CCBOT_DIR=" + state}, args...)
		return said
	}
	const warning, question, unasked = "the agent of api asks for no permissions\n", "Start this loop?", "no ccbot is running"
	said := starts("api")
	assert.Contains(t, said, warning+question)
	assert.NotContains(t, said, unasked)
	said = starts("api", "--yes")
	assert.Contains(t, said, warning)
	assert.NotContains(t, said, question)
	assert.Contains(t, said, unasked)
	said = starts("web")
	assert.NotContains(t, said, question)
	assert.Contains(t, said, unasked)
}

// TestSessionShowsLiveLoop in one line of status and why, with the state that its file has.
func TestSessionShowsLiveLoop(t *testing.T) {
	r := one(1, "api", func(r *session.Record) { r.State, r.Dir = session.Running, t.TempDir() })
	state := stateWith(t, r, one(2, "web", func(r *session.Record) { r.State, r.Dir = session.Running, t.TempDir() }))
	env := []string{"HOME=" + state, "CCBOT_DIR=" + state, "PATH=" + os.Getenv("PATH"), "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(state)}
	file := func(l port.Loop) show.LoopLine {
		l.ID, l.Session, l.Name, l.CreatedAt = uuid.New(), r.ID, "api", noon
		data, err := json.Marshal(loop.Loop{Version: loop.Version, Loop: l})
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(state, "loops"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(state, "loops", l.ID.String()+".json"), data, 0o600))
		return show.LoopLineOf(l)
	}
	live := file(port.Loop{State: port.LoopPaused, Reason: port.WhyAPIError, Step: port.LoopTurn, Iteration: 3, Used: port.LoopUsed{Turns: 4, Tokens: 2100, Cost: 0.5}})
	file(port.Loop{State: port.LoopDone, Step: port.LoopCheck, Iteration: 1})
	for _, verb := range []string{"status", "why"} {
		var got struct{ Loop *show.LoopLine }
		code, out, errs := ccbot(env, verb, "api", "--json")
		require.Equal(t, exit.OK, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		assert.Equal(t, &live, got.Loop, verb)
		_, out, _ = ccbot(env, verb, "api")
		assert.Regexp(t, `\n *loop:? +paused \(api_error\), iteration 3, fix: turn, turns 4, tokens 2100, \$0\.50\n`, out, verb)
		_, out, _ = ccbot(env, verb, "web")
		assert.NotContains(t, out, "iteration", verb)
	}
}

// TestFlagReplacesOnlyItsBound of a template; the result is shown before the start.
func TestFlagReplacesOnlyItsBound(t *testing.T) {
	state := stateWith(t, one(1, "api", func(r *session.Record) { r.State, r.Dir = session.Running, t.TempDir() }))
	file := filepath.Join(state, "templates", "night.toml")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("task = 'fix it'\ncheck = 'true'\n[bounds]\nturns = 20\ntokens = 5000\ncost = 5\nminutes = 60\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "one.toml"), []byte("task = 'fix it'\ncheck = 'true'\n[bounds]\nturns = 1\n"), 0o600))
	_, _, said := ccbot([]string{"HOME=" + state, "CCBOT_DIR=" + state}, "loop", "start", "api", "--template", "one")
	assert.Contains(t, said, "bounds: 1 turn\n")
	for flags, want := range map[string]string{
		"":                               "20 turns, 5000 tokens, $5.00, 60 minutes",
		"--max-turns 3":                  "3 turns, 5000 tokens, $5.00, 60 minutes",
		"--max-turns 0 --max-minutes 0":  "5000 tokens, $5.00",
		"--max-cost 0.5 --max-tokens 70": "20 turns, 70 tokens, $0.50, 60 minutes",
		"--until 2999-01-31T08:00:00Z":   "20 turns, 5000 tokens, $5.00, 60 minutes, until 2999-01-31T08:00:00Z",
	} {
		args := append([]string{"loop", "start", "api", "--template", "night"}, strings.Fields(flags)...)
		_, _, said := ccbot([]string{"HOME=" + state, "CCBOT_DIR=" + state}, args...)
		assert.Contains(t, said, "bounds: "+want+"\n", flags)
		assert.Contains(t, said, "no ccbot is running", flags)
	}
}

// TestEmptyFlagReplacesPart of a template, too: of a check, a word or a switch.
func TestEmptyFlagReplacesPart(t *testing.T) {
	full := port.LoopRequest{Task: "fix it", Check: "true", Worktree: true, LoopTerms: port.LoopTerms{StopWord: "DONE", ToDo: true},
		Bounds: port.LoopBounds{Turns: 1, NoCost: true}}
	for flags, want := range map[string]port.LoopRequest{
		"": full,
		"--check= --stop-word= --todo=false --worktree=false --no-cost=false": {Task: "fix it", Bounds: port.LoopBounds{Turns: 1}},
	} {
		cmd, q := loopVerbs{}.startCommand(), loopStart{}
		require.NoError(t, cmd.ParseFlags(strings.Fields(flags)))
		q.complete(cmd.Flags(), full)
		assert.Equal(t, want, q.LoopRequest, flags)
	}
}

// TestLoopIsFoundLikeSession: by the present name of its session or the name's beginning, by the
// end of the session's id, and by the loop's id.
func TestLoopIsFoundLikeSession(t *testing.T) {
	api, web := one(1, "fix-login"), one(2, "fix-logout")
	state := stateWith(t, api, web)
	require.NoError(t, os.Mkdir(filepath.Join(state, "loops"), 0o700))
	write := func(id byte, session uuid.UUID, age time.Duration, live port.LoopState) string {
		l := loop.Loop{Version: loop.Version, Loop: port.Loop{ID: uuid.UUID{15: id}, Session: session, Name: "api", Task: "fix it", State: live, Step: port.LoopTurn, CreatedAt: time.Now().Add(-age)}}
		data, err := json.Marshal(l)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(state, "loops", l.ID.String()+".json"), data, 0o600))
		return l.ID.String()
	}
	live, newer, other := write(1, api.ID, 3*time.Hour, port.LoopPaused), write(2, api.ID, time.Hour, port.LoopDone), write(3, web.ID, 2*time.Hour, port.LoopPaused)
	id := api.ID.String()
	for what, want := range map[string]string{"fix-login": live, "FIX-LOGI": live, id: live, id[len(id)-6:]: live, newer: newer, "fix-logout": other} {
		code, out, said := ccbot([]string{"HOME=" + state, "CCBOT_DIR=" + state}, "loop", "status", what, "--json")
		require.Equal(t, exit.OK, code, said)
		assert.Contains(t, out, want, what)
		assert.NotContains(t, out, `"api"`, "the name that it had")
	}
	for what, want := range map[string]string{"fix": "several sessions", "api": "has no loop"} {
		_, _, said := ccbot([]string{"HOME=" + state, "CCBOT_DIR=" + state}, "loop", "status", what)
		assert.Contains(t, said, want, what)
	}
}

// TestLoopIsFoundByItsFeature: what keeps a second loop away also finds the first one. A session of that name comes first.
func TestLoopIsFoundByItsFeature(t *testing.T) {
	api, web, login := one(1, "api"), one(2, "web"), one(3, "login")
	state := stateWith(t, api, web, login)
	require.NoError(t, os.Mkdir(filepath.Join(state, "loops"), 0o700))
	write := func(id byte, session uuid.UUID, feature string, in port.LoopState) string {
		l := loop.Loop{Version: loop.Version, Loop: port.Loop{ID: uuid.UUID{15: id}, Session: session, Feature: feature, Task: "fix it", State: in, Step: port.LoopTurn}}
		data, err := json.Marshal(l)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(state, "loops", l.ID.String()+".json"), data, 0o600))
		return l.ID.String()
	}
	write(1, web.ID, "sign-up", port.LoopDone)
	want := map[string]string{"sign-up": write(2, api.ID, "sign-up", port.LoopPaused), "login": write(3, login.ID, "", port.LoopPaused)}
	write(4, web.ID, "login", port.LoopDone)
	for what, id := range want {
		code, out, said := ccbot([]string{"HOME=" + state, "CCBOT_DIR=" + state}, "loop", "status", what, "--json")
		require.Equal(t, exit.OK, code, said)
		assert.Contains(t, out, id, what)
	}
	_, _, said := ccbot([]string{"HOME=" + state, "CCBOT_DIR=" + state}, "loop", "status", "sign")
	assert.Contains(t, said, "has no loop", "a feature has no short form")
}

// TestP9_RemovedLoopIsNotListed: its file has only the worktree that ccbot must still remove.
func TestP9_RemovedLoopIsNotListed(t *testing.T) {
	state := stateWith(t, one(1, "api"))
	require.NoError(t, os.Mkdir(filepath.Join(state, "loops"), 0o700))
	l := loop.Loop{Version: loop.Version, Loop: port.Loop{ID: uuid.UUID{15: 2}, Session: uuid.UUID{15: 3}, State: port.LoopOrphaned, Step: port.LoopCheck,
		Worktree: &port.LoopWorktree{Dir: "/src/api-2"}}}
	data, err := json.Marshal(l)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(state, "loops", l.ID.String()+".json"), data, 0o600))
	code, out, said := ccbot([]string{"HOME=" + state, "CCBOT_DIR=" + state}, "loop", "list", "--json")
	require.Equal(t, exit.OK, code, said)
	assert.NotContains(t, out, l.ID.String())
}
