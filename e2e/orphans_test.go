package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/try/botapi"
)

// window opens a window in ccbot's tmux session, as a person does.
func (w *world) window(name string, argv ...string) (id string, pane process.Identity) {
	w.t.Helper()
	args := []string{"new-window", "-d", "-P", "-F", "#{window_id} #{pane_pid}", "-t", "=ccbot:", "-n", name, "-c", w.dir}
	for _, kv := range w.agentEnv() {
		args = append(args, "-e", kv)
	}
	out := strings.Fields(w.tmux(append(append(args, "--"), argv...)...))
	require.Len(w.t, out, 2)
	pid, err := strconv.Atoi(out[1])
	require.NoError(w.t, err)
	pane, err = w.table.Identify(pid)
	require.NoError(w.t, err)
	w.endLater(pane)
	return out[0], pane
}

// handmade makes a window with a person's shell and agent, in a separate conversation.
func (w *world) handmade(name string) (id, claudeID string, shell, agent process.Identity) {
	w.t.Helper()
	claudeID = uuid.NewString()
	id, shell = w.window(name, "/bin/bash", "--norc", "--noprofile")
	w.tmux("send-keys", "-t", id, "-l", "--", w.agentPath()+" --session-id "+claudeID)
	w.tmux("send-keys", "-t", id, "Enter")
	w.until("the agent by hand is idle", func() bool {
		all := w.writersOf(claudeID)
		if len(all) == 1 {
			agent = all[0]
		}
		return len(all) == 1 && w.presenceSays(agent.PID, claudeID, `"status":"idle"`)
	})
	w.endLater(agent)
	return id, claudeID, shell, agent
}

// warnings counts the warnings of the present run about a window, in which a conversation is
// written or none ("unknown").
func (w *world) warnings(id, name, claudeID string) int {
	line := fmt.Sprintf(`level=WARN msg=orphan_window window_id=%s name=%s session_id=%s note="no Session record references it"`, id, name, claudeID)
	return strings.Count(w.bot.log.String(), line)
}

// TestP2_ForeignWindowsAreOnlyShown puts foreign windows into ccbot's tmux session. Each orphan is
// logged once per start, reported once, listed with its options, and never touched. Reserved
// windows and those tagged by another ccbot are not mentioned.
func TestP2_ForeignWindowsAreOnlyShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ORPHAN_GRACE=2s")
	w.start()
	w.open("work", w.dir)
	mine, sleeper := w.window("mine", "sleep", "36000")
	theirs, other := w.window("theirs", "sleep", "36000")
	w.tmux("set-option", "-w", "-t", theirs, "@ccbot_session", "other/"+uuid.NewString())
	usage, reserved := w.window("ccbot-usage", "sleep", "36000")
	hand, claudeID, shell, agent := w.handmade("hand")
	w.stop()

	w.start()
	told := w.offered(0, "Connect "+hand)
	assert.Contains(t, told.Text, "2 windows with no session (nothing happens to them)")
	assert.Equal(t, 1, w.warnings(mine, "mine", "unknown"))
	assert.Equal(t, 1, w.warnings(hand, "hand", claudeID))
	assert.Equal(t, 2, strings.Count(w.bot.log.String(), "orphan_window"))
	list := w.offered(w.say("/list"), "Hide "+mine)
	for label, there := range map[string]bool{"Connect " + hand: true, "Archive " + hand: true, "Hide " + hand: true,
		"Connect " + mine: false, "Archive " + mine: false} {
		_, ok := list.Find(label)
		assert.Equal(t, there, ok, "button %s", label)
	}
	assert.Contains(t, list.Text, "conversation "+claudeID[:8])
	assert.Contains(t, list.Text, fmt.Sprintf("tmux -L %s attach-session -t '%s'", w.socket, mine))
	for _, one := range []string{theirs, usage} {
		assert.NotRegexp(t, one+`\b`, list.Text+told.Text)
	}
	w.tap(list, "Hide "+mine)
	w.until("it is ignored", func() bool { return !w.lists("mine") })
	w.stop()

	before := w.lastID()
	w.start()
	w.hear(w.say("/list"), "1 window with no session")
	assert.Zero(t, w.warnings(mine, "mine", "unknown"), "nobody wants to hear of it")
	assert.Equal(t, 1, w.warnings(hand, "hand", claudeID))
	mentions := 0
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && m.ID > before && strings.Contains(m.Text, "with no session") {
			mentions++
		}
	}
	assert.Equal(t, 1, mentions, "unasked a window is told once in its life")
	for _, id := range []process.Identity{sleeper, other, reserved, shell, agent} {
		assert.True(t, w.alive(id), "process %d", id.PID)
	}
	assert.ElementsMatch(t, []string{"work", "mine", "theirs", "ccbot-usage", "hand"}, w.windows())
	w.stop()
}

// lists reports whether the newest list names a window.
func (w *world) lists(name string) bool {
	newest := botapi.Message{}
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && strings.Contains(m.Text, "session") && regexp.MustCompile(`(?m)^• @`).MatchString(m.Text) {
			newest = m
		}
	}
	return regexp.MustCompile(`(?m)^• @\d+ ` + name + `:`).MatchString(newest.Text)
}

// TestP2_OrphanWindowIsAdopted adopts an agent that a person started in ccbot's tmux session: it
// becomes a session, and the window stays the person's after a restart and the session's end.
func TestP2_OrphanWindowIsAdopted(t *testing.T) {
	inShortRun(t, "a window of another program")
	t.Parallel()
	w := newWorld(t, "ORPHAN_GRACE=2s", "KILL_GRACE=2s")
	w.start()
	hand, claudeID, shell, agent := w.handmade("hand")
	list := w.offered(w.say("/list"), "Connect")
	w.tap(list, "Connect")
	w.hear(list.ID, "hand is connected")
	assert.Equal(t, claudeID, w.claudeIDOf("hand"))
	assert.Equal(t, w.dir, w.record("hand").Dir)
	w.hear(w.say("say from the chat"), "from the chat")
	assert.Equal(t, []process.Identity{agent}, w.writersOf(claudeID))

	w.stop()
	w.start()
	assert.Zero(t, strings.Count(w.bot.log.String(), "orphan_window"), "it belongs to a session now")
	w.hear(w.say("say after a restart"), "after a restart")
	assert.Equal(t, []string{"say from the chat", "say after a restart"}, w.received())
	receipt := w.end("hand")
	assert.Contains(t, receipt.Text, pid(agent))
	assert.Equal(t, process.Gone, w.table.Liveness(agent))
	assert.True(t, w.alive(shell), "the window is the person's")
	assert.Contains(t, w.tmux("list-windows", "-t", "=ccbot:", "-F", "#{window_id}"), hand)
	w.stop()
}

// TestP2_OrphanWindowIsArchived shows first which process an archive ends and
// which stay, asks, and then ends exactly that one. Of two agents in one window
// neither is offered.
func TestP2_OrphanWindowIsArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ORPHAN_GRACE=2s", "KILL_GRACE=2s")
	w.start()
	hand, claudeID, shell, agent := w.handmade("hand")
	w.tmux("split-window", "-d", "-t", hand, "sleep", "36000")
	asked := w.offered(w.say("/list"), "Archive")
	w.tap(asked, "Archive")
	question := w.offered(asked.ID, "End and archive")
	ends, stays, ok := strings.Cut(question.Text, "This keeps running:")
	require.True(t, ok, question.Text)
	assert.True(t, says(ends, pid(agent)), "%q names process %d", ends, agent.PID)
	assert.True(t, says(stays, pid(shell)), "%q names process %d", stays, shell.PID)
	assert.Contains(t, stays, "sleep")
	assert.Contains(t, stays, "The window stays open")
	assert.True(t, w.alive(agent), "nothing is ended before the confirmation")

	w.tap(question, "End and archive")
	receipt := w.hear(question.ID, "hand is archived")
	assert.Contains(t, receipt.Text, pid(agent))
	assert.Equal(t, process.Gone, w.table.Liveness(agent))
	assert.Empty(t, w.writersOf(claudeID))
	assert.True(t, w.alive(shell))
	assert.Equal(t, "2", w.tmux("display-message", "-p", "-t", hand, "#{window_panes}"), "both panes stay")
	w.until("it is on disk", func() bool { return w.stateOf("hand") == "archived" })
	w.hear(w.say("/resume hand"), "hand is ready")
	assert.Equal(t, claudeID, w.claudeIDOf("hand"))
	w.stop()
}

// TestP2_OwnWindowWithoutRecordIsArchived loses the record of a session that
// runs: its window carries our tag, so that its pane closes with the agent.
func TestP2_OwnWindowWithoutRecordIsArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ORPHAN_GRACE=2s", "KILL_GRACE=2s")
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	agents, r := w.agents(), w.record("work")
	require.Len(t, agents, 1)
	w.stop()
	require.NoError(t, os.Remove(filepath.Join(w.state, "sessions", r.ID.String()+".json")))

	w.start()
	assert.Equal(t, 1, w.warnings(r.Binding.Window, "work", r.AgentSessionID.String()))
	asked := w.offered(w.say("/list"), "Archive")
	w.tap(asked, "Archive")
	question := w.offered(asked.ID, "End and archive")
	assert.True(t, says(question.Text, pid(agents[0])), question.Text)
	assert.Contains(t, question.Text, "Its pane closes")
	w.tap(question, "End and archive")
	w.hear(question.ID, "work is archived")
	assert.Equal(t, process.Gone, w.table.Liveness(agents[0]))
	w.until("its window is closed", func() bool { return len(w.windows()) == 0 })
	w.until("it is on disk", func() bool { return w.stateOf("work") == "archived" })
	w.hear(w.say("/resume work"), "work is ready")
	assert.Equal(t, r.AgentSessionID.String(), w.claudeIDOf("work"), "in the same conversation")
	w.stop()
}
