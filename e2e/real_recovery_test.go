package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/e2e/messagesapi"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// TestRealConversationComesBackElsewhere closes a session's window while no bot runs. A person
// resumes the conversation on ccbot's tmux server: ccbot continues with it there in a new record,
// and reports that once.
func TestRealConversationComesBackElsewhere(t *testing.T) {
	t.Parallel()
	t.Run("resume", func(t *testing.T) { testComesBack(t, func(id string) string { return "--resume " + id }) })
	// The presence file names another id for a moment.
	t.Run("continue", func(t *testing.T) { testComesBack(t, func(string) string { return "--continue" }) })
}

func testComesBack(t *testing.T, flags func(id string) string) {
	t.Parallel()
	w, api := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say before the loss"), "before the loss")
	before := w.record("work")
	require.NotNil(t, before.Binding)
	w.stop()
	w.tmux("kill-pane", "-t", before.Binding.Pane)
	w.until("the agent is gone", func() bool { return !w.alive(before.Binding.Agent) })
	w.start()
	w.hear(0, "disappeared: work")
	assert.Equal(t, string(session.Lost), w.stateOf("work"))

	id, desk := before.AgentSessionID.String(), w.ccbotTerminal()
	pane, _ := desk.shell()
	desk.enter(pane, w.agentPath()+" "+flags(id))
	told := w.hear(0, "work is connected")
	writers := w.writersOf(id)
	require.Len(t, writers, 1)
	w.endLater(writers[0])
	w.until("it is on disk", func() bool { return w.stateOf("work") == string(session.Running) }) // it is reported before
	after := w.record("work")
	assert.Equal(t, before.ID, after.ID)
	assert.Equal(t, session.Running, after.State)
	assert.Equal(t, id, after.AgentSessionID.String())
	assert.Contains(t, told.Text, after.Binding.Window)

	w.hear(w.say("say at the desk"), "at the desk")
	asked, ok := api.Asked("say at the desk")
	require.True(t, ok)
	assert.True(t, asked.Says("before the loss"), "the model sees what was said before")
	assert.Contains(t, desk.screen(pane), "say at the desk")
	assert.Equal(t, []process.Identity{writers[0]}, w.writersOf(id), "nobody else writes it")
	assert.Empty(t, w.windows(), "ccbot has started none")
	assert.Equal(t, 1, w.told("work is connected"))
	w.stop()
}

// TestRealRebootRestoresAll reboots under a session whose model came by a flag and whose mode was
// switched in the terminal. A tap restores conversation, mode and model, though new sessions get
// another one.
func TestRealRebootRestoresAll(t *testing.T) {
	t.Parallel()
	const model, another = "claude-sonnet-4-5", "claude-opus-4-5"
	w, api := newRealWorld(t)
	w.start("CLAUDE_FLAGS=--model " + model)
	w.open("work", w.dir)
	for _, footer := range []string{"accept edits on", "plan mode on"} {
		w.tmux("send-keys", "-t", "=ccbot:=work", "BTab")
		w.until("the footer says "+footer, func() bool { return w.screenHas("work", footer) })
	}
	w.hear(w.say("say before the reboot"), "before the reboot")
	asked, ok := api.Asked("say before the reboot")
	require.True(t, ok)
	require.Equal(t, model, asked.Model)
	w.until("its turn is over", func() bool { return w.phaseOf("work") == "idle" }) // otherwise the chat offers [Continue] too
	id := w.claudeID()
	w.stop()
	w.reboot()

	before := w.lastID()
	w.start("CLAUDE_FLAGS=--model " + another)
	told := w.offered(before, "Resume")
	assert.Contains(t, told.Text, "1 session ended when the machine shut down: work.")
	require.Len(t, told.Keyboard, 1)
	assert.Len(t, told.Keyboard[0], 1, "one session: one button")
	assert.Empty(t, w.windows(), "nothing comes back unasked")
	w.tap(told, "Resume")
	w.allAreBack([]string{"work"}, told.ID)
	assert.Equal(t, id, w.claudeID())
	w.until("it plans again", func() bool { return w.screenHas("work", "plan mode on") })

	w.hear(w.say("say after the reboot"), "after the reboot")
	asked, ok = api.Asked("say after the reboot")
	require.True(t, ok)
	assert.Equal(t, model, asked.Model)
	assert.True(t, asked.Says("before the reboot"), "the model sees what was said before")
	assert.True(t, w.screenHas("work", "plan mode on"))
	w.stop()
}

// TestRealInterruptedTurnGoesOn reboots under a session with a running command, and under one that
// waits for a permission. The start reports both, continues the first with one prompt, and the
// second after a tap.
func TestRealInterruptedTurnGoesOn(t *testing.T) {
	t.Parallel()
	w, api := newRealWorld(t)
	w.start()
	w.open("waits", w.dir)
	w.hear(w.say("bash touch never"), "wants to run a command")
	w.open("works", w.dir)
	asks := w.hear(w.say("bash tail -f /dev/null"), "wants to run a command")
	w.until("both wait", func() bool {
		return w.record("works").Phase == "waiting_permission" && w.record("waits").Phase == "waiting_permission"
	})
	w.tap(asks, "Allow")
	w.until("the command runs", func() bool { return w.record("works").Phase == "working" })
	w.stop()
	w.reboot()

	before := w.lastID()
	w.start("CCBOT_RESUME_ON_START=continue", "CCBOT_CONTINUE_TEXT=say going on")
	told := w.offered(before, "Continue")
	assert.Contains(t, told.Text, "works: It was working when it died.")
	assert.Contains(t, told.Text, "waits: It was waiting for you when it died.")
	assert.Contains(t, told.Text, "Continued automatically: works.")
	w.allAreBack([]string{"waits", "works"}, told.ID)
	w.until("the one at work goes on", func() bool { r := w.record("works"); return r.Unfinished() == nil })
	var asked messagesapi.Request
	w.until("the model is asked", func() (ok bool) { asked, ok = api.Asked("say going on"); return ok })
	assert.True(t, asked.Says("tail -f /dev/null"), "the model sees what was under way")
	waits := w.record("waits")
	assert.NotNil(t, waits.Unfinished(), "nobody has decided for it")

	w.tap(w.hear(told.ID, "waits is ready"), "Continue")
	w.until("and so does the other", func() bool { r := w.record("waits"); return r.Unfinished() == nil })
	w.until("a turn has ended well", func() bool { r := w.record("works"); return r.Unfinished() == nil && r.Progress.OpenTurn == nil })
	assert.NoFileExists(t, w.dir+"/never")
	w.stop()
}
