package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/try/botapi"
)

// reboot ends the tmux server and all its programs, and dates the records before the last boot. No
// bot may run.
func (w *world) reboot() {
	w.t.Helper()
	w.powerOff()
	w.otherBoot()
}

// inState are the names of the sessions in a state.
func (w *world) inState(state session.State) (names []string) {
	w.t.Helper()
	for _, r := range w.records() {
		if r.State == state {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return names
}

// TestP8_RebootRestoresAll reboots under three sessions, one at work with two waiting messages. The
// next start offers all of them in one message; a tap restores each with one agent, and waiting
// messages are typed in order. With CCBOT_RESUME_ON_START=all no tap is needed, with never nothing
// is offered.
func TestP8_RebootRestoresAll(t *testing.T) {
	inShortRun(t, "recovery")
	t.Parallel()
	w := newWorld(t, "ORPHAN_GRACE=2s")
	names := []string{"busy", "one", "two"}
	w.start()
	for _, name := range names {
		w.open(name, w.dir)
		w.hear(w.say("say hello from "+name), "hello from "+name)
	}
	w.use("busy")
	w.say("slow 3600")
	w.until("it works", func() bool { return len(w.received()) == 4 })
	w.say("say the first that waited")
	w.say("say the second that waited")
	w.until("both wait", func() bool {
		return slices.Equal(w.inboxStates(), []string{"held", "held"}) && len(w.record("busy").Prompts) == 2
	})
	w.stop()
	w.reboot()

	before := w.lastID()
	w.start()
	told := w.offered(before, "Resume all")
	assert.Contains(t, told.Text, "3 sessions ended when the machine shut down: busy, one, two.")
	assert.Equal(t, names, w.inState(session.Lost))
	for _, r := range w.records() {
		assert.Equal(t, session.ClosedReboot, r.ClosedReason, r.Name)
	}
	w.tap(told, "Choose")
	picked := w.hear(told.ID, "Which session")
	assert.Len(t, picked.Keyboard, 3)
	assert.Empty(t, w.windows(), "nothing comes back unasked")
	w.tap(told, "Resume all")
	w.allAreBack(names, told.ID)
	w.find("the first is answered", func(m botapi.Message) bool { return strings.HasSuffix(m.Text, "the first that waited") })
	w.find("the second is answered", func(m botapi.Message) bool { return strings.HasSuffix(m.Text, "the second that waited") })
	assert.Equal(t, []string{"say the first that waited", "say the second that waited"}, w.received()[4:], "in order, once")
	w.use("one")
	w.hear(w.say("say it goes on"), "it goes on")
	assert.Contains(t, w.transcript(w.claudeIDOf("one")), "hello from one", "in the same conversation")
	w.stop()

	w.reboot()
	before = w.lastID()
	w.start("CCBOT_RESUME_ON_START=all")
	w.hear(before, "are being resumed.")
	w.allAreBack(names, before)
	w.stop()

	w.reboot()
	before = w.lastID()
	w.start("CCBOT_RESUME_ON_START=never")
	told = w.hear(before, "3 sessions ended when the machine shut down")
	assert.Empty(t, told.Keyboard)
	w.hear(w.say("/resume two"), "two is ready")
	assert.Equal(t, []string{"two"}, w.windows())

	before = w.lastID()
	w.tmux("kill-server") // and with the bot running
	w.hear(before, "1 session ended together with tmux: two.")
	w.stop()
}

// allAreBack waits until sessions run again, and sees that each has one agent.
func (w *world) allAreBack(names []string, after int) {
	w.t.Helper()
	for _, name := range names {
		w.find(name+" is back", func(m botapi.Message) bool {
			return m.ID > after && (strings.Contains(m.Text, name+" is ready") || strings.Contains(m.Text, name+": ready"))
		})
	}
	w.until("all run", func() bool { return slices.Equal(names, w.inState(session.Running)) }) // reported before it is on disk
	assert.ElementsMatch(w.t, names, w.windows())
	for _, r := range w.records() {
		require.NotNil(w.t, r.Binding, r.Name)
		assert.Len(w.t, w.writersOf(r.AgentSessionID.String()), 1, "%s has one writer", r.Name)
	}
}

// TestP1_TwoResumesAtOnce resumes a session from the chat and the command line at the same time:
// one agent runs, and the later request is refused.
func TestP1_TwoResumesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	id, desk := w.claudeID(), w.newPersonTerminal("CCBOT_DIR="+w.state)
	shell, _ := desk.shell() // a verb that changes something wants a terminal
	for round := range 3 {
		receipt := w.end("work")
		w.until("it is over", func() bool { return w.stateOf("work") == "archived" })
		before := w.lastID()
		desk.enter(shell, binaries+"/ccbot resume work; echo exit $?")
		if round == 1 { // else the chat is faster
			w.until("the command has begun", func() bool { return w.runs(binaries+"/ccbot", "resume", "work") })
		}
		w.tap(receipt, "Undo")
		asked := w.say("/resume work")
		w.hear(before, "work is ready")
		w.find("the second /resume is answered", func(m botapi.Message) bool {
			return m.ID > asked && (strings.Contains(m.Text, "work is") || strings.Contains(m.Text, "Resuming work"))
		})
		w.until("the command has ended", func() bool { return strings.Contains(desk.screen(shell), "\nexit ") })
		if screen := desk.screen(shell); strings.Contains(screen, "\nexit 0") {
			assert.Contains(t, screen, "work is back in")
		} else {
			assert.Contains(t, screen, "\nexit 1")
			assert.Contains(t, screen, "work is already open", "the loser is told")
		}
		desk.enter(shell, "clear")
		w.until("it has settled", func() bool { return w.settled() && w.oneAgentAtMost() })
		assert.Len(t, w.writersOf(id), 1)
		assert.Equal(t, w.agents(), w.writersOf(id))
		ready := 0
		for _, m := range w.api.Messages(w.chat()) {
			if m.FromBot && m.ID > before && strings.Contains(m.Text, "work is ready") {
				ready++
			}
		}
		assert.Equal(t, 1, ready, "it came back once")
	}
	w.hear(w.say("say still one"), "still one")
	assert.Equal(t, []string{"say hello", "say still one"}, w.received())
	w.stop()
}

// runs reports whether a process with this command line runs.
func (w *world) runs(args ...string) bool {
	w.t.Helper()
	snap, err := w.table.Snapshot(w.t.Context())
	require.NoError(w.t, err)
	return slices.ContainsFunc(snap.Processes, func(p process.Process) bool { return !p.Gone() && slices.Equal(p.Args, args) })
}
