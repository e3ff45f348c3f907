package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

func TestWhyTellsTheHistory(t *testing.T) {
	source := one(1, "api", func(r *session.Record) {
		r.State, r.ClosedReason = session.Lost, session.ClosedReboot
		r.History = []session.Change{
			{At: noon, To: session.Starting, Rule: "start", Why: "a new session was requested"},
			{At: noon.Add(time.Second), From: session.Starting, To: session.Running, Why: "it is \x1b[1mready"},
			{At: noon.Add(time.Minute), From: session.Running, To: session.Running, Rule: "recovery.take_over", Why: "begins: it went on"},
			{At: noon.Add(time.Hour), From: session.Running, To: session.Lost, Rule: "transfer", Why: "process 7 has it"},
		}
	})
	dir := stateWith(t, source, one(2, "web"))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir}
	code, out, errs := ccbot(environ, "why", source.ID.String())
	require.Equal(t, exit.OK, code, errs)
	at := func(after time.Duration) string { return noon.Add(after).Local().Format("2006-01-02 15:04:05") }
	assert.Equal(t, "api  "+source.ID.String()+`  lost (reboot)
`+at(0)+`  new → starting  start
    a new session was requested
`+at(time.Second)+`  starting → running  -
    it is ·[1mready
`+at(time.Minute)+`  stays running  recovery.take_over
    begins: it went on
`+at(time.Hour)+`  running → lost  transfer
    process 7 has it
`, out)

	code, out, errs = ccbot(environ, "why", "web", "--json")
	require.Equal(t, exit.OK, code, errs)
	var got show.Fate
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.Equal(t, show.Fate{ID: one(2, "web").ID, Name: "web", State: session.Archived, History: []session.Change{}}, got)

	cut := one(3, "cut", func(r *session.Record) {
		r.State, r.Exit = session.Completed, &session.Exit{Known: true, Signal: 9, At: noon, Screen: "not told"}
		r.Interruption = &session.Interruption{At: noon, Step: "make \x1b[1mtest", TasksDone: 3, TasksTotal: 5, Waited: true}
	})
	dir = stateWith(t, cut)
	environ = []string{"HOME=" + dir, "CCBOT_DIR=" + dir}
	code, out, errs = ccbot(environ, "why", "cut")
	require.Equal(t, exit.OK, code, errs)
	assert.Equal(t, "cut  "+cut.ID.String()+`  crashed
crashed: ended by signal 9
interrupted while it waited for a person; last step: make ·[1mtest; 3 of 5 tasks done
`, out)
	code, out, errs = ccbot(environ, "why", "cut", "--json")
	require.Equal(t, exit.OK, code, errs)
	got = show.Fate{}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.Equal(t, &show.Exit{Signal: 9, At: noon}, got.Exit)
	assert.True(t, got.Crashed)
	assert.Equal(t, cut.Interruption, got.Interruption)

	code, _, errs = ccbot(environ, "why", "web")
	assert.Equal(t, exit.Failure, code)
	assert.Equal(t, "ccbot: there is no session \"web\"; `ccbot list --all` shows all there are\n", errs)
	for _, args := range [][]string{{"why"}, {"why", ""}, {"why", "a", "b"}} {
		code, _, _ = ccbot(environ, args...)
		assert.Equal(t, exit.Misuse, code)
	}
}

func TestWhyNamesIgnoredProcesses(t *testing.T) {
	var all []process.Process
	for pid := 1; pid <= 60; pid++ {
		all = append(all, process.Process{Identity: process.Identity{PID: pid}, UID: 1001})
	}
	fate := show.FateOf(one(1, "api", func(*session.Record) {}))
	fate.Ignore(all)
	var out bytes.Buffer
	require.NoError(t, terminal.Show(&out, false, fate, fate.Print))
	assert.Contains(t, out.String(), "ignored: process 5 of user 1001 names the session; another user's command line does not count\n"+
		"ignored: 55 more such processes\n")
	assert.NotContains(t, out.String(), "process 6 ")
}
