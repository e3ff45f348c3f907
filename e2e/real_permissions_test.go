package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// settingsFiles are all settings files that Claude Code could have changed, with
// their bytes.
func (w *world) settingsFiles() map[string]string {
	w.t.Helper()
	found := make(map[string]string)
	for _, root := range []string{filepath.Dir(w.claude), w.claude, w.dir} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // the CLI removes files of its own while this walks
			}
			if strings.HasPrefix(d.Name(), "settings") && strings.HasSuffix(d.Name(), ".json") {
				data, err := os.ReadFile(path)
				require.NoError(w.t, err)
				found[path] = string(data)
			}
			return nil
		})
		require.NoError(w.t, err)
	}
	return found
}

// TestRealPermissions answers the real CLI's permission requests from the chat, with a reason, and
// in the terminal.
func TestRealPermissions(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	before := w.settingsFiles()

	// allowed in the chat
	id := w.say("bash touch allowed-marker")
	asked := w.hear(id, "wants to run a command")
	assert.Contains(t, asked.Text, "touch allowed-marker")
	w.tap(asked, "Allow")
	w.becomes(asked, "Allowed in the chat", true)
	w.hear(asked.ID, "tool result")
	assert.FileExists(t, filepath.Join(w.dir, "allowed-marker"))

	// denied with a reason that Claude then reads
	asked = w.hear(w.say("bash touch denied-marker"), "wants to run a command")
	w.tap(asked, "Deny with reason")
	w.becomes(asked, "your next message", false)
	w.say("markers are out of fashion")
	w.becomes(asked, "Denied in the chat", true)
	w.hear(asked.ID, "tool result: The user denied this from the chat. They wrote: markers are out of fashion")
	assert.NoFileExists(t, filepath.Join(w.dir, "denied-marker"))

	// answered in the terminal first: yes, then Esc
	asked = w.hear(w.say("bash touch desk-marker"), "wants to run a command")
	w.waitsFor("permission prompt")
	w.answerInTerminal("work", "1")
	w.becomes(asked, "Allowed in the terminal", true)
	w.until("the command ran", func() bool { _, err := os.Stat(filepath.Join(w.dir, "desk-marker")); return err == nil })
	asked = w.hear(w.say("bash touch esc-marker"), "wants to run a command")
	w.waitsFor("permission prompt")
	w.answerInTerminal("work", "Escape")
	w.becomes(asked, "Interrupted", true)

	// for this session: the second same command asks nothing
	asked = w.hear(w.say("bash npm --version && touch session-marker"), "wants to run a command")
	assert.Contains(t, asked.Text, "until the session ends")
	w.tap(asked, "Allow for session")
	w.becomes(asked, "Allowed in the chat for this session", true)
	w.hear(asked.ID, "tool result")
	n := w.heard("wants to run a command")
	id = w.say("bash npm --version && touch session-marker")
	w.hear(id, "tool result")
	assert.Equal(t, n, w.heard("wants to run a command"), "it is not asked again")
	assert.Equal(t, before, w.settingsFiles(), "no settings file changed")
	w.stop()
}

// TestRealQuestionsAndPlans answers AskUserQuestion and ExitPlanMode of the real
// CLI from the chat.
func TestRealQuestionsAndPlans(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)

	asked := w.hear(w.say("ask"), "Which database?")
	w.tap(asked, "SQLite")
	asked = w.becomes(asked, "Which language?", false)
	w.tap(asked, "Go")
	w.becomes(asked, "Answered in the chat", true)
	answer := w.hear(asked.ID, "tool result")
	assert.Contains(t, answer.Text, `"Which database?"="SQLite"`)
	assert.Contains(t, answer.Text, `"Which language?"="Go"`)

	w.tmux("send-keys", "-t", "=ccbot:=work", "BTab")
	w.until("edits are accepted", func() bool { return w.screenHas("work", "accept edits on") })
	w.tmux("send-keys", "-t", "=ccbot:=work", "BTab")
	w.until("plan mode is on", func() bool { return w.screenHas("work", "plan mode on") })
	asked = w.hear(w.say("plan"), "proposes a plan")
	assert.Contains(t, asked.Text, "Do the first thing")
	w.tap(asked, "Keep planning, say why")
	w.becomes(asked, "your next message", false)
	w.say("a third thing is missing")
	w.becomes(asked, "Denied in the chat", true)
	w.hear(asked.ID, "a third thing is missing")
	asked = w.hear(w.say("plan"), "proposes a plan")
	w.tap(asked, "Approve")
	w.becomes(asked, "Approved in the chat", true)
	w.hear(asked.ID, "approved your plan")
	w.until("every edit is asked about", func() bool { return w.screenHas("work", "manual mode on") })
	w.stop()
}

// TestRealCrashWhileARequestWaits kills the bot with -9 while the real CLI asks:
// the dialog stands, and after a restart the same message is right.
func TestRealCrashWhileARequestWaits(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("bash touch survivor-marker"), "wants to run a command")
	w.waitsFor("permission prompt")
	w.shownIs(asked)
	w.kill9()
	w.until("the dialog stands", func() bool { return w.screenHas("work", "Do you want to proceed?") })
	w.start()
	w.tap(asked, "Allow")
	w.becomes(asked, "Allowed in the chat", true)
	w.hear(asked.ID, "tool result")
	assert.FileExists(t, filepath.Join(w.dir, "survivor-marker"))

	asked = w.hear(w.say("bash touch meanwhile-marker"), "wants to run a command")
	w.waitsFor("permission prompt")
	w.shownIs(asked)
	w.kill9()
	w.answerInTerminal("work", "Escape")
	w.start()
	w.becomes(asked, "Interrupted", true)
	assert.Equal(t, 1, w.heard("survivor-marker"), "one message for one request")
	w.stop()
}

// TestRealTrustIsAnsweredFromTheChat opens a folder that the real CLI does not
// know: its question has no hook, so the chat offers what the terminal shows.
func TestRealTrustIsAnsweredFromTheChat(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	unknown := t.TempDir()
	id := w.say("/new work " + unknown)
	asked := w.hear(id, "Yes, I trust this folder")
	w.tapLike(asked, "Yes, I trust this folder")
	w.hear(id, "work is ready")
	w.hear(w.say("say trusted"), "trusted")
	w.until("the record has model and context", func() bool {
		u := w.records()[0].Usage
		return u != nil && u.Model != ""
	})
	w.stop()
}

// TestRealSubagentAsks lets a background subagent of the real CLI ask: its
// request outlives the turn, and no dialog is drawn while the chat has it.
func TestRealSubagentAsks(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("agent bash touch subagent-marker"), "asked by a subagent")
	assert.False(t, w.screenHas("work", "Do you want to proceed?"))
	w.until("the record says that it waits", func() bool { return w.phaseOf("work") == "waiting_permission" })
	w.hear(w.say("/list"), "work · Bash")
	w.tap(asked, "Allow")
	w.becomes(asked, "Allowed in the chat", true)
	w.until("the command ran", func() bool { _, err := os.Stat(filepath.Join(w.dir, "subagent-marker")); return err == nil })

	asked = w.hear(w.say("agent bash touch desk-marker"), "asked by a subagent")
	w.tap(asked, "Ask in the terminal")
	shown := w.hear(asked.ID, "Do you want to proceed?")
	w.tapLike(shown, "Yes")
	w.becomes(asked, "Allowed in the terminal", true)
	w.until("the command ran", func() bool { _, err := os.Stat(filepath.Join(w.dir, "desk-marker")); return err == nil })
	w.stop()
}

// TestRealHandStartedSessionIsKnown installs the hooks and starts the real CLI
// by hand: its binding is written, and nothing else.
func TestRealHandStartedSessionIsKnown(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	require.NoError(t, os.MkdirAll(w.state, 0o700))
	hooks := func(verb string) {
		cmd := exec.Command(filepath.Join(binaries, "ccbot"), "hooks", verb)
		cmd.Env = w.env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	hooks("install")
	hooks("status")
	d := w.newPersonTerminal()
	agent := d.agent("--session-id", uuid.NewString())
	w.until("its binding is there", func() bool {
		found, err := filepath.Glob(filepath.Join(w.state, "bindings", fmt.Sprintf("*-%d-%d.json", agent.PID, agent.Start)))
		return err == nil && len(found) == 1
	})
	assert.NoDirExists(t, filepath.Join(w.state, "events"), "no event of a session that is not ccbot's")
	hooks("uninstall")
	settings, err := os.ReadFile(filepath.Join(w.claude, "settings.json"))
	require.NoError(t, err)
	assert.NotContains(t, string(settings), "ccbot-hook")
	assert.Contains(t, string(settings), "defaultMode", "what is not ours stays")
}

// TestRealP9_CardHidesNoCharacter makes the real CLI run a file whose name looks like another
// command.
func TestRealP9_CardHidesNoCharacter(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	for name, script := range map[string]string{"deploy": "touch deployed", "deploy\u00a0--dry-run": "touch other"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700)) //nolint:gosec // it is run
	}
	w.start()
	w.open("work", w.dir)

	asked := w.hear(w.say("bash ./deploy\u00a0--dry-run"), "wants to run a command")
	assert.Contains(t, asked.Text, "./deploy⟨U+00A0⟩--dry-run")
	assert.Contains(t, asked.Text, "Not everything is visible here")
	assert.NotContains(t, labels(asked), "Allow")
	w.tap(asked, "Show all")
	all := w.hear(asked.ID, "The whole request:")
	assert.Contains(t, all.Text, "./deploy⟨U+00A0⟩--dry-run")
	w.until("the request can be allowed", func() bool {
		asked = w.hear(all.ID, "wants to run a command")
		_, can := asked.Find("Allow")
		return can
	})
	w.tap(asked, "Allow")
	w.hear(asked.ID, "tool result")
	assert.FileExists(t, filepath.Join(w.dir, "other"), "the card named the file that ran")
	assert.NoFileExists(t, filepath.Join(w.dir, "deployed"))

	asked = w.hear(w.say("bash ./deploy \\ \n --dry-run"), "wants to run a command")
	assert.Contains(t, asked.Text, "./deploy \\⟨1×␠⟩\n --dry-run", "the second line is a command")
	assert.NotContains(t, labels(asked), "Allow")
	w.tap(asked, "Deny")
	w.becomes(asked, "Denied in the chat", true)
	w.stop()
}
