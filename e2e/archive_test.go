package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/try/botapi"
)

// stubborn makes agents that ignore HUP and TERM, so that only KILL ends them.
var stubborn = []string{"DEMOAGENT_IGNORE_SIGNALS=1", "KILL_GRACE=2s"}

// withChild makes the agent of the only session run a tool whose process has its own session, which
// no hang-up reaches.
func (w *world) withChild() (agent, child process.Identity) {
	w.t.Helper()
	agents := w.agents()
	require.Len(w.t, agents, 1)
	w.endLater(agents[0])
	w.say("child 3600")
	w.until("the tool runs", func() bool {
		snap, err := w.table.Snapshot(w.t.Context())
		require.NoError(w.t, err)
		for _, p := range snap.Descendants(agents[0].PID) {
			if slices.Equal(p.Args, []string{"sleep", "3600"}) {
				child = p.Identity
			}
		}
		return child.Valid()
	})
	w.endLater(child)
	w.children = append(w.children, child)
	return agents[0], child
}

// TestP3_StubbornAgentAndToolAreKilled ends an agent that ignores HUP and TERM while its tool runs
// a real process: both are dead, and the receipt has the methods.
func TestP3_StubbornAgentAndToolAreKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stubborn...)
	w.start()
	w.open("work", w.dir)
	agent, child := w.withChild()

	receipt := w.end("work")
	assert.Equal(t, process.Gone, w.table.Liveness(agent))
	assert.Equal(t, process.Gone, w.table.Liveness(child))
	assert.Contains(t, receipt.Text, pid(agent))
	assert.Contains(t, receipt.Text, pid(child))
	assert.Equal(t, 2, strings.Count(receipt.Text, "ended by force (KILL)"))
	assert.Empty(t, w.windows())
	w.stop()
}

// TestP2_DecoysSurvive starts 200 processes whose command lines a text search would take for
// writers of the conversation. An archive and a take-over spare all of them.
func TestP2_DecoysSurvive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	id := w.claudeID()
	decoys := w.decoys(200, id)
	w.end("work")
	w.untouched(decoys)

	agent := w.newPersonTerminal().agent("--resume", id)
	refused := w.offered(w.say("/resume work"), "Continue in a copy")
	w.takeOver(refused.ID, "Take over", agent)
	w.hear(refused.ID, "work is ready")
	assert.Equal(t, process.Gone, w.table.Liveness(agent))
	w.untouched(decoys)
	w.stop()
}

func (w *world) untouched(decoys []decoy) {
	w.t.Helper()
	for _, d := range decoys {
		assert.True(w.t, w.alive(d.Identity), "alive: %v", d.args)
	}
}

// decoy is a process that only looks like a writer.
type decoy struct {
	process.Identity
	args []string
}

// decoys starts n processes that live until the end of the test. Most are shells that wait for
// input, with a special name and arguments.
func (w *world) decoys(n int, claudeID string) []decoy {
	w.t.Helper()
	other, wait := uuid.NewString(), []string{"-c", "read x"}
	waiting := func(name string, args ...string) *exec.Cmd {
		return &exec.Cmd{Path: "/bin/sh", Args: append(append([]string{name}, wait...), args...)}
	}
	kinds := []func() *exec.Cmd{
		func() *exec.Cmd {
			return &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "read x; claude --resume " + claudeID}}
		},
		func() *exec.Cmd { return exec.Command("tail", "-f", w.transcriptPath(claudeID)) },
		func() *exec.Cmd { return &exec.Cmd{Path: "/bin/sleep", Args: []string{"claude", "3600"}} },
		func() *exec.Cmd { return waiting("claude", "--resume", other) },
		func() *exec.Cmd { return waiting("claude", "--resume", claudeID, "--fork-session") },
		func() *exec.Cmd { return waiting("claude", "--", "--resume", claudeID) },
		func() *exec.Cmd { return waiting("claude", "-p", "what does claude --resume "+claudeID+" do?") },
		func() *exec.Cmd { return waiting("claude", "--append-system-prompt", "--resume", claudeID) },
		func() *exec.Cmd { return waiting("claude", "--name", "--session-id="+claudeID) },
		func() *exec.Cmd { return waiting("vim", claudeID+".jsonl", "--resume", claudeID) },
		func() *exec.Cmd { return waiting("ssh", "host", "claude", "--resume", claudeID) },
		func() *exec.Cmd { return waiting("env", "-u", "X", "claude", "--resume", claudeID) },
		func() *exec.Cmd { return waiting("claude-monitor", "--resume", claudeID) },
		func() *exec.Cmd { return waiting("/opt/claude/bin/helper", "--resume="+claudeID) },
		func() *exec.Cmd { return waiting("node", "-e", "claude", "--resume", claudeID) },
		func() *exec.Cmd { return waiting("pgrep", "-f", "claude.*--resume "+claudeID) },
	}
	input, hold, err := os.Pipe()
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = hold.Close() })
	defer input.Close()
	var all []decoy
	for i := range n {
		cmd := kinds[i%len(kinds)]()
		if i < 3 { // real agents in another conversation and folder
			cmd = exec.Command(w.agentPath(), "--session-id", uuid.NewString())
			cmd.Env = append(w.agentEnv(), "CLAUDE_CONFIG_DIR="+w.t.TempDir(), "DEMOAGENT_LOG=/dev/null")
		}
		cmd.Stdin = input
		all = append(all, w.decoy(cmd))
	}
	return all
}

func (w *world) decoy(cmd *exec.Cmd) decoy {
	w.t.Helper()
	require.NoError(w.t, cmd.Start())
	w.whole.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	id, err := w.table.Identify(cmd.Process.Pid)
	require.NoError(w.t, err)
	return decoy{id, cmd.Args}
}

// TestP1_ThirtyTapsEndInOneState lets thirty taps fall on one session at once:
// confirmations to end it, undos and resumes. It ends in one state, with a
// window for each agent and one writer at most.
func TestP1_ThirtyTapsEndInOneState(t *testing.T) {
	t.Parallel()
	w := newWorldAt(t, botapi.Options{TapTimeout: 2 * time.Minute}) // a tap is answered after those before it on its message are done
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	receipt := w.end("work")
	var buttons []tapped
	press := func(m botapi.Message, label string) {
		for range 5 {
			buttons = append(buttons, tapped{m, label})
		}
	}
	for range 2 {
		picked := w.hear(w.say("/resume"), "Which session")
		press(picked, picked.Keyboard[0][0].Text)
		press(receipt, "Undo")
	}
	w.hear(w.say("/resume work"), "work is ready")
	for range 2 {
		press(w.hear(w.say("/kill work"), "End work"), "Kill")
	}
	var all sync.WaitGroup
	for _, b := range buttons {
		all.Go(func() {
			button, _ := b.Find(b.label)
			_, _ = w.person.Tap(w.chat(), b.ID, button.Data) // a button used in between is refused
		})
	}
	all.Wait()
	w.until("it has settled", func() bool { return w.settled() && w.oneAgentAtMost() })
	list := w.say("/list") // comes after all the other answers, which are paced
	w.until("the list comes", func() bool { return w.heardAfter(list, "1 session") || w.heardAfter(list, "Ended: 1 archived") })
	assert.True(t, w.settled() && w.oneAgentAtMost(), "and it stays so")
	assert.Len(t, w.windows(), len(w.agents()))
	assert.Len(t, w.writersOf(w.claudeID()), len(w.agents()))
	w.stop()
}

type tapped struct {
	botapi.Message
	label string
}

// oneAgentAtMost reports whether the only session has an agent exactly if it runs.
func (w *world) oneAgentAtMost() bool {
	records := w.records()
	if len(records) != 1 {
		return false
	}
	want := 0
	if records[0].State == session.Running {
		want = 1
	}
	return len(w.agents()) == want && len(w.windows()) == want
}

// TestIdleSessionsAreArchived archives only unused sessions: none that works, has a waiting
// message, or is shown in a terminal. Time without ccbot does not count.
func TestIdleSessionsAreArchived(t *testing.T) {
	t.Parallel()
	const after = 15 * time.Second // a text must come before the session has rested for so long
	w := newWorld(t)
	w.start()
	for _, name := range []string{"quiet", "works", "waits", "watched"} {
		w.open(name, w.dir)
	}
	w.use("quiet")
	w.hear(w.say("say hello"), "hello")
	w.use("works")
	w.say("slow 3600")
	w.use("waits")
	w.hear(w.say("bash make"), "wants to run a command")
	w.hear(w.say("say behind the dialog"), "1 message waits.")
	w.newPersonTerminal().open("env", "-u", "TMUX", "tmux", "-L", w.socket, "attach-session", "-t", "=ccbot:watched")
	w.until("the terminal is attached", func() bool {
		return strings.Contains(w.tmux("list-clients", "-F", "#{client_flags} #{window_name}"), "watched")
	})
	w.stop()
	stopped := time.Now()
	w.until("ccbot was away for longer than that", func() bool { return time.Since(stopped) > after })

	full := time.After(after) // begins before ccbot's own clock
	w.start("IDLE_ARCHIVE_AFTER=" + after.String())
	told := w.hear(0, "quiet was idle for")
	select {
	case <-full:
	default:
		t.Error("it was archived before the whole time had passed again")
	}
	w.tap(told, "Resume")
	w.hear(told.ID, "quiet is ready")
	w.hear(w.say("say back again"), "back again")
	w.hear(told.ID, "quiet was idle for")
	for _, name := range []string{"works", "waits", "watched"} {
		assert.Equal(t, "running", w.stateOf(name), name)
	}
	assert.Len(t, w.agents(), 3)
	w.stop()
}

// use makes a session the current one by a tap in the list.
func (w *world) use(name string) {
	w.t.Helper()
	asked := w.say("/list")
	list := w.find("a list with "+name, func(m botapi.Message) bool {
		_, ok := buttonOf(m, name)
		return m.FromBot && m.ID > asked && ok
	})
	button, _ := buttonOf(list, name)
	_, err := w.person.Tap(w.chat(), list.ID, button.Data)
	w.tapped(err)
	w.until(name+" is current", func() bool { return w.current() == name })
}

// buttonOf returns the button that opens a session in a list: its label is the name, with signs.
func buttonOf(list botapi.Message, name string) (found botapi.Button, ok bool) {
	for _, row := range list.Keyboard {
		for _, b := range row {
			if slices.Contains(strings.Fields(b.Text), name) {
				return b, true
			}
		}
	}
	return found, false
}

// current is the name of the session that the chat's messages go to.
func (w *world) current() string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.state, "chats", fmt.Sprintf("%d-0.json", w.chat())))
	if err != nil {
		return "" // none was chosen yet
	}
	var chat struct{ Current uuid.UUID }
	require.NoError(w.t, json.Unmarshal(data, &chat))
	for _, r := range w.records() {
		if r.ID == chat.Current {
			return r.Name
		}
	}
	return ""
}

// TestExpiredRecordsAreForgotten purges a session that ended long enough ago:
// its record and its launch file go, the transcript stays as it is.
func TestExpiredRecordsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.end("work")
	w.until("its end is on disk", func() bool { return w.stateOf("work") == "archived" })
	r := w.records()[0]
	launch, said := filepath.Join(w.state, "launch", r.ID.String()+".json"), w.transcript(r.AgentSessionID.String())
	require.FileExists(t, launch)
	w.stop()

	w.until("its time is over", func() bool { return time.Since(r.EndedAt) > 2*time.Second })
	w.start("ARCHIVE_PURGE_AFTER=2s")
	w.until("the record is gone", func() bool { return len(w.records()) == 0 })
	assert.NoFileExists(t, launch)
	assert.Equal(t, said, w.transcript(r.AgentSessionID.String()))
	w.hear(w.say("/resume"), "nothing to resume")
	w.stop()
}

// TestP6_ContradictingEvidenceIsCleanupFailed archives a session while it is unknown whether
// another process writes the conversation: that process survives, the person gets the reason, and
// Retry finishes once it is clear.
func TestP6_ContradictingEvidenceIsCleanupFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	agent := exec.Command("sleep", "3600")
	agent.Args[0] = "claude" // with another name its presence file would not count
	riddle := w.decoy(agent)
	file := filepath.Join(w.claude, "sessions", itoa(riddle.PID)+".json")
	require.NoError(t, os.WriteFile(file, []byte(`{"pid":`), 0o600))

	asked := w.hear(w.say("/kill work"), "End work")
	w.tap(asked, "Kill")
	failed := w.offered(asked.ID, "Retry")
	assert.Contains(t, failed.Text, "not fully ended")
	assert.Contains(t, failed.Text, pid(riddle.Identity))
	assert.True(t, w.alive(riddle.Identity), "unknown ends nothing")
	assert.Empty(t, w.agents(), "its own agent is gone")
	w.until("it is on disk", func() bool { return w.stateOf("work") == "cleanup_failed" }) // the message comes first
	refused := w.offered(w.say("/resume work"), "Retry")
	assert.Contains(t, refused.Text, "not fully ended")

	require.NoError(t, os.Remove(file))
	list := w.offered(w.say("/list"), "Retry: work")
	w.tap(list, "Retry: work")
	w.hear(list.ID, "work is archived")
	w.hear(w.say("/resume work"), "work is ready")
	assert.True(t, w.alive(riddle.Identity))
	w.stop()
}

// TestP7_DraftIsShownBeforeRemoval sends a message while the box has a person's draft: it waits,
// and after a tap the draft is shown in the chat and the message is typed alone.
func TestP7_DraftIsShownBeforeRemoval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.tmux("send-keys", "-t", "=ccbot:work", "-l", "--", "half a thought")
	w.until("the draft stands there", func() bool {
		return strings.Contains(w.tmux("capture-pane", "-p", "-t", "=ccbot:work"), "half a thought")
	})
	id := w.say("say the message")
	held := w.offered(id, "Send anyway")
	assert.Contains(t, held.Text, "holds a draft")
	assert.Empty(t, w.received())
	w.tap(held, "Send anyway")
	w.hear(id, "half a thought")
	w.find("the answer comes", func(m botapi.Message) bool { return m.ID > id && m.Text == "the message" })
	assert.Equal(t, []string{"say the message"}, w.received())
	w.stop()
}

// [Kill] ends nothing while tmux hangs, and ends the session once tmux answers again.
func TestP6_KillWaitsForTmux(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	agents := w.agents()
	require.Len(t, agents, 1)
	asked := w.hear(w.say("/kill work"), "End work")
	answers := w.hang()
	w.tap(asked, "Kill")
	w.hear(asked.ID, "tmux does not answer")
	assert.True(t, w.alive(agents[0]))

	answers()
	// A tap is refused until the call that tmux owes an answer to is answered: tap again.
	refused := 0
	w.until("the session is archived", func() bool {
		if n := w.heard("tmux does not answer"); n > refused {
			refused = n
			w.tap(asked, "Kill")
		}
		return w.heard("work is archived") > 0
	})
	assert.Equal(t, process.Gone, w.table.Liveness(agents[0]))
	assert.Empty(t, w.windows())
	w.stop()
}
