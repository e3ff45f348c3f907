package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/show"
	"ccbot/try/botapi"
)

// terminal is a shell of a person who calls verbs of ccbot.
type terminal struct {
	*personTerminal
	shell string
}

func (w *world) newTerminal() terminal {
	w.t.Helper()
	d := w.newPersonTerminal(w.env...)
	shell, _ := d.shell()
	d.enter(shell, "alias ccbot="+filepath.Join(binaries, "ccbot"))
	return terminal{d, shell}
}

// called is a running shell line.
type called struct {
	w    *world
	path string
}

// call starts a line without waiting.
func (t terminal) call(line string) called {
	t.w.t.Helper()
	c := called{t.w, filepath.Join(t.w.whole.TempDir(), uuid.NewString())}
	t.enter(t.shell, "{ "+line+" ; } > "+c.path+".out 2> "+c.path+".err; echo $? > "+c.path+".part; mv "+c.path+".part "+c.path+".code")
	return c
}

// end waits until the line has ended.
func (c called) end() (code int, out, errs string) {
	c.w.t.Helper()
	c.w.until("the command has ended", func() bool { _, err := os.Stat(c.path + ".code"); return err == nil })
	read := func(end string) string {
		data, err := os.ReadFile(c.path + end)
		require.NoError(c.w.t, err)
		return string(data)
	}
	code, err := strconv.Atoi(strings.TrimSpace(read(".code")))
	require.NoError(c.w.t, err)
	return code, read(".out"), read(".err")
}

// says runs a line that must succeed, and returns its output.
func (t terminal) says(line string) string {
	t.w.t.Helper()
	code, out, errs := t.call(line).end()
	require.Zero(t.w.t, code, "%s: %s", line, errs)
	return out
}

// fails runs a line that must fail, and returns its error.
func (t terminal) fails(line string) string {
	t.w.t.Helper()
	code, out, errs := t.call(line).end()
	require.Equal(t.w.t, 1, code, "%s: %s", line, errs)
	require.Empty(t.w.t, out)
	return errs
}

// TestP4_CLIUsesSessions uses sessions from start to end, with and without a bot.
func TestP4_CLIUsesSessions(t *testing.T) {
	inShortRun(t, "the verbs")
	t.Parallel()
	for name, bot := range map[string]bool{"through the bot": true, "without a bot": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if bot {
				w.start()
				w.say("/start") // else the bot may not write to the person
			}
			term := w.newTerminal()
			var made struct{ Name, Dir string }
			require.NoError(t, json.Unmarshal([]byte(term.says("ccbot new work "+w.dir+" --json")), &made))
			assert.Equal(t, "work", made.Name)
			assert.Equal(t, "hello there\n", term.says("ccbot send-prompt work 'say hello there' --wait"))
			assert.Equal(t, "one\n", term.says("echo say one | ccbot send-prompt wor - --wait"))
			assert.Equal(t, []string{"say hello there", "say one"}, w.received())

			var said []show.Entry
			require.NoError(t, json.Unmarshal([]byte(term.says("ccbot history work --json -n 2")), &said))
			require.Len(t, said, 2)
			assert.Equal(t, []string{"prompt", "say one", "answer", "one"}, []string{said[0].Kind, said[0].Text, said[1].Kind, said[1].Text})
			assert.Contains(t, term.says("ccbot history work 'hello there'"), "prompt: say hello there")

			assert.Contains(t, term.says("ccbot archive work --yes"), "work is archived.")
			assert.Equal(t, "archived", w.stateOf("work"))
			assert.Empty(t, w.windows())
			assert.Contains(t, term.fails("ccbot send-prompt work again"), "work has ended. Resume it: ccbot resume work")
			assert.Contains(t, term.fails("ccbot archive work --yes"), "work has ended")
			assert.Contains(t, term.fails("ccbot attach work"), "work has no window: it is archived")
			if !bot {
				return
			}
			w.find("the chat heard of the start", func(m botapi.Message) bool { return strings.Contains(m.Text, "work is ready") })
			w.find("and of the end", func(m botapi.Message) bool { return strings.Contains(m.Text, "work is archived.") })
			w.stop()
		})
	}
}

// TestP4_TwoPromptsAtOnce sends two prompts: each sender gets its answer.
func TestP4_TwoPromptsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	one, two := w.newTerminal(), w.newTerminal()
	first, second := one.call("ccbot send-prompt work 'say the first' --wait"), two.call("ccbot send-prompt work 'say the second' --wait --json")
	code, out, errs := first.end()
	assert.Equal(t, []any{0, "the first\n"}, []any{code, out}, errs)
	code, out, errs = second.end()
	require.Zero(t, code, errs)
	var answered struct{ Answer string }
	require.NoError(t, json.Unmarshal([]byte(out), &answered))
	assert.Equal(t, "the second", answered.Answer)
	assert.ElementsMatch(t, []string{"say the first", "say the second"}, w.received())
	w.stop()
}

// TestWaitReportsMissingAnswer runs with a bot, which asks the agent's question in the chat.
func TestWaitReportsMissingAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	assert.Contains(t, term.fails("ccbot send-prompt work error --wait"), "the turn of work has failed: ")
	assert.Contains(t, term.fails("ccbot send-prompt work /clear --wait"), "work has done /clear, which prints nothing")
	assert.Contains(t, term.fails("ccbot send-prompt work 'bash ls' --wait"), "work asks for something")
	w.tap(w.offered(0, "Deny"), "Deny")
	w.until("it asks no more", func() bool { return w.record("work").Phase == "idle" })

	stopped := term.call("ccbot send-prompt work 'slow 300' --wait")
	w.until("it works", func() bool { return w.begun("work", "slow 300") && w.record("work").Phase == "working" })
	said := w.say("/stop")
	code, _, errs := stopped.end()
	assert.Equal(t, []any{1, "ccbot: the turn of work was stopped\n"}, []any{code, errs})
	w.hear(said, "is interrupted") // until then /stop also holds what is sent

	crashed := term.call("ccbot send-prompt work crash --wait")
	code, _, errs = crashed.end()
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "work has ended (completed) without an answer")
	w.stop()
}

// TestWaitWithoutBotFreesLock: the lock is free once the agent has the prompt, and the result of
// the turn is printed.
func TestWaitWithoutBotFreesLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	term := w.newTerminal()
	term.says("ccbot new work " + w.dir)
	stopped := term.call("ccbot send-prompt work 'slow 300' --wait")
	w.until("the agent has it", func() bool { return w.begun("work", "slow 300") })
	w.start()
	w.until("it works", func() bool { return w.record("work").Phase == "working" })
	w.say("/stop")
	code, _, errs := stopped.end()
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "ccbot: the turn of work was stopped\n")
	w.stop()

	assert.Contains(t, term.fails("ccbot send-prompt work /clear --wait"), "work has done /clear, which prints nothing")
	assert.Regexp(t, `has ended(, and has not answered| \(completed\) without an answer)`, term.fails("ccbot send-prompt work crash --wait"))
	term.says("ccbot resume work")
	working := term.call("ccbot send-prompt work 'slow 300'")
	code, _, errs = working.end()
	require.Zero(t, code, errs)
	assert.Contains(t, term.fails("ccbot send-prompt work 'bash ls' --wait"), "work does not take the prompt now")
}

// TestP9_AgentCannotUseVerbs runs verbs in an agent's window; a wait that ends early withdraws
// nothing.
func TestP9_AgentCannotUseVerbs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	said := filepath.Join(w.whole.TempDir(), "said")
	w.say("!" + filepath.Join(binaries, "ccbot") + " send-prompt work again > " + said + " 2>&1")
	w.until("the agent has called it", func() bool { data, _ := os.ReadFile(said); return len(data) > 0 })
	data, err := os.ReadFile(said)
	require.NoError(t, err)
	assert.Equal(t, "ccbot: an agent may not do this\n", string(data))

	assert.Contains(t, term.fails("ccbot send-prompt work 'slow 100' --wait --timeout 10s"), "the prompt stays")
	w.until("the agent has it", func() bool { return w.begun("work", "slow 100") && len(w.record("work").Prompts) == 0 })
	term.call("ccbot send-prompt work 'say behind it' --wait")
	w.until("it waits", func() bool { return len(w.record("work").Prompts) > 0 })
	term.tmux("send-keys", "-t", term.shell, "C-c")
	w.until("nothing of the wait is left", func() bool {
		return !w.runs(filepath.Join(binaries, "ccbot"), "send-prompt", "work", "say behind it", "--wait")
	})
	assert.Len(t, w.record("work").Prompts, 1, "the prompt stays")
	w.say("/stop")
	w.until("the prompt is still there, and asked about", func() bool { return w.heard("say behind it") > 0 || len(w.received()) > 2 })
	w.stop()
}

// TestAttachShowsTheWindow: it attaches from another tmux server, and switches inside ccbot's.
func TestAttachShowsTheWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.open("other", w.dir)
	window := func(name string) string { return w.record(name).Binding.Window }
	term := w.newTerminal()
	term.enter(term.shell, "ccbot attach work")
	shown := func() string { return w.tmux("list-clients", "-F", "#{client_control_mode} #{window_id}") }
	w.until("the terminal shows it", func() bool { return strings.Contains(shown(), "0 "+window("work")) })

	inside, client := w.ccbotTerminal(), w.newTerminal()
	shell, _ := inside.shell()
	client.enter(client.shell, "env -u TMUX tmux -L "+w.socket+" attach-session -t "+shell)
	w.until("another terminal shows a shell", func() bool { return strings.Count(shown(), "0 @") == 2 })
	inside.enter(shell, "CCBOT_DIR="+w.state+" CCBOT_TMUX_SOCKET="+w.socket+" "+filepath.Join(binaries, "ccbot")+" attach other")
	w.until("it shows the other session", func() bool { return strings.Contains(shown(), "0 "+window("other")) })
	w.stop()
}
