package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/try/botapi"
)

// stage is the world of one life, with the facts that must hold.
type stage struct {
	*world
	typed   []string                    // expected texts to agents, in order
	answers map[string]int              // expected answers, and their maximal number
	foreign map[string]process.Identity // strangers' processes by what they are
	seconds []process.Identity          // second writers that live
	mark    int                         // newest message before the crash
	left    map[string]recordFile       // records as the last run left them
	aside   sync.WaitGroup              // unanswered taps
	desk    *personTerminal             // of a person, on ccbot's tmux server
	asked   botapi.Message              // the request that is shown
}

func newStage(t *testing.T, l life) *stage {
	t.Helper()
	s := &stage{world: newWorld(t, append([]string{"ORPHAN_GRACE=2s"}, l.env...)...), answers: make(map[string]int),
		foreign: make(map[string]process.Identity)}
	s.start()
	s.strangers()
	if l.setup != nil {
		l.setup(s)
	}
	s.rest()
	s.start() // reports the strangers' windows now, so that no row's card does
	s.rest()
	return s
}

// as runs part of the life under a row's own test.
func (s *stage) as(t *testing.T, f func()) {
	whole := s.t
	s.t = t
	defer func() { s.t = whole }()
	f()
}

// strangers starts foreign programs: a person's window, a window of another ccbot, an agent in
// another conversation.
func (s *stage) strangers() {
	s.t.Helper()
	s.strangersWindows()
	input, hold, err := os.Pipe()
	require.NoError(s.t, err)
	s.whole.Cleanup(func() { _ = hold.Close() })
	defer input.Close()
	s.foreign["claude"] = s.decoy(&exec.Cmd{Path: "/bin/sh", Stdin: input,
		Args: []string{"claude", "-c", "read x", "--resume", uuid.NewString()}}).Identity
}

func (s *stage) strangersWindows() {
	s.t.Helper()
	for name, tag := range map[string]string{"mine": "", "theirs": "other/" + uuid.NewString()} {
		pid, err := strconv.Atoi(s.tmux("new-window", "-d", "-P", "-F", "#{pane_pid}", "-t", "=ccbot:", "-n", name, "--", "sleep", "36000"))
		require.NoError(s.t, err)
		s.foreign["window "+name], err = s.table.Identify(pid)
		require.NoError(s.t, err)
		if tag != "" {
			s.tmux("set-option", "-w", "-t", "=ccbot:="+name, "@ccbot_session", tag)
		}
	}
}

// endTmux ends the tmux server with all that runs in it, as a power cut would.
func (s *stage) endTmux() {
	s.t.Helper()
	s.powerOff()
	maps.DeleteFunc(s.foreign, func(what string, _ process.Identity) bool { return strings.HasPrefix(what, "window ") })
}

// prompt sends a text for the current agent.
func (s *stage) prompt(text string) int {
	s.typed = append(s.typed, text)
	if said, ok := strings.CutPrefix(text, "say "); ok {
		s.answers[said] = 1
	}
	return s.say(text)
}

// inFlight is a prompt whose answer a crash may repeat.
func (s *stage) inFlight(text string) int {
	id := s.prompt(text)
	s.answers[strings.TrimPrefix(text, "say ")] = 2
	return id
}

// answered waits for the answer to a "say …".
func (s *stage) answered(said string) {
	s.t.Helper()
	s.find("the answer "+said, func(m botapi.Message) bool { return m.Text == said })
}

// crash is one row.
func (s *stage) crash(c crash) {
	s.t.Helper()
	if c.prepare != nil {
		c.prepare(s)
	}
	s.mark = s.lastID()
	file := filepath.Join(s.t.TempDir(), "reached")
	reached := func() bool { _, err := os.Stat(file); return err == nil }
	if c.until != nil {
		reached = func() bool { return c.until(s) }
	}
	fail := []string{"CCBOT_FAILPOINT=" + c.point, "CCBOT_FAILFILE=" + file}
	if c.do == nil {
		s.run(c.args, fail...)
	} else {
		s.start(fail...)
		s.unchanged()
		c.do(s)
	}
	s.until("the point is reached", reached)
	if c.do != nil && c.until == nil {
		s.drainedTo(c.posts)
	}
	succeeded := os.Getenv(successorEnv) != "" && !c.locks
	if !succeeded {
		s.kill9()
	}
	if c.dead != nil {
		c.dead(s)
	}
	if succeeded {
		s.succeed()
	} else {
		s.start()
	}
	c.after(s)
	s.rest()
	s.aside.Wait()
	s.promises()
}

// successorEnv makes the fresh start of a crash wait when the bot dies. The bot stops at its
// failpoint until then.
const successorEnv = "CCBOT_CRASH_SUCCESSOR"

// succeed starts a fresh bot, and kills the one before it at that moment.
func (s *stage) succeed() {
	s.t.Helper()
	before := s.bot
	s.launch()
	require.NoError(s.t, before.cmd.Process.Kill())
	<-before.done
	s.until("ccbot is ready", s.bot.ready)
}

// rest lets everything settle and stops the bot.
func (s *stage) rest() {
	s.t.Helper()
	s.until("everything has settled", s.quiet)
	s.stop()
	s.left = s.recordFiles()
}

// unchanged compares the records with the previous run: another start changes nothing.
func (s *stage) unchanged() {
	s.t.Helper()
	now := s.recordFiles()
	assert.Equal(s.t, len(s.left), len(now), "records")
	for name, was := range s.left {
		for _, key := range slices.Sorted(maps.Keys(was.merged(now[name]))) {
			assert.Equal(s.t, string(was[key]), string(now[name][key]), "one more start changes no record: %s of %s", key, name)
		}
	}
}

// recordFile is the content of a record file.
type recordFile map[string]json.RawMessage

// merged has the keys of both.
func (r recordFile) merged(other recordFile) recordFile {
	all := maps.Clone(r)
	maps.Copy(all, other)
	return all
}

// curtain starts once more at the end of a life.
func (s *stage) curtain() {
	s.t.Helper()
	last := s.lastID()
	s.start()
	asked := s.say("/list")
	s.hear(asked, "session")
	s.unchanged()
	s.stop()
	s.unchanged()
	for _, m := range s.api.Messages(s.chat()) {
		assert.False(s.t, m.FromBot && m.ID > last && m.ID < asked, "it says nothing: %q", m.Text)
	}
}

// quiet reports whether all work is done: each session is idle with its output sent, or has ended,
// and the queues are empty.
func (s *stage) quiet() bool {
	for _, dir := range []string{"inbox", "outbox", "events"} {
		if left, err := filepath.Glob(filepath.Join(s.state, dir, "*.json")); err != nil || len(left) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(s.records(), func(r session.Record) bool { return r.Unreported || r.State.Live() && !s.rests(r) })
}

// rests reports whether a session's agent is idle and ccbot has read all its output.
func (s *stage) rests(r session.Record) bool {
	if r.State != session.Running || r.ReadyAt.IsZero() || len(r.Prompts) > 0 || r.Binding == nil || r.Phase != "idle" ||
		!s.presenceSays(r.Binding.Agent.PID, `"status":"idle"`) {
		return false
	}
	if path := s.transcriptPath(r.AgentSessionID.String()); path != "" {
		info, err := os.Stat(path)
		shown := s.shownOf(r)
		if err != nil || len(shown) == 0 || shown[len(shown)-1].Offset != info.Size() || r.Progress.Offset != info.Size() {
			return false
		}
	}
	return true
}

// recordFiles returns the record files, with the chat's cursors, without their times and the values
// of the agent's status line, which comes at any time.
func (s *stage) recordFiles() map[string]recordFile {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.state, "sessions", "*.json"))
	require.NoError(s.t, err)
	all := make(map[string]recordFile)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(s.t, err)
		var r recordFile
		require.NoError(s.t, json.Unmarshal(data, &r))
		var known session.Record
		require.NoError(s.t, json.Unmarshal(data, &known))
		r["cursors"], err = json.Marshal(s.shownOf(known))
		require.NoError(s.t, err)
		delete(r, "updated_at")
		delete(r, "active_at")
		delete(r, "usage")
		all[filepath.Base(f)] = r
	}
	return all
}

// promises asserts what must hold after every row, while no bot runs.
func (s *stage) promises() {
	s.t.Helper()
	s.filesAreSound()
	s.windowsAndWriters()
	assert.Equal(s.t, s.typed, s.received(), "P4: each text once, in order")
	for said, most := range s.answers {
		n := 0
		for _, m := range s.api.Messages(s.chat()) {
			if m.FromBot && m.Text == said {
				n++
			}
		}
		assert.True(s.t, n >= 1 && n <= most, "P5: %q came %d times, at most %d", said, n, most)
	}
	for what, id := range s.foreign {
		assert.True(s.t, s.alive(id), "P2: the stranger's %s lives, pid %d", what, id.PID)
	}
	for _, id := range s.seconds {
		assert.True(s.t, s.alive(id), "P2: the second writer lives, pid %d", id.PID)
	}
	assert.Empty(s.t, s.tools(), "P3: no tool outlives its agent")
}

// filesAreSound reads every state file.
func (s *stage) filesAreSound() {
	s.t.Helper()
	_, secret, _ := strings.Cut(s.api.Token(), ":")
	walkFiles(s.t, s.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		where, err := filepath.Rel(s.state, path)
		assert.False(s.t, strings.HasPrefix(where, "quarantine"), "P8: %s was set aside", where)
		assert.NotContains(s.t, string(data), secret, "P9: %s", where)
		if filepath.Ext(path) == ".json" {
			assert.True(s.t, json.Valid(data), "P8: %s cannot be read: %.200q", where, data)
		}
		return err
	})
}

// taggedPane is a pane that carries our tag.
type taggedPane struct {
	id, pid, dead, record string
}

func (s *stage) taggedPanes() (panes []taggedPane) {
	s.t.Helper()
	instance, err := os.ReadFile(filepath.Join(s.state, "instance"))
	require.NoError(s.t, err)
	out, err := exec.Command("tmux", "-L", s.socket, "list-panes", "-a", "-F",
		"#{pane_id} #{pane_pid} #{pane_dead} #{@ccbot_session}").Output()
	if err != nil {
		return nil // no server
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		if record, ok := strings.CutPrefix(f[3], strings.TrimSpace(string(instance))+"/"); ok {
			panes = append(panes, taggedPane{f[0], f[1], f[2], record})
		}
	}
	return panes
}

// windowsAndWriters compares records, windows and processes.
func (s *stage) windowsAndWriters() {
	s.t.Helper()
	records, panes := s.records(), s.taggedPanes()
	var bound []process.Identity
	for _, r := range records {
		who := fmt.Sprintf("session %s (%s)", r.Name, r.State)
		writers := slices.DeleteFunc(s.writersOf(r.AgentSessionID.String()), func(id process.Identity) bool { return slices.Contains(s.seconds, id) })
		if !r.State.Live() {
			assert.NotEqual(s.t, session.CleanupFailed, r.State, "P3: %s", who)
			if !slices.ContainsFunc(records, func(o session.Record) bool { return o.State.Live() && o.AgentSessionID == r.AgentSessionID }) {
				assert.Empty(s.t, writers, "P1: %s is over and nobody writes it", who)
			}
			continue
		}
		if !assert.Equal(s.t, session.Running, r.State, "P8: %s has settled", who) || !assert.NotNil(s.t, r.Binding, who) {
			continue
		}
		bound = append(bound, r.Binding.Agent)
		assert.Equal(s.t, []process.Identity{r.Binding.Agent}, writers, "P1: %s has one writer", who)
		if !r.Binding.Adopted {
			want := taggedPane{r.Binding.Pane, strconv.Itoa(r.Binding.PanePID()), "0", r.ID.String()}
			assert.Contains(s.t, panes, want, "P8: %s has its pane", who)
		}
	}
	for _, p := range panes {
		live := func(r session.Record) bool { return r.ID.String() == p.record && r.State == session.Running }
		assert.True(s.t, slices.ContainsFunc(records, live), "P8: the window of pane %s belongs to no running session", p.id)
		same := func(o taggedPane) bool { return o.record != p.record }
		assert.Len(s.t, slices.DeleteFunc(slices.Clone(panes), same), 1, "P8: one pane per session")
	}
	for _, id := range s.agents() {
		assert.Contains(s.t, bound, id, "P1: every agent that ccbot started is a running session's")
	}
}
