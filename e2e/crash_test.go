package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/sandbox"
	"ccbot/internal/session"
)

// received are the texts that reached the demo agent's input, in order.
func (w *world) received() []string {
	w.t.Helper()
	f, err := os.Open(w.sent)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(w.t, err)
	defer f.Close()
	var texts []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Text string }
		require.NoError(w.t, json.Unmarshal(lines.Bytes(), &line))
		texts = append(texts, line.Text)
	}
	require.NoError(w.t, lines.Err())
	return texts
}

// dieAt runs the bot until it reaches a failpoint, and kills it there with -9
// once what it had told before is sent: a message in flight may come twice.
func (w *world) dieAt(point string, do func()) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "reached")
	w.start("CCBOT_FAILPOINT="+point, "CCBOT_FAILFILE="+file)
	do()
	w.until("failpoint "+point+" is reached", func() bool { _, err := os.Stat(file); return err == nil })
	w.drained()
	w.kill9()
}

// drained waits until everything that the bot had to say is sent and noted.
func (w *world) drained() {
	w.t.Helper()
	w.until("what was told is sent", func() bool {
		left, err := filepath.Glob(filepath.Join(w.state, "outbox", "*.json"))
		return err == nil && len(left) == 0
	})
}

// TestP4_CrashWhileAPromptIsDelivered kills the bot at every step between a
// message and its proof. Nothing is lost and nothing is typed twice; where it
// cannot be known whether the agent has the text, the person is asked.
func TestP4_CrashWhileAPromptIsDelivered(t *testing.T) {
	for _, tt := range []struct {
		name, point string
		asks        bool
	}{
		{"on disk, not handled", "accepted", false},
		{"typing is marked, nothing typed", "typing-marked", true},
		{"between paste and Enter", "pasted", true},
		{"between Enter and receipt", "entered", false},
		{"proven, still in the record", "prompt-finished", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.start()
			w.open("work", w.dir)
			w.stop()

			var id int
			w.dieAt(tt.point, func() { id = w.say("say token of the crash") })
			w.start()
			if tt.asks {
				w.tap(w.hear(id, "I cannot prove"), "Send again")
			}
			w.hear(id, "token of the crash")
			w.hear(w.say("say the next one"), "the next one")
			assert.Equal(t, []string{"say token of the crash", "say the next one"}, w.received())
			w.stop()
		})
	}
}

// TestP4_DroppedAfterACrash gives a prompt up that stands in the prompt box:
// it is taken out there, and the next one is typed alone.
func TestP4_DroppedAfterACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.stop()
	var id int
	w.dieAt("pasted", func() { id = w.say("line one\nline two\nline three") })
	w.start()
	w.tap(w.hear(id, "I cannot prove"), "Drop")
	w.hear(w.say("say the next one"), "the next one")
	assert.Equal(t, []string{"say the next one"}, w.received())
	w.stop()
}

// TestP5_CrashWhileAnAnswerIsSent kills the bot while the Bot API holds one of
// its messages: the answer is not lost, and at most that one part comes twice.
func TestP5_CrashWhileAnAnswerIsSent(t *testing.T) {
	for _, kind := range []sandbox.FaultKind{sandbox.FaultHang, sandbox.FaultResetAfter} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.start()
			w.open("work", w.dir)
			w.hear(w.say("say first"), "first")
			calls := len(w.api.Calls())
			withdraw := w.api.Fault(sandbox.Fault{Method: "sendMessage", Kind: kind})
			id := w.say("say the answer that counts")
			w.until("the answer is being sent", func() bool {
				for _, c := range w.api.Calls()[calls:] {
					if c.Fault == kind {
						return true
					}
				}
				return kind == sandbox.FaultHang && len(w.received()) == 2
			})
			w.kill9()
			withdraw()
			w.start()
			w.hear(id, "the answer that counts")
			w.hear(w.say("say after"), "after")
			assert.LessOrEqual(t, w.heard("the answer that counts"), 2)
			assert.Equal(t, 1, w.heard("first"))
			w.stop()
		})
	}
}

// TestP8_CrashInALife kills the bot at every persisted step of a start, an
// archive, an end by itself and a restore. Started again it finishes what was
// begun: one window at the most, one agent, and the person is told.
func TestP8_CrashInALife(t *testing.T) {
	start := func(w *world) { w.say("/new work " + w.dir) }
	tool := func(w *world) { w.withChild() }
	kill := func(w *world) { w.tap(w.hear(w.say("/kill work"), "End work"), "Kill") }
	leave := func(w *world) { w.say("/exit") }
	restore := func(w *world) { w.say("/resume work") }
	const ready, archived, ended = "work is ready", "work is archived", "work ended by itself"
	for _, tt := range []struct {
		name, point string
		env         []string
		before      []func(*world) // what happened without a crash
		do          func(*world)
		then        string // what the bot says in the end
	}{
		{"start-recorded", "start-recorded", nil, nil, start, ready},
		{"window-made", "window-made", nil, nil, start, ready},
		{"bound", "bound", nil, nil, start, ready},
		{"stop-recorded", "stop-recorded", nil, []func(*world){start}, kill, archived},
		{"below-recorded", "below-recorded", stubborn, []func(*world){start, tool}, kill, archived},
		{"ended", "ended", nil, []func(*world){start}, kill, archived},
		{"receipt-told", "receipt-told", nil, []func(*world){start}, kill, archived},
		{"end-told", "end-told", nil, []func(*world){start}, leave, ended},
		{"end-recorded", "end-recorded", nil, []func(*world){start}, leave, ended},
		{"restore-recorded", "restore-recorded", nil, []func(*world){start, kill}, restore, ready},
		{"window-made of a restore", "window-made", nil, []func(*world){start, kill}, restore, ready},
		{"bound of a restore", "bound", nil, []func(*world){start, kill}, restore, ready},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.env...)
			w.start()
			for _, do := range tt.before {
				do(w)
				w.until("the session has settled", func() bool { return w.settled() })
			}
			w.stop()
			mark, before := w.lastID(), w.heard(tt.then)
			w.dieAt(tt.point, func() { tt.do(w) })
			w.start()
			w.hear(mark, tt.then)
			w.until("the session has settled", func() bool { return w.settled() })
			w.stop()
			w.start()
			assert.True(t, w.settled(), "recovery once more changes nothing")
			agents := w.agents()
			assert.Len(t, w.windows(), len(agents), "a window for each agent, and no other")
			assert.LessOrEqual(t, len(agents), 1)
			assert.Empty(t, w.tools(), "no tool outlives its agent")
			assert.LessOrEqual(t, w.heard(tt.then)-before, 2, "a crash tells it twice at most")
			w.stop()
		})
	}
}

// tools are the living processes of tools that withChild has started.
func (w *world) tools() []process.Identity {
	return slices.DeleteFunc(slices.Clone(w.children), func(id process.Identity) bool { return w.table.Liveness(id) == process.Gone })
}

// TestP8_CrashWhileASecondWriterIsTold kills the bot between the message about a
// second writer and its record: it is told twice at most, and spared later on.
func TestP8_CrashWhileASecondWriterIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.stop()
	var second process.Identity
	w.dieAt("second-told", func() { second = w.newDesk().agent("--resume", w.claudeID()) })
	for range 2 {
		w.start()
		w.until("it is told and noted", func() bool { return w.told(pid(second)) > 0 && slices.Contains(w.records()[0].Seconds, second) })
		w.stop()
	}
	assert.LessOrEqual(t, w.told(pid(second)), 2)
	w.start()
	assert.Contains(t, w.end("work").Text, pid(second))
	assert.True(t, w.alive(second))
	w.stop()
}

// TestP8_ADeskResumeDuringACrashedArchiveSurvives starts the conversation at the
// desk while the bot is down in the middle of an archive: it knew that the
// session was over, so it is no leftover.
func TestP8_ADeskResumeDuringACrashedArchiveSurvives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.stop()
	id := w.claudeID()
	w.dieAt("stop-recorded", func() { w.tap(w.hear(w.say("/kill work"), "End work"), "Kill") })
	own := w.agents()
	require.Len(t, own, 1)
	later := w.newDesk().agent("--resume", id)

	w.start()
	receipt := w.hear(0, "work is archived. ")
	assert.Contains(t, receipt.Text, pid(later), "the receipt says who was spared")
	assert.Equal(t, process.Gone, w.table.Liveness(own[0]))
	ghost := w.offered(0, "Stop it")
	assert.Contains(t, ghost.Text, pid(later))
	assert.Equal(t, []process.Identity{later}, w.writersOf(id))
	assert.Empty(t, w.windows())
	w.stop()
}

// settled says whether every session is running or over, and there is one.
func (w *world) settled() bool {
	records := w.records()
	return len(records) > 0 && !slices.ContainsFunc(records, func(r session.Record) bool {
		return r.State != session.Running && r.State != session.Archived && r.State != session.Completed
	})
}

// agents are the living agents that this world's ccbot started.
func (w *world) agents() []process.Identity {
	w.t.Helper()
	snap, err := w.table.Snapshot(w.t.Context())
	require.NoError(w.t, err)
	var all []process.Identity
	for _, p := range snap.Processes {
		launched := slices.ContainsFunc(p.Args, func(a string) bool { return strings.HasPrefix(a, w.state+"/launch/") })
		if launched && !p.Gone() && !forked(snap, p) {
			all = append(all, p.Identity)
		}
	}
	return all
}

// forked says whether a process is a fork that shows its parent's command line
// until it has become its own program, as one for a hook does.
func forked(snap process.Snapshot, p process.Process) bool {
	parent, ok := snap.Find(p.PPID)
	return ok && slices.Equal(parent.Args, p.Args)
}

// lastID is the newest message of the chat.
func (w *world) lastID() int {
	id := 0
	for _, m := range w.api.Messages(w.chat()) {
		id = max(id, m.ID)
	}
	return id
}
