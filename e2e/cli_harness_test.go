package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude"
	"ccbot/agent/claude/claudeflags"
	"ccbot/internal/process"
	"ccbot/internal/processtest"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/try/botapi"
)

// personTerminal is a person's own tmux server. Its programs use the folders of the world's agents
// but nothing of ccbot.
type personTerminal struct {
	w      *world
	socket string
	sent   string // the input of its demo agents
	env    []string
	panes  int
}

// newPersonTerminal starts a desk on a separate tmux server, unknown to ccbot. env adds to its
// environment.
func (w *world) newPersonTerminal(env ...string) *personTerminal {
	w.t.Helper()
	d := &personTerminal{w: w, socket: "ccbot-test-desk-" + uuid.NewString()[:8], sent: filepath.Join(w.whole.TempDir(), "desk.jsonl")}
	d.env = append(append(w.agentEnv(), "DEMOAGENT_LOG="+d.sent), env...)
	processtest.EndAfterFailure(w.whole, d.socket)
	w.whole.Cleanup(func() {
		_ = exec.Command("tmux", "-L", d.socket, "kill-server").Run()
		_ = os.Remove(fmt.Sprintf("/tmp/tmux-%d/%s", os.Getuid(), d.socket))
	})
	// Otherwise the server exits with its last session, and a new session would meet a server that is
	// about to exit.
	d.tmux("start-server", ";", "set-option", "-s", "exit-empty", "off")
	return d
}

// ccbotTerminal starts a desk on ccbot's own tmux server, in another tmux session.
func (w *world) ccbotTerminal() *personTerminal {
	return &personTerminal{w: w, socket: w.socket, sent: w.sent, env: w.agentEnv()}
}

// agentEnv is the environment of an agent that is started by hand: the world's
// without ccbot's settings.
func (w *world) agentEnv() []string {
	ours := regexp.MustCompile(`^(TELEGRAM_\w+|ALLOWED_\w+|CCBOT_\w+|CLAUDE_COMMAND|LOG_LEVEL|KILL_GRACE|\w+_ARCHIVE_AFTER|ARCHIVE_\w+)=`)
	return slices.DeleteFunc(slices.Clone(w.env), ours.MatchString)
}

func (d *personTerminal) tmux(args ...string) string {
	d.w.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-L", d.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = d.env // of the server, if this starts it
	out, err := cmd.CombinedOutput()
	require.NoError(d.w.t, err, "tmux %s: %s", strings.Join(args, " "), out)
	return strings.TrimRight(string(out), "\n")
}

// open runs a command in a new tmux session until the end of the test. It returns the session's
// target and the process of its pane.
func (d *personTerminal) open(argv ...string) (target string, pane process.Identity) {
	d.w.t.Helper()
	d.panes++
	name := "desk-" + itoa(d.panes)
	args := []string{"new-session", "-d", "-s", name, "-n", name, "-x", "120", "-y", "40", "-c", d.w.dir}
	for _, kv := range d.env {
		args = append(args, "-e", kv)
	}
	d.tmux(append(append(args, "--"), argv...)...)
	target = d.last()
	pid, err := strconv.Atoi(d.tmux("display-message", "-p", "-t", target, "#{pane_pid}"))
	require.NoError(d.w.t, err)
	pane, err = d.w.table.Identify(pid)
	require.NoError(d.w.t, err)
	d.w.endLater(pane)
	return target, pane
}

// agent starts the agent by hand and waits until its presence file says that it
// is idle in that conversation.
func (d *personTerminal) agent(flag, claudeID string) process.Identity {
	d.w.t.Helper()
	_, agent := d.open(d.w.agentPath(), flag, claudeID)
	d.w.until("the agent at the desk is idle", func() bool { return d.w.presenceSays(agent.PID, claudeID, `"status":"idle"`) })
	return agent
}

// shell opens an interactive shell with job control.
func (d *personTerminal) shell() (target string, shell process.Identity) {
	d.w.t.Helper()
	target, shell = d.open("/bin/bash", "--norc", "--noprofile")
	return target, shell
}

// last is the session that was opened last.
func (d *personTerminal) last() string { return "=desk-" + itoa(d.panes) + ":" }

// enter types a line into a pane.
func (d *personTerminal) enter(target, line string) {
	d.w.t.Helper()
	d.tmux("send-keys", "-t", target, "-l", "--", line)
	d.tmux("send-keys", "-t", target, "Enter")
}

func (d *personTerminal) screen(target string) string {
	d.w.t.Helper()
	return d.tmux("capture-pane", "-p", "-t", target)
}

// typeInTerminal types a line into the window of a session with an idle agent, as a person does.
func (w *world) typeInTerminal(name, line string) {
	w.t.Helper()
	w.agentIsIdle(name)
	w.tmux("send-keys", "-t", "=ccbot:"+name, "-l", "--", line)
	w.tmux("send-keys", "-t", "=ccbot:"+name, "Enter")
}

// agentIsIdle waits until the agent in the window of a session says that its turn, and what follows a turn, is over.
func (w *world) agentIsIdle(name string) {
	w.t.Helper()
	agent, err := strconv.Atoi(w.tmux("display-message", "-p", "-t", "=ccbot:"+name, "#{pane_pid}"))
	require.NoError(w.t, err)
	w.until(name+" is idle", func() bool { return w.presenceSays(agent, `"status":"idle"`) })
}

// endLater ends a process that the test started, if it lives at the test's end.
func (w *world) endLater(id process.Identity) {
	w.whole.Cleanup(func() {
		if w.table.Liveness(id) != process.Alive {
			return
		}
		_ = syscall.Kill(id.PID, syscall.SIGKILL)
		if err := w.table.Wait(waittest.Context(w.t), id); err != nil {
			w.t.Errorf("process %d is left: %v", id.PID, err)
		}
	})
}

// presenceSays reports whether the presence file of a process has all texts.
func (w *world) presenceSays(pid int, texts ...string) bool {
	data, err := os.ReadFile(filepath.Join(w.claude, "sessions", strconv.Itoa(pid)+".json"))
	return err == nil && !slices.ContainsFunc(texts, func(t string) bool { return !strings.Contains(string(data), t) })
}

// writersOf are the processes that write a Claude session, by presence file and
// by argv.
func (w *world) writersOf(claudeID string) []process.Identity {
	w.t.Helper()
	snap, err := w.table.Snapshot(w.t.Context())
	require.NoError(w.t, err)
	var all []process.Identity
	for _, p := range snap.Processes {
		if p.Gone() || forked(snap, p) {
			continue
		}
		named := slices.ContainsFunc(claudeflags.Sessions(p.Args), func(id uuid.UUID) bool { return id.String() == claudeID })
		agent := process.IsAgent(p, process.AgentNames{Names: claude.Witness{}.Names()})
		if agent && named || w.presenceSays(p.PID, claudeID) {
			all = append(all, p.Identity)
		}
	}
	return all
}

func (w *world) alive(id process.Identity) bool { return w.table.Liveness(id) == process.Alive }

// end archives a session by /kill and returns the receipt.
func (w *world) end(name string) botapi.Message {
	w.t.Helper()
	asked := w.hear(w.say("/kill "+name), "End "+name)
	w.tap(asked, "Kill")
	return w.hear(asked.ID, name+" is archived")
}

// offered waits for a message of the bot after message id with that button.
func (w *world) offered(after int, label string) botapi.Message {
	w.t.Helper()
	return w.find(fmt.Sprintf("the bot offers %q", label), func(m botapi.Message) bool {
		_, ok := m.Find(label)
		return ok && m.ID > after
	})
}

// presses presses a key at a dialog of a window until the dialog is gone. An agent drops a key that comes in the moment in which its
// dialog is drawn, so the key is pressed again if the dialog stays for seconds; pressed more often, it would reach what comes after.
func (w *world) presses(window, key string, shows func() bool) {
	w.t.Helper()
	var pressed time.Time
	w.until("the dialog takes "+key, func() bool {
		if shows() && time.Since(pressed) > 3*time.Second {
			w.tmux("send-keys", "-t", window, key)
			pressed = time.Now()
		}
		return !shows()
	})
}

// find waits for a message of the bot.
func (w *world) find(what string, is func(botapi.Message) bool) botapi.Message {
	w.t.Helper()
	var found botapi.Message
	w.until(what, func() bool {
		for _, m := range w.api.Messages(w.chat()) {
			if m.FromBot && is(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// shows waits until a message has that text, as it was sent or by an edit.
func (w *world) shows(id int, text string) botapi.Message {
	w.t.Helper()
	return w.find(fmt.Sprintf("message %d says %q", id, text), func(m botapi.Message) bool {
		return m.ID == id && strings.Contains(m.Text, text)
	})
}

// heardAfter reports whether a message of the bot after message id has the text.
func (w *world) heardAfter(id int, text string) bool {
	return slices.ContainsFunc(w.api.Messages(w.chat()), func(m botapi.Message) bool {
		return m.FromBot && m.ID > id && strings.Contains(m.Text, text)
	})
}

// pid returns the bot's name of a process.
func pid(id process.Identity) string { return fmt.Sprintf("pid %d", id.PID) }

// told returns the number of messages from the bot, without edits, that have all texts; a pid
// matches as a whole number.
func (w *world) told(texts ...string) int {
	n := 0
	for _, c := range w.api.Calls() {
		if c.Method == "sendMessage" && !slices.ContainsFunc(texts, func(t string) bool { return !says(c.Params["text"], t) }) {
			n++
		}
	}
	return n
}

func says(text, want string) bool {
	found, err := regexp.MatchString(regexp.QuoteMeta(want)+`(\D|$)`, text)
	return err == nil && found
}

// record is the record of the session with that name; without one it is empty.
func (w *world) record(name string) session.Record {
	w.t.Helper()
	for _, r := range w.records() {
		if r.Name == name {
			return r
		}
	}
	return session.Record{}
}

// stateOf is the state of the session with that name.
func (w *world) stateOf(name string) string { return string(w.record(name).State) }

// claudeIDOf is the Claude session id of the session with that name.
func (w *world) claudeIDOf(name string) string { return w.record(name).AgentSessionID.String() }

// begun reports whether the transcript of a session has a prompt.
func (w *world) begun(name, prompt string) bool {
	data, _ := os.ReadFile(w.transcriptPath(w.claudeIDOf(name))) // it may not be there yet
	return strings.Contains(string(data), strconv.Quote(prompt))
}

// transcriptPath returns the transcript of a Claude session; empty: none.
func (w *world) transcriptPath(claudeID string) string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.claude, "projects", "*", claudeID+".jsonl"))
	require.NoError(w.t, err)
	if len(files) == 0 {
		return ""
	}
	return files[0]
}

// transcript returns the content of a Claude session's transcript.
func (w *world) transcript(claudeID string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.transcriptPath(claudeID))
	require.NoError(w.t, err)
	return string(data)
}
