package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/try/botapi"
)

// The processes of a session on another machine.
const (
	theChat    = "chat"
	theHub     = "hub"
	theMachine = "machine"
	theAgent   = "agent, or its hook"
)

// wirePoint is a step of a text, an answer or a request between the chat and another machine.
type wirePoint struct {
	at, point string // the process that reaches the failpoint
	short     bool   // it is also in the short form
}

var (
	textPoints = []wirePoint{{theChat, "accepted", false}, {theMachine, "prompt-offered", true}, {theMachine, "typing-marked", false},
		{theMachine, "pasted", false}, {theMachine, "entered", true}, {theMachine, "prompt-ended", false}, {theMachine, "prompt-finished", false},
		{theChat, "part-shown", true}}
	requestPoints = []wirePoint{{theChat, "ask-saved", false}, {theChat, "card-sent", true}, {theChat, "ask-heard", false}}
)

// fleetStage is a chat, a hub and another machine with a session. Each of both ccbots stops at the
// failpoint that its file names.
type fleetStage struct {
	*stage
	there  *stage
	hub    *hubProcess
	victim string
	point  string // the file that names the failpoint
	round  int
}

// TestP4_KillEachOfFourProcesses kills the chat, the hub, the machine and the agent, or its
// hook, at each step of a text, an answer and a request for a permission on another machine: each
// text arrives once, each answer comes (P5), and each request is answered. It runs a short form
// without CCBOT_KILL_ROUNDS.
func TestP4_KillEachOfFourProcesses(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	tables := make(map[string]string) // by the killed process
	whole := os.Getenv(roundsEnv) != ""
	victims := []string{theChat, theHub, theMachine, theAgent}
	t.Cleanup(func() {
		rows := ""
		for _, victim := range victims {
			rows += tables[victim]
		}
		reportTable(t, "Four processes, killed at each step of a text, an answer and a request", "| killed at | delivered once | asked | twice | lost | answers missing | "+
			"answers repeated | requests answered |\n|---|---:|---:|---:|---:|---:|---:|---:|\n", rows)
	})
	for _, victim := range victims {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			f := newFleetStage(t, victim)
			var rows []func() string
			for range rounds(t) {
				for _, p := range textPoints {
					if whole || p.short {
						rows = append(rows, f.text(p))
					}
				}
				for _, p := range requestPoints {
					if whole || p.short {
						rows = append(rows, f.request(p))
					}
				}
			}
			f.settles()
			assert.Zero(t, f.heard("does not exist any more"), "P6: what is unknown is not gone")
			mu.Lock()
			defer mu.Unlock()
			for _, row := range rows {
				tables[victim] += row()
			}
		})
	}
}

func newFleetStage(t *testing.T, victim string) *fleetStage {
	t.Helper()
	w := newWorld(t)
	f := &fleetStage{stage: &stage{world: w}, victim: victim, point: filepath.Join(t.TempDir(), "point")}
	w.env = append(w.env, "CCBOT_FAILPOINT=@"+f.point+theChat)
	w.start()
	there, hub := w.withMachine("B")
	there.stop()
	there.env = append(there.env, "CCBOT_FAILPOINT=@"+f.point+theMachine)
	there.chats = w.state
	there.startHost()
	f.there, f.hub = &stage{world: there}, hub
	w.reached("B")
	w.hear(w.say("/new api B:"+there.dir), "api is ready")
	w.hear(w.say("say the first"), "the first")
	f.settles()
	return f
}

// settles waits until all is done on both machines.
func (f *fleetStage) settles() {
	f.t.Helper()
	f.until("everything has settled", func() bool { return f.quiet() && f.there.quiet() })
}

// arm makes a process stop at its next step of that name.
func (f *fleetStage) arm(p wirePoint) (reached string) {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(f.point+p.at, []byte(p.point), 0o600))
	return f.point + p.at + ".reached"
}

// die kills the victim once a process has stopped, lets that process continue, and starts the
// victim again.
func (f *fleetStage) die(reached string) {
	f.t.Helper()
	f.until("the point is reached", func() bool { _, err := os.Stat(reached); return err == nil })
	mark := f.lastID()
	switch f.victim {
	case theChat:
		f.kill9()
	case theHub:
		f.hub.kill()
	case theMachine:
		f.there.kill9()
	case theAgent:
		require.NoError(f.t, syscall.Kill(f.agentPID(), syscall.SIGKILL))
	}
	require.NoError(f.t, os.Remove(reached))
	switch f.victim {
	case theChat:
		f.start()
	case theHub:
		f.hub.start()
	case theMachine:
		f.there.startHost()
	case theAgent:
		f.hear(mark, "was ended by signal")
		f.hear(f.say("/resume B:api"), "api is ready")
	}
}

// agentPID returns the agent's process.
func (f *fleetStage) agentPID() int {
	f.t.Helper()
	pid, err := strconv.Atoi(f.there.tmux("display-message", "-p", "-t", "=ccbot:api", "#{pane_pid}"))
	require.NoError(f.t, err)
	return pid
}

// text kills the victim at a step of a text. The returned function counts what came of it, after
// all is done.
func (f *fleetStage) text(p wirePoint) (row func() string) {
	f.t.Helper()
	f.round++
	word := fmt.Sprintf("word-%03d", f.round)
	reached := f.arm(p)
	sent := f.say("say " + word)
	f.die(reached)
	copies := func() int {
		return len(f.after(sent, func(m botapi.Message) bool { return m.Text == word }))
	}
	asked := func() []botapi.Message {
		return f.after(sent, func(m botapi.Message) bool {
			return strings.Contains(m.Text, "not certain that") && strings.Contains(m.Text, word)
		})
	}
	diesWithIt := func() bool { return f.victim == theAgent && slices.Contains(f.there.received(), "say "+word) }
	f.until("it is answered, or asked about, or the agent has died with it", func() bool {
		return copies() > 0 || len(asked()) > 0 || diesWithIt() && f.there.quiet()
	})
	questions := len(asked())
	discard := f.discarder(asked)
	f.until("nothing is typed", func() bool { discard(); return f.there.quiet() })
	return func() string {
		var o killOutcome
		got := 0
		for _, text := range f.there.received() {
			if text == "say "+word {
				got++
			}
		}
		switch {
		case got > 1:
			o.twice++
		case questions > 0:
			o.asked++
		case got == 1:
			o.once++
		default:
			o.lost++
		}
		missing, repeated := max(f.there.answersWith(word)-copies(), 0), max(copies()-1, 0)
		assert.Zero(f.t, o.lost+o.twice+missing, "%s killed at %s: %+v, %d answers missing", f.victim, p.point, o, missing)
		if f.victim != theAgent {
			assert.Equal(f.t, killOutcome{once: 1}, o, "%s killed at %s", f.victim, p.point)
			assert.Positive(f.t, copies(), "%s killed at %s", f.victim, p.point)
		}
		if f.victim != theChat {
			assert.Zero(f.t, repeated, "%s killed at %s", f.victim, p.point)
		}
		return fmt.Sprintf("| %s, at %s | %d | %d | %d | %d | %d | %d | |\n", f.victim, p.point, o.once, o.asked, o.twice, o.lost, missing, repeated)
	}
}

// request kills the victim at a step of a request for a permission.
func (f *fleetStage) request(p wirePoint) (row func() string) {
	f.t.Helper()
	f.round++
	command := fmt.Sprintf("touch word-%03d", f.round)
	var reached string
	decide := func() { f.decides(command, "Allow", "Allowed in the chat") }
	if p.point == "ask-heard" {
		sent := f.say("bash " + command)
		m := f.hear(sent, "wants to run a command")
		f.tap(m, "Deny with reason")
		f.becomes(m, "your next message", false)
		reached = f.arm(p)
		f.say("not today: " + command)
		decide = func() { f.becomes(m, "Denied in the chat", true) }
	} else {
		reached = f.arm(p)
		f.say("bash " + command)
	}
	if f.victim == theAgent {
		f.killHook(reached)
		f.there.answerInTerminal("api", "1")
	} else {
		f.die(reached)
		decide()
	}
	f.until("nothing is typed", f.there.quiet)
	return func() string {
		answered := f.there.answersWith(command)
		assert.Equal(f.t, 1, answered, "%s killed at %s: answers of the agent about its request", f.victim, p.point)
		return fmt.Sprintf("| %s, at %s | | | | | | | %d |\n", f.victim, p.point, answered)
	}
}

// decides taps a button of a request until one of its messages shows the result. A message may be
// drawn again, or sent again below, at the moment of a tap.
func (f *fleetStage) decides(command, label, result string) {
	f.t.Helper()
	f.until("the request is decided", func() bool {
		for _, m := range f.api.Messages(f.chat()) {
			if !m.FromBot || !containsFold(m.Text, command) {
				continue
			}
			if strings.Contains(m.Text, result) {
				return true
			}
			if b, ok := m.Find(label); ok {
				_, _ = f.person.Tap(f.chat(), m.ID, b.Data) // it may be drawn again now
			}
		}
		return false
	})
}

// killHook kills the hook that waits for the decision. The terminal decides then.
func (f *fleetStage) killHook(reached string) {
	f.t.Helper()
	f.until("the point is reached", func() bool { _, err := os.Stat(reached); return err == nil })
	var hooks []process.Process
	f.until("the other hooks have ended", func() bool {
		snap, err := f.there.table.Snapshot(f.t.Context())
		require.NoError(f.t, err)
		hooks = slices.DeleteFunc(snap.Descendants(f.agentPID()), func(p process.Process) bool { return p.Comm != "ccbot-hook" })
		return len(hooks) == 1
	})
	require.NoError(f.t, syscall.Kill(hooks[0].PID, syscall.SIGKILL))
	require.NoError(f.t, os.Remove(reached))
}

// answersWith counts the agent's answers with a text in the transcripts.
func (w *world) answersWith(text string) (n int) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.claude, "projects", "*", "*.jsonl"))
	require.NoError(w.t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(w.t, err)
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, `"type":"assistant"`) && strings.Contains(line, text) && strings.Contains(line, `"type":"text"`) {
				n++
			}
		}
	}
	return n
}
