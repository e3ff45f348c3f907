package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/try/botapi"
)

// TestP1_WriterBlocksResume starts the same conversation by hand
// after an archive, on a tmux server that ccbot does not know: the resume is
// refused with choices, what is known can be shown, and nothing is ended.
func TestP1_WriterBlocksResume(t *testing.T) {
	inShortRun(t, "a writer of another terminal")
	t.Parallel()
	for _, tt := range []struct {
		name, flag string
		prompted   bool
	}{
		{"resumed by hand", "--resume", true},
		{"started by hand with the id", "--session-id", false}, // it was never prompted, so there is no transcript
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.start()
			w.open("work", w.dir)
			if tt.prompted {
				w.hear(w.say("say hello"), "hello")
			}
			w.end("work")
			agent := w.newPersonTerminal().agent(tt.flag, w.claudeID())

			refused := w.offered(w.say("/resume work"), "Continue in a copy")
			for _, label := range []string{"Show", "Take over", "Cancel"} {
				_, ok := refused.Find(label)
				assert.True(t, ok, "button %s", label)
			}
			assert.Contains(t, refused.Text, pid(agent))
			w.tap(refused, "Show")
			shown := w.shows(refused.ID, "list of sessions")
			p, err := w.table.Inspect(agent.PID)
			require.NoError(t, err)
			assert.Contains(t, shown.Text, pid(agent))
			assert.Contains(t, shown.Text, "pts/", "the terminal")
			assert.Equal(t, w.dir, p.Cwd)
			assert.Contains(t, shown.Text, "~/"+filepath.Base(w.dir), "the directory")

			w.tap(shown, "Cancel")
			w.shows(refused.ID, "Cancelled")
			assert.True(t, w.alive(agent), "the one at the desk lives")
			assert.Empty(t, w.windows(), "no second one was started")
			assert.Equal(t, "archived", w.stateOf("work"))
			w.stop()
			assert.NotContains(t, w.bot.log.String(), "msg=leftover_ended pid="+itoa(agent.PID)+" ")
		})
	}
}

// TestP1_TakeOverEndsWriterAndResumes asks before it ends anything, ends
// exactly the process that was shown, and then there is one writer again.
func TestP1_TakeOverEndsWriterAndResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.end("work")
	id := w.claudeID()
	agent := w.newPersonTerminal().agent("--resume", id)

	refused := w.offered(w.say("/resume work"), "Continue in a copy")
	w.takeOver(refused.ID, "Take over", agent)
	w.hear(refused.ID, "work is ready")
	assert.Equal(t, process.Gone, w.table.Liveness(agent), "the agent at the desk is gone")
	writers := w.writersOf(id)
	require.Len(t, writers, 1)
	assert.Equal(t, w.agents(), writers, "ccbot's own")
	w.hear(w.say("say back here"), "back here")
	w.stop()
}

// takeOver taps a button that ends a process, sees that nothing has happened
// yet, and confirms.
func (w *world) takeOver(message int, label string, agent process.Identity) {
	w.t.Helper()
	w.tap(w.offered(message-1, label), label)
	asked := w.find("it asks first", func(m botapi.Message) bool {
		_, ok := m.Find("Cancel")
		_, more := m.Find("Show")
		return m.ID >= message && ok && !more && says(m.Text, pid(agent))
	})
	assert.True(w.t, w.alive(agent), "nothing is ended before the confirmation")
	w.tap(asked, label)
}

// TestP2_ConfirmationIsForShownProcess replaces the process of a confirmation by another one: the
// confirmation ends nothing and shows the present state.
func TestP2_ConfirmationIsForShownProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.end("work")
	desk := w.newPersonTerminal()
	first := desk.agent("--resume", w.claudeID())
	refused := w.offered(w.say("/resume work"), "Continue in a copy")
	w.tap(refused, "Take over")
	asked := w.hear(refused.ID, "End claude ("+pid(first))
	desk.tmux("kill-session", "-t", desk.last())
	w.until("it has ended by itself", func() bool { return w.table.Liveness(first) == process.Gone })
	second := desk.agent("--resume", w.claudeID())

	w.tap(asked, "Take over")
	w.shows(asked.ID, pid(second))
	assert.True(t, w.alive(second))
	assert.Empty(t, w.windows())
	w.stop()
}

// TestP1_ForkInsteadLeavesTheDeskAlone continues with a copy: the conversation in the terminal
// keeps its only writer.
func TestP1_ForkInsteadLeavesTheDeskAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.end("work")
	id := w.claudeID()
	agent := w.newPersonTerminal().agent("--resume", id)

	refused := w.offered(w.say("/resume work"), "Continue in a copy")
	w.tap(refused, "Continue in a copy")
	w.hear(refused.ID, "work-fork is ready")
	w.hear(w.say("say from the fork"), "from the fork")
	assert.Len(t, w.after(0, func(m botapi.Message) bool { return m.Text == "hello" }), 1, "what was said before is not said again")
	assert.Equal(t, []string{"work-fork"}, w.windows())
	assert.True(t, w.alive(agent))
	assert.Equal(t, []process.Identity{agent}, w.writersOf(id), "the desk is the only writer of the original")
	said := w.transcript(w.claudeIDOf("work-fork"))
	assert.Contains(t, said, "say hello", "it begins with what was said")
	assert.Contains(t, said, "say from the fork")
	assert.NotContains(t, w.transcript(id), "from the fork")
	w.stop()
}

// TestP1_SecondWriterIsReportedOnce resumes a running session in a terminal: that is reported once,
// survives a restart, and a /kill spares the process and reports it.
func TestP1_SecondWriterIsReportedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	id, desk := w.claudeID(), w.newPersonTerminal()
	first := desk.agent("--resume", id)
	warned := w.offered(0, "Continue in a copy")
	assert.Contains(t, warned.Text, pid(first))
	w.tap(warned, "Cancel")
	w.shows(warned.ID, "Cancelled")
	assert.True(t, w.alive(first))

	w.stop()
	w.start()
	second := desk.agent("--resume", id)
	w.until("the next one is told", func() bool { return w.told(pid(second)) > 0 })
	assert.Equal(t, 2, w.told("work is now open in a second place"), "a message for each, and none for the restart")

	receipt := w.end("work")
	assert.Contains(t, receipt.Text, pid(first))
	assert.Contains(t, receipt.Text, pid(second))
	assert.Contains(t, receipt.Text, "still runs")
	assert.True(t, w.alive(first))
	assert.True(t, w.alive(second))
	assert.Empty(t, w.windows())
	w.stop()
}

// TestP1_SecondWriterLosesOrKeepsConversation decides about second writers: only the first one is
// ended; the next keeps the conversation while the chat continues in a copy.
func TestP1_SecondWriterLosesOrKeepsConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	id, desk := w.claudeID(), w.newPersonTerminal()
	own := w.agents()

	first := desk.agent("--resume", id)
	warned := w.offered(0, "Take over")
	w.takeOver(warned.ID, "Take over", first)
	w.until("it is gone", func() bool { return w.table.Liveness(first) == process.Gone })
	assert.Equal(t, own, w.writersOf(id))
	w.hear(w.say("say alone again"), "alone again")

	before := w.lastID()
	second := desk.agent("--resume", id)
	warned = w.offered(before, "Continue in a copy")
	w.tap(warned, "Continue in a copy")
	w.hear(warned.ID, "work-fork is ready")
	receipt := w.hear(warned.ID, "work is archived")
	assert.Contains(t, receipt.Text, pid(second), "it was spared")
	assert.Equal(t, []process.Identity{second}, w.writersOf(id))
	assert.Equal(t, []string{"work-fork"}, w.windows())
	w.hear(w.say("say in the copy"), "in the copy")
	w.stop()
}

// TestP1_SecondWriterFromAnotherSession switches one session's agent to another session's
// conversation by /resume: that is reported by name, and no tap ends it.
func TestP1_SecondWriterFromAnotherSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	id := w.claudeID()
	w.open("web", w.dir)
	w.hear(w.say("say in the web"), "in the web")
	w.typeInTerminal("web", "/resume "+id)

	warned := w.offered(0, "Continue in a copy")
	assert.Contains(t, warned.Text, "web")
	_, ok := warned.Find("Take over")
	assert.False(t, ok, "the agent of a session is ended with the session")
	agents := w.agents()
	require.Len(t, agents, 2)
	w.end("web")
	assert.Len(t, w.agents(), 1, "the other session's agent is spared")
	w.hear(w.say("/resume web"), "session work")
	w.use("work")
	w.hear(w.say("say alone again"), "alone again")
	w.stop()
}

// TestP1_WriterOfEndedSessionIsStopped continues an archived conversation in a terminal: that is
// reported once, also across restarts, and only a tap and a confirmation end it.
func TestP1_WriterOfEndedSessionIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("other", w.dir)
	w.hear(w.say("say other"), "other")
	otherID := w.claudeID()
	w.end("other")
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	id := w.claudeIDOf("work")
	w.end("work")

	desk := w.newPersonTerminal()
	ghost := desk.agent("--resume", id)
	told := w.offered(0, "End it")
	assert.Contains(t, told.Text, pid(ghost))
	_, ok := told.Find("Connect")
	assert.False(t, ok, "it runs outside of ccbot's tmux server")

	w.until("that is on disk", func() bool { return slices.Contains(w.record("work").SecondWriters, ghost) })
	w.drained()
	w.kill9()
	w.start()
	later := desk.agent("--resume", otherID)
	w.until("the next one is told", func() bool { return w.told(pid(later)) > 0 })
	assert.Equal(t, 1, w.told(pid(ghost)), "no process is told twice")
	assert.True(t, w.alive(ghost), "a desk resume survives a restart")

	w.takeOver(told.ID, "End it", ghost)
	w.until("it is gone", func() bool { return w.table.Liveness(ghost) == process.Gone })
	w.find("its end is told", func(m botapi.Message) bool {
		return m.ID > told.ID && says(m.Text, pid(ghost)) && strings.Contains(m.Text, "ended on request (TERM)")
	})
	assert.True(t, w.alive(later))
	assert.Equal(t, "archived", w.stateOf("work"))
	w.stop()
}

// TestP1_UnseenWriterIsReportedOnce lets the transcript of an archived session grow by an unknown
// process: that is reported once, also across restarts.
func TestP1_UnseenWriterIsReportedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	grow := func(name string) {
		path := w.transcriptPath(w.claudeIDOf(name))
		line := strings.ReplaceAll(lastSaid(w.transcript(w.claudeIDOf(name))), "hello", "a ghost")
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(line)
		require.NoError(t, errors.Join(err, f.Close()))
	}
	for _, name := range []string{"one", "two"} {
		w.open(name, w.dir)
		w.hear(w.say("say hello "+name), "hello "+name)
		w.end(name)
	}
	w.stop()
	grow("one")
	w.start()
	w.hear(0, "one is archived, but its conversation continues, and ccbot cannot see where")
	w.stop()
	grow("two")
	w.start()
	w.hear(0, "two is archived, but its conversation continues, and ccbot cannot see where")
	w.stop()
	assert.Equal(t, 1, w.told("one is archived, but its conversation continues, and ccbot cannot see where"))
	assert.Equal(t, 1, w.told("two is archived, but its conversation continues, and ccbot cannot see where"))
}

// lastSaid is the last line of a transcript that the agent has said.
func lastSaid(transcript string) string {
	last := ""
	for line := range strings.Lines(transcript) {
		if strings.Contains(line, `"type":"assistant"`) {
			last = line
		}
	}
	return last
}

// TestP3_UnreportedLeftoverEnds starts a second process on a running session without reporting
// itself: it is the session's leftover and ends with it.
func TestP3_UnreportedLeftoverEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	id := w.claudeID()
	_, leftover := w.newPersonTerminal("DEMOAGENT_NO_PRESENCE=1").open(w.agentPath(), "--resume", id)
	w.until("it has become the agent", func() bool { return len(w.writersOf(id)) == 2 })

	receipt := w.end("work")
	assert.Contains(t, receipt.Text, pid(leftover))
	assert.Contains(t, receipt.Text, "TERM")
	assert.Equal(t, process.Gone, w.table.Liveness(leftover))
	assert.Empty(t, w.writersOf(id))
	w.stop()
}
