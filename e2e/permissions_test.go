package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// becomes waits until a message of the bot says text, and has no buttons left
// if spent.
func (w *world) becomes(m botapi.Message, text string, spent bool) botapi.Message {
	w.t.Helper()
	var now botapi.Message
	w.until("the message becomes "+text, func() bool {
		now = w.follow(m)
		return containsFold(now.Text, text) && (!spent || len(now.Keyboard) == 0)
	})
	return now
}

// waitsFor waits until an agent's presence file says that it waits.
func (w *world) waitsFor(what string) {
	w.t.Helper()
	w.until("the agent waits: "+what, func() bool { return w.waits(what) })
}

// waits reports whether an agent's presence file says that it waits for what; "" is anything.
func (w *world) waits(what string) bool {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.claude, "sessions", "*.json"))
	require.NoError(w.t, err)
	for _, file := range files {
		var p struct{ Status, WaitingFor string }
		data, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(data, &p) == nil && p.Status == "waiting" && (what == "" || p.WaitingFor == what) {
			return true
		}
	}
	return false
}

// answerInTerminal presses a key in the permission dialog of a session's window, as
// a person there does: again if it was not taken, as right after it is drawn. A key that comes
// when the dialog is gone would be a draft, or stop the turn.
func (w *world) answerInTerminal(name, key string) {
	w.t.Helper()
	const asks = "Do you want to proceed?"
	w.until("the dialog is drawn", func() bool { return w.screenHas(name, asks) })
	w.until("the dialog is answered", func() bool {
		w.tmux("send-keys", "-t", "=ccbot:="+name, key)
		for range 80 {
			if !w.screenHas(name, asks) {
				return true
			}
			time.Sleep(100 * time.Millisecond)
		}
		return false
	})
}

// TestP4_ChatAllowsPermission is the plain case: one message, one tap, the outcome in the same
// message.
func TestP4_ChatAllowsPermission(t *testing.T) {
	inShortRun(t, "the hook asks the chat")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	id := w.say("bash touch a-marker")
	asked := w.hear(id, "wants to run a command")
	assert.Contains(t, asked.Text, "touch a-marker")
	w.tap(asked, "Allow")
	w.becomes(asked, "Allowed in the chat", true)
	w.hear(id, "pretended")
	assert.Equal(t, 1, w.heard("touch a-marker\n"), "one message for one request")
	w.stop()
}

// TestP4_DenialReasonReachesAgent denies with a reason in the next message: the agent reads it, and
// it is not typed as a prompt.
func TestP4_DenialReasonReachesAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	id := w.say("bash rm everything")
	asked := w.hear(id, "wants to run a command")
	w.tap(asked, "Deny with reason")
	w.becomes(asked, "your next message", false)
	w.say("use the bin instead")
	w.becomes(asked, "Denied in the chat", true)
	answer := w.hear(asked.ID, "I did not do it")
	assert.Contains(t, answer.Text, "use the bin instead")
	assert.Equal(t, []string{"bash rm everything"}, w.received(), "the reason is not typed")
	w.stop()
}

// TestP4_TextDuringQuestionIsOffered writes while a request waits: it may be
// given as the reason, or is typed afterwards.
func TestP4_TextDuringQuestionIsOffered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	id := w.say("bash make deploy")
	asked := w.hear(id, "wants to run a command")
	first := w.say("say later")
	list := w.hear(first, "work is waiting for your answer: permission for Bash")
	w.say("not on a Friday")
	w.tap(w.becomes(list, "2 messages wait.", false), "2. Deny with this text")
	w.becomes(asked, "Denied in the chat", true)
	w.becomes(list, "1 message goes to work.", true)
	answer := w.hear(asked.ID, "I did not do it")
	assert.Contains(t, answer.Text, "not on a Friday")
	w.hear(first, "later")
	assert.Equal(t, []string{"bash make deploy", "say later"}, w.received())
	w.stop()
}

// TestP4_TerminalAnswersFirst: the message follows, and its buttons are spent.
func TestP4_TerminalAnswersFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("bash touch one"), "wants to run a command")
	w.waitsFor("permission prompt")
	w.answerInTerminal("work", "1")
	w.becomes(asked, "Allowed in the terminal", true)

	asked = w.hear(w.say("bash touch two"), "wants to run a command")
	w.waitsFor("permission prompt")
	w.answerInTerminal("work", "Escape")
	w.becomes(asked, "Interrupted", true)

	asked = w.hear(w.say("bash touch three"), "wants to run a command")
	w.hear(w.say("/stop"), "work is waiting for your answer")
	w.tap(asked, "Deny")
	w.becomes(asked, "Denied", true)
	w.hear(w.say("say goes on"), "goes on")
	w.stop()
}

// TestP4_QuestionsAreAnsweredInTurn answers two questions, one of them in own
// words, and one of several answers.
func TestP4_QuestionsAreAnsweredInTurn(t *testing.T) {
	inShortRun(t, "the agent's questions")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("ask"), "Which database?")
	w.tap(asked, "SQLite")
	asked = w.becomes(asked, "Which language?", false)
	w.tap(asked, "Own words")
	w.becomes(asked, "next message", false)
	w.say("a bit of Zig")
	w.becomes(asked, "Answered in the chat", true)
	answer := w.hear(asked.ID, "Thank you")
	assert.Contains(t, answer.Text, `"Which database?"="SQLite"`)
	assert.Contains(t, answer.Text, `"Which language?"="a bit of Zig"`)

	asked = w.hear(w.say("ask multi"), "Which features?")
	w.tapLike(asked, "Logs")
	asked = w.becomes(asked, "Which features?", false)
	w.until("Logs is ticked", func() bool {
		asked = w.becomes(asked, "Which features?", false)
		return likeButton(asked, "☑") != ""
	})
	w.tapLike(asked, "Traces")
	w.until("both are ticked", func() bool {
		asked = w.becomes(asked, "Which features?", false)
		n := 0
		for _, row := range asked.Keyboard {
			for _, b := range row {
				if containsFold(b.Text, "☑") {
					n++
				}
			}
		}
		return n == 2
	})
	w.tap(asked, "Done")
	w.becomes(asked, "Answered in the chat", true)
	assert.Contains(t, w.hear(asked.ID, "Thank you").Text, `"Which features?"="Logs, Traces"`)
	w.stop()
}

// TestP4_PlanIsApprovedOrSentBack shows a plan, sends it back with a word, and
// approves the next one.
func TestP4_PlanIsApprovedOrSentBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("plan"), "proposes a plan")
	assert.Contains(t, asked.Text, "Change as little as possible")
	w.tap(asked, "Keep planning, say why")
	w.say("think of the tests")
	w.becomes(asked, "Denied in the chat", true)
	w.hear(asked.ID, "think of the tests")

	asked = w.hear(w.say("plan"), "proposes a plan")
	w.tap(asked, "Approve, allow edits")
	w.becomes(asked, "Approved in the chat", true)
	w.hear(asked.ID, "Plan approved")
	w.stop()
}

// TestP4_ArchiveEndsRequest: the buttons go with the session.
func TestP4_ArchiveEndsRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("bash touch nothing"), "wants to run a command")
	w.end("work")
	w.becomes(asked, "session ended", true)
	w.stop()
}

// TestP7_DialogsWithoutAHookHaveButtons answers the question whether a folder is
// trusted: by the words of its options, not by their place.
func TestP7_DialogsWithoutAHookHaveButtons(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "DEMOAGENT_TRUST=1")
	w.start()
	id := w.say("/new work " + w.dir)
	asked := w.hear(id, "Yes, I trust this folder")
	w.tapLike(asked, "Yes, I trust this folder")
	w.hear(id, "work is ready")
	w.becomes(asked, "", true)
	w.hear(w.say("say hello"), "hello")
	w.stop()
}

// TestP10_WithoutABotTheTerminalAsks: a request that comes while no bot runs is
// the terminal's alone, and the chat offers its keys afterwards.
func TestP10_WithoutABotTheTerminalAsks(t *testing.T) {
	inShortRun(t, "the hook alone")
	t.Parallel()
	ended := filepath.Join(t.TempDir(), "hooks")
	w := newWorld(t, "DEMOAGENT_HOOKS="+ended)
	w.start()
	w.open("work", w.dir)
	w.stop()
	w.typeInTerminal("work", "bash touch alone")
	w.waitsFor("permission prompt")
	w.until("the hook has found no bot", func() bool {
		events, _ := os.ReadFile(ended)
		return strings.Contains(string(events), "PermissionRequest")
	})
	w.start()
	asked := w.hear(0, "Do you want to proceed?")
	w.tapLike(asked, "Yes")
	w.hear(0, "pretended")
	w.stop()
}

// TestP7_RepositoryEnvironmentHidesNoRequest lets a repository set what would take the launch from
// the hook, or stop it.
func TestP7_RepositoryEnvironmentHidesNoRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.projectSets(map[string]any{"env": map[string]string{"CCBOT_LAUNCH": "", "GOMEMLIMIT": "x", "OPTIND": "x"}})
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("bash touch x"), "wants to run a command")
	w.tap(asked, "Allow")
	w.hear(asked.ID, "pretended")
	w.stop()
}

// TestP7_DialogWithoutHookOffersYesNo opens dialogs of an agent that runs no hook at all.
func TestP7_DialogWithoutHookOffersYesNo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env = append(w.env, "DEMOAGENT_NO_HOOKS=1")
	w.start()
	w.open("work", w.dir)
	dialog := w.hear(w.say("bash touch x"), "Do you want to proceed?")
	assert.Contains(t, dialog.Text, "Only the terminal asks this")
	assert.Equal(t, []string{"Yes", "No", "Esc"}, labels(dialog))
	w.tap(dialog, "Yes")
	w.hear(0, "pretended")
	question := w.hear(w.say("ask"), "Which database?")
	assert.Contains(t, labels(question), "SQLite")
	w.stop()
}

// TestP9_AgentSendsOwnFile runs `ccbot send` below an agent: a file in the session's folder
// arrives, a file elsewhere does not.
func TestP9_AgentSendsOwnFile(t *testing.T) {
	inShortRun(t, "the socket below an agent")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "report.txt"), []byte("all is well"), 0o600))
	id := w.say("!ccbot send report.txt --caption done")
	w.until("the file is in the chat", func() bool {
		for _, m := range w.api.Messages(w.chat()) {
			if m.ID > id && m.Document != nil && m.Document.FileName == "report.txt" && m.Caption == "done" {
				return true
			}
		}
		return false
	})

	outside := filepath.Join(t.TempDir(), "elsewhere.txt")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o600))
	id = w.say("!ccbot send " + outside)
	w.hear(id, "it lies outside of the folder in which the session began")
	for _, m := range w.api.Messages(w.chat()) {
		assert.False(t, m.ID > id && m.Document != nil, "nothing was sent")
	}
	w.stop()
}
