package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
)

// remover is a person in a shell who removes ccbot.
type remover struct {
	terminal
	pid  int // of the shell
	runs int
}

// installedWorld is a world with all that ccbot makes on a machine: a bot with an agent, hooks, a
// service, a file from the chat, a completion. No service manager answers.
func installedWorld(t *testing.T) (*world, *remover) {
	t.Helper()
	w := newWorld(t)
	root := filepath.Dir(w.state)
	tools := filepath.Join(root, "tools")
	require.NoError(t, os.Mkdir(tools, 0o700))
	for _, manager := range []string{"systemctl", "launchctl", "loginctl"} { // this machine's own is left alone
		require.NoError(t, os.WriteFile(filepath.Join(tools, manager), []byte("#!/bin/sh\nexit 1\n"), 0o700)) //nolint:gosec // it is a program
	}
	for i, kv := range w.env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			w.env[i] = "PATH=" + tools + ":" + path
		}
	}
	w.settings(slices.Clone(w.env)...)
	w.start()
	w.open("work", w.dir)
	w.person.SendFile(w.chat(), "a.txt", "text/plain", []byte("a report"), "say read it")
	w.gets(1)
	term := w.newTerminal()
	term.says("ccbot hooks install")
	term.says("ccbot service install")
	completions := filepath.Join(root, ".local/share/bash-completion/completions")
	require.NoError(t, os.MkdirAll(completions, 0o700))
	term.says("ccbot completion bash > " + filepath.Join(completions, "ccbot"))
	pid := term.tmux("display-message", "-p", "-t", term.shell, "#{pane_pid}")
	p := &remover{terminal: term}
	for _, digit := range pid {
		p.pid = p.pid*10 + int(digit-'0')
	}
	return w, p
}

// begins runs ccbot uninstall in an empty terminal, with more variables.
func (r *remover) begins(env ...string) {
	r.w.t.Helper()
	r.runs++
	r.enter(r.shell, "clear; tmux clear-history; "+strings.Join(env, " ")+" ccbot uninstall; echo run''"+itoa(r.runs)+" ended with $?")
}

// said returns the terminal's content.
func (r *remover) said() string {
	r.w.t.Helper()
	return r.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", r.shell)
}

// asked waits for a question.
func (r *remover) asked(question string) {
	r.w.t.Helper()
	r.w.until("it asks: "+question, func() bool {
		last := strings.TrimSpace(r.said())
		last = last[strings.LastIndexByte(last, '\n')+1:]
		return strings.HasPrefix(last, question) && strings.HasSuffix(last, "[y/N]")
	})
}

func (r *remover) answers(answer string) { r.enter(r.shell, answer) }

// killed ends the program as a crash would.
func (r *remover) killed() {
	r.w.t.Helper()
	snap, err := r.w.table.Snapshot(r.w.t.Context())
	require.NoError(r.w.t, err)
	i := slices.IndexFunc(snap.Processes, func(p process.Process) bool {
		return p.PPID == r.pid && slices.Equal(p.Args[max(0, len(p.Args)-1):], []string{"uninstall"})
	})
	require.GreaterOrEqual(r.w.t, i, 0, "it does not run")
	require.NoError(r.w.t, syscall.Kill(snap.Processes[i].PID, syscall.SIGKILL))
	r.ended(137)
}

func (r *remover) ended(code int) (said string) {
	r.w.t.Helper()
	end := "run" + itoa(r.runs) + " ended with "
	r.w.until("it has ended", func() bool { return strings.Contains(r.said(), end) })
	said = r.said()
	require.Contains(r.w.t, said, end+itoa(code)+"\n")
	return said
}

// TestP8_UninstallContinuesAfterKills: each question comes again until it was answered, and none
// that was answered before.
func TestP8_UninstallContinuesAfterKills(t *testing.T) {
	t.Parallel()
	w, r := installedWorld(t)
	agents := w.agents()
	require.Len(t, agents, 1)
	note := filepath.Join(w.state, "notes")
	require.NoError(t, os.WriteFile(note, nil, 0o600))
	questions := []string{"End 1 session?", "Stop the bot,", "Take ccbot's hooks", "Close ccbot's own windows", "Remove the files from the chat",
		"Remove the completions", "Delete the state folder " + w.state + " with its ccbot.env"}
	for i, question := range questions {
		r.begins()
		r.asked(question)
		if i == 0 {
			assert.Contains(t, r.said(), "work, running in "+w.dir+": its agent lives")
			assert.Contains(t, r.said(), "Agents that live: 1, that may live: 0; ")
		}
		r.killed()
		r.begins()
		r.asked(question)
		r.answers("y")
		if i+1 < len(questions) {
			r.asked(questions[i+1])
			r.killed()
		}
		if i == 0 {
			assert.Equal(t, process.Gone, w.table.Liveness(agents[0]))
			assert.Contains(t, r.said(), "work is archived.")
		}
	}
	said := r.ended(0)
	assert.Contains(t, said, "stays: "+note+", which is not ccbot's")
	assert.Contains(t, said, "Delete by hand: "+filepath.Join(binaries, "ccbot-hook"))
	w.until("the bot has ended", w.bot.over)
	assert.Zero(t, w.bot.cmd.ProcessState.ExitCode(), "by itself: no signal was sent")

	left, err := os.ReadDir(w.state)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Equal(t, "notes", left[0].Name())
	assert.NoDirExists(t, filepath.Join(w.dir, ".ccbot-inbox"))
	root := filepath.Dir(w.state)
	assert.NoFileExists(t, filepath.Join(root, ".config/systemd/user/ccbot.service"))
	assert.NoFileExists(t, filepath.Join(root, ".local/share/bash-completion/completions/ccbot"))
	assert.NoFileExists(t, filepath.Join(w.claude, "settings.json"), "there was none before")
	assert.Empty(t, w.panes(), "the tmux server had no other window")

	r.begins() // once more
	assert.Contains(t, r.ended(0), "Nothing else of ccbot is left here.")
	assert.FileExists(t, note)
	left, err = os.ReadDir(w.state)
	require.NoError(t, err)
	assert.Len(t, left, 1, "a look makes nothing")
}

// TestP2_UninstallKeepsWhatAgentsNeed: an agent that is not ended keeps its hooks and its record,
// and the next bot has it.
func TestP2_UninstallKeepsWhatAgentsNeed(t *testing.T) {
	t.Parallel()
	w, r := installedWorld(t)
	agents := w.agents()
	said := filepath.Join(w.whole.TempDir(), "said")
	w.say("!" + filepath.Join(binaries, "ccbot") + " uninstall > " + said + " 2>&1")
	w.until("the agent has called it", func() bool { data, _ := os.ReadFile(said); return len(data) > 0 })
	data, err := os.ReadFile(said)
	require.NoError(t, err)
	assert.Equal(t, "ccbot: an agent may not do this\n", string(data))
	code, _, errs := r.call("ccbot uninstall < /dev/null").end()
	assert.Equal(t, []any{2, "ccbot: uninstall asks a person for each step: run it in a terminal\n"}, []any{code, errs})

	r.begins()
	r.asked("End 1 session?")
	r.answers("n")
	r.asked("Stop the bot,")
	r.answers("y")
	r.asked("Remove the completions")
	r.answers("")
	text := r.ended(1)
	assert.Contains(t, text, "stays: the state folder "+w.state+" (1 session not ended)")
	assert.Regexp(t, `stays: hooks in .*/settings.json SessionStart, UserPromptSubmit \(1 session not ended\)`, text)
	assert.Equal(t, agents, w.agents())
	w.until("the bot has ended", w.bot.over)
	assert.FileExists(t, filepath.Join(w.claude, "settings.json"))

	w.start()
	w.hear(w.say("say still here"), "still here")
	assert.Equal(t, agents, w.agents())
	w.stop()
	r.begins() // without a bot
	r.asked("End 1 session?")
	r.answers("y")
	r.asked("Take ccbot's hooks")
	r.answers("n")
	r.asked("Close ccbot's own windows")
	r.enter(r.shell, "\x03")
	assert.Contains(t, r.ended(1), "`ccbot uninstall` continues")
	assert.Equal(t, process.Gone, w.table.Liveness(agents[0]))
	assert.DirExists(t, w.state)
}

// TestP8_UninstallContinuesWithinAnEnd: a kill while the agent is ended without a bot.
func TestP8_UninstallContinuesWithinAnEnd(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"stop-recorded", "ended"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w, r := installedWorld(t)
			agents := w.agents()
			w.stop()
			file := filepath.Join(w.whole.TempDir(), "reached")
			r.begins("CCBOT_FAILPOINT="+point, "CCBOT_FAILFILE="+file)
			r.asked("End 1 session?")
			r.answers("y")
			w.until("it is there", func() bool { _, err := os.Stat(file); return err == nil })
			r.killed()
			r.begins()
			r.asked("End 1 session?")
			r.answers("y")
			r.asked("Stop the bot,")
			assert.Equal(t, process.Gone, w.table.Liveness(agents[0]))
			assert.Equal(t, "archived", w.stateOf("work"))
			assert.Contains(t, r.said(), "work is archived; how it ended: ccbot why work\n")
			r.answers("n")
			r.asked("Remove the completions")
			r.answers("n")
			assert.Contains(t, r.ended(1), "(the service would start the bot again)")
		})
	}
}
