package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
)

// TestRealP6_BackgroundShellHoldsNoText starts a server in the background of a turn, as a day of development does: the next text is
// answered while the server runs, and /kill ends both.
func TestRealP6_BackgroundShellHoldsNoText(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("serve exec sleep 7654321"), "wants to run a command")
	w.tap(asked, "Allow")
	w.hear(asked.ID, "tool result")
	var server process.Process
	w.until("the server runs", func() bool {
		snap, err := w.table.Snapshot(t.Context())
		require.NoError(t, err)
		i := slices.IndexFunc(snap.Processes, func(p process.Process) bool {
			return strings.Join(p.Args, " ") == "sleep 7654321" && slices.ContainsFunc(w.agents(), func(a process.Identity) bool {
				return slices.ContainsFunc(snap.Descendants(a.PID), func(d process.Process) bool { return d.Identity == p.Identity })
			})
		})
		if i >= 0 {
			server = snap.Processes[i]
		}
		return i >= 0
	})
	w.hear(w.say("say second"), "second")
	assert.True(t, w.alive(server.Identity), "it was not ended for the text")
	w.until("the list says that it is idle, and what runs", func() bool {
		return strings.Contains(w.hear(w.say("/list"), "work").Text, "1 background command")
	})
	tasks := w.offered(w.say("/tasks"), "Esc") // its clock changes the dialog each second
	time.Sleep(2 * time.Second)
	w.tap(tasks, "Esc")
	w.hear(w.say("say third"), "third")
	w.until("the turn has ended", func() bool { return w.record("work").Phase == "idle" }) // later than its answer
	w.hear(w.say("/stop"), "Still running: 1 background command.")
	assert.Zero(t, w.heard("work is interrupted"), "no turn ran")
	asked = w.hear(w.say("/kill work"), "This also ends: 1 background command.")
	w.tap(asked, "Kill")
	w.hear(asked.ID, "work is archived")
	w.until("the server has ended", func() bool { return !w.alive(server.Identity) })
	w.stop()
}

// TestRealCommandIsEndedFromItsPage ends a command in the background by a tap, through the real CLI's own list.
func TestRealCommandIsEndedFromItsPage(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("serve exec sleep 7654322"), "wants to run a command")
	w.tap(asked, "Allow")
	w.hear(asked.ID, "tool result")
	w.until("it is counted", func() bool { return strings.Contains(w.hear(w.say("/list"), "work").Text, "1 background command") })
	w.tap(w.offered(w.say("/tasks"), "End it"), "End it")
	w.until("it has ended", func() bool {
		snap, err := w.table.Snapshot(t.Context())
		require.NoError(t, err)
		return !slices.ContainsFunc(snap.Processes, func(p process.Process) bool { return strings.Join(p.Args, " ") == "sleep 7654322" })
	})
	w.escape()
	w.hear(w.say("say after it"), "after it")
	w.stop()
}

// TestRealP5_ConversationStaysInWindow tries what would move the conversation to a daemon, where its answers would reach no chat.
func TestRealP5_ConversationStaysInWindow(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say first"), "first")
	for _, command := range []string{"//background", "//bg", "//fork"} {
		w.hear(w.say(command), "switched this command off")
	}
	w.tmux("send-keys", "-t", "=ccbot:=work", "Left") // in the empty box
	w.hear(w.say("say second"), "second")
	agents := w.agents()
	w.end("work")
	for _, agent := range agents {
		assert.False(t, w.alive(agent))
	}
	w.until("no daemon goes on", func() bool { return len(w.writersOf(w.claudeID())) == 0 })
	w.stop()
}

// TestRealP6_AgentsOwnSchedulesAreKept: schedules that the agent makes for itself end with its process, so a session that has some is
// not ended as an idle one.
func TestRealP6_AgentsOwnSchedulesAreKept(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("remind"), "tool result")
	w.until("the list names it", func() bool {
		return strings.Contains(w.hear(w.say("/list"), "work").Text, "1 schedule of its own")
	})
	w.open("stopped", w.dir)
	w.say("remind mute 600")
	w.until("the turn goes on after the tool", func() bool { return w.screenHas("stopped", "Scheduled") && w.screenHas("stopped", "esc to interrupt") })
	w.hear(w.say("/stop"), "stopped is interrupted")
	assert.Contains(t, w.hear(w.say("/list"), "stopped").Text, "stopped · idle · 1 schedule of its own", "no Stop came after it")
	w.kill9()
	w.start()
	assert.Contains(t, w.hear(w.say("/list"), "work").Text, "1 schedule of its own")
	asked := w.hear(w.say("/kill work"), "This also ends: 1 schedule of its own.")
	w.tap(asked, "Kill")
	w.hear(asked.ID, "work is archived")
	w.hear(w.say("/resume work"), "work is ready")
	assert.NotContains(t, w.hear(w.say("/list"), "work").Text, "work · idle · 1 schedule", "it ended with the process")
	w.stop()
}
