package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
)

// TestErrorsAPersonSees makes impossible requests. Each answer is a sentence with the next step,
// and nothing incomplete remains.
func TestErrorsAPersonSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	file := filepath.Join(w.dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	w.hear(w.say("hello?"), "No session is open")
	w.hear(w.say("/new x /does/not/exist"), "does not exist")
	w.hear(w.say("/new x "+file), "not a folder")
	w.hear(w.say("/kill"), "No open session")
	w.hear(w.say("/kill nobody"), "There is no session nobody")
	w.hear(w.say("/resume"), "nothing to resume")
	w.hear(w.say("/list"), "No open sessions")
	assert.Empty(t, w.windows())
	files, err := os.ReadDir(filepath.Join(w.state, "sessions"))
	require.NoError(t, err)
	assert.Empty(t, files)
	w.stop()
}

// TestClaudeIsMissing starts a session without Claude Code on the machine.
func TestClaudeIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "CLAUDE_COMMAND=no-such-claude")
	w.start()
	w.hear(w.say("/new x "+w.dir), "Install Claude Code")
	assert.Empty(t, w.windows())
	w.stop()
}

// TestTwoSessions keeps two sessions apart, names the second with a free name, and switches by a
// tap.
func TestTwoSessions(t *testing.T) {
	inShortRun(t, "two sessions in one chat")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("/new work "+w.dir), "work-2 is ready")
	w.hear(w.say("say from the second"), "from the second")
	list := w.hear(w.say("/list"), "2 sessions")
	w.tap(list, "work")
	w.hear(w.say("say from the first"), "from the first")
	assert.Equal(t, []string{"work", "work-2"}, w.windows())
	w.stop()
}

// TestAgentEndsByItself ends the agent from inside, cleanly and by a crash.
func TestAgentEndsByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	ended := w.hear(w.say("/exit"), "work ended at your request")
	w.until("the dead pane is closed", func() bool { return len(w.windows()) == 0 })
	w.tap(ended, "Resume")
	w.hear(ended.ID, "work is ready")
	crashed := w.hear(w.say("crash"), "crashed (exit code 3)")
	w.hear(w.say("say to nobody"), "was not delivered")
	w.tap(crashed, "Resume")
	w.hear(crashed.ID, "work is ready")
	w.hear(w.say("say alive"), "alive")
	w.stop()
}

// TestP9_StrangersGetSilence writes and taps as a person who is not allowed.
func TestP9_StrangersGetSilence(t *testing.T) {
	inShortRun(t, "the list of people")
	t.Parallel()
	w := newWorld(t)
	w.start()
	stranger := w.api.Person(666, "Mallory")
	stranger.Send(666, "/new evil /tmp")
	stranger.Send(666, "/list")
	w.hear(w.say("/list"), "No open sessions")
	for _, m := range w.api.Messages(666) {
		assert.False(t, m.FromBot, "the bot said %q to a stranger", m.Text)
	}
	w.stop()
}

// TestP9_TokenIsNowhere greps everything that a run leaves: logs, files,
// the environment of tmux and of the agent.
func TestP9_TokenIsNowhere(t *testing.T) {
	inShortRun(t, "the environment of windows, logs and files")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	token := w.api.Token()
	_, secret, _ := strings.Cut(token, ":")
	assert.NotContains(t, w.tmux("show-environment", "-g"), secret)
	for _, id := range w.panes() {
		env, err := os.ReadFile(filepath.Join("/proc", itoa(id.PID), "environ"))
		if err == nil {
			assert.NotContains(t, string(env), secret, "environment of process %d", id.PID)
			assert.NotContains(t, string(env), "ALLOWED_USERS", "environment of process %d", id.PID)
		}
	}
	w.stop()
	assert.NotContains(t, w.bot.log.String(), secret)
	walkFiles(t, filepath.Dir(w.state), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		assert.NotContains(t, string(data), secret, path)
		return err
	})
}

// TestP2_SplitWindowKeepsPersonsPane kills a session whose window a person
// has split.
func TestP2_SplitWindowKeepsPersonsPane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.tmux("split-window", "-d", "-t", "=ccbot:work", "sleep 1000")
	asked := w.hear(w.say("/kill"), "End work")
	w.tap(asked, "Kill")
	receipt := w.hear(asked.ID, "work is archived")
	assert.Contains(t, receipt.Text, "Everything else in its window")
	assert.Equal(t, []string{"work"}, w.windows(), "the window lives on with the person's pane")
	w.stop()
}

// TestTwoPeople lets two people use one session. Who taps its name looks at it, and it stays where the
// other reads it; a reply to what the look has shown is a prompt, and brings it along.
func TestTwoPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.api.Person(2002, "Ann")
	w.env = append(w.env, fmt.Sprintf("ALLOWED_USERS=%d,2002", w.person.ID()))
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say for the first"), "for the first")
	other.Send(2002, "/list")
	list := botapitest.Wait(t, w.api, 2002, func(m botapi.Message) bool { return m.FromBot && strings.Contains(m.Text, "1 session") })
	button, ok := buttonOf(list, "work")
	require.True(t, ok)
	_, err := other.Tap(2002, list.ID, button.Data)
	w.tapped(err)
	looked := botapitest.Wait(t, w.api, 2002, func(m botapi.Message) bool {
		return m.FromBot && strings.Contains(m.Text, "for the first") && m.ID > list.ID
	})
	w.hear(w.say("say for the first again"), "for the first again")
	other.Reply(2002, looked.ID, "say for the second")
	botapitest.Wait(t, w.api, 2002, func(m botapi.Message) bool { return m.FromBot && strings.Contains(m.Text, "for the second") })
	assert.Zero(t, w.heard("for the second"))
	asked := w.hear(w.say("/kill work"), "End work")
	w.tap(asked, "Kill")
	botapitest.Wait(t, w.api, 2002, func(m botapi.Message) bool { return m.FromBot && strings.Contains(m.Text, "archived work.") })
	w.stop()
}

// TestAgentAsksBeforeItIsReady starts an agent that first asks whether to trust the folder: the
// chat shows the question, and the session works once it is answered in the terminal.
func TestAgentAsksBeforeItIsReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "DEMOAGENT_TRUST=1")
	w.start()
	id := w.say("/new work " + w.dir)
	shown := w.hear(id, "is waiting for an answer")
	assert.Contains(t, shown.Text, "trust")
	held := w.say("say typed when it is ready")
	w.tmux("send-keys", "-t", "=ccbot:work", "Down")
	w.tmux("send-keys", "-t", "=ccbot:work", "Enter")
	w.hear(id, "work is ready")
	w.hear(held, "typed when it is ready")
	w.stop()
}

// TestAgentWithoutHooks and TestAgentWithoutPresence take away one source of
// news each: the session still becomes ready and answers.
func TestAgentWithoutHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "DEMOAGENT_NO_HOOKS=1")
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello without hooks"), "hello without hooks")
	w.hear(w.say("say and once more"), "and once more")
	assert.Zero(t, w.heard("not certain that"))
	w.stop()
}

func TestAgentWithoutPresence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "DEMOAGENT_NO_PRESENCE=1")
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello without presence"), "hello without presence")
	w.stop()
}
