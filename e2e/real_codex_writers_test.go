//go:build linux

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/codex/writerlock"
	"ccbot/e2e/realcodex"
	"ccbot/internal/process"
)

// lockHolders returns the living processes that hold the lock of a conversation of Codex.
func (w *world) lockHolders(conversation uuid.UUID) (all []process.Identity) {
	w.t.Helper()
	held, err := writerlock.Home(filepath.Join(w.state, "..", "codex")).Held()
	require.NoError(w.t, err)
	for pid, ids := range held {
		if id, err := w.table.Identify(pid); err == nil && slices.Contains(ids, conversation) {
			all = append(all, id)
		}
	}
	return all
}

// codexDesk is a terminal in which a person runs Codex.
func (w *world) codexDesk() *personTerminal {
	return w.newPersonTerminal("SCRIPTED_KEY=dummy", realcodex.NoNetwork)
}

// codex resumes a conversation by hand, in a process of its own.
func (d *personTerminal) codex(conversation uuid.UUID) (target string, pane process.Identity) {
	d.w.t.Helper()
	return d.open(realcodex.Require(d.w.t), "resume", conversation.String(), "-C", d.w.dir, "--no-daemon")
}

// TestRealP1_CodexWriterBlocksResume resumes a conversation by hand after an archive: the resume
// from the chat is refused with the process that holds the lock, until a person ends it.
func TestRealP1_CodexWriterBlocksResume(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start()
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	w.hear(w.say("say hello"), "hello")
	id := w.record("cx").AgentSessionID
	w.end("cx")
	desk := w.codexDesk()
	desk.codex(id)
	var holders []process.Identity
	w.until("a process of the person holds the lock", func() bool { holders = w.lockHolders(id); return len(holders) == 1 })
	w.endLater(holders[0])

	refused := w.offered(w.say("/resume cx"), "Continue in a copy")
	assert.Contains(t, refused.Text, pid(holders[0]))
	w.tap(refused, "Show")
	shown := w.shows(refused.ID, "the lock of its conversation")
	assert.Contains(t, shown.Text, pid(holders[0]))
	w.tap(shown, "Cancel")
	w.shows(refused.ID, "Cancelled")
	assert.True(t, w.alive(holders[0]))
	assert.Empty(t, w.windows())
	assert.Equal(t, "archived", w.stateOf("cx"))

	refused = w.offered(w.say("/resume cx"), "Continue in a copy")
	w.takeOver(refused.ID, "Take over", holders[0])
	w.hear(refused.ID, "cx is ready")
	assert.Equal(t, process.Gone, w.table.Liveness(holders[0]))
	w.hear(w.say("say back here"), "back here")
	assert.Equal(t, []process.Identity{w.record("cx").Binding.AgentServer}, w.lockHolders(id))
	w.stop()
}

// TestRealP1_CodexReaderIsNoWriter shows the conversation of a running session in a person's
// terminal: without the lock that Codex is a reader, which is neither reported nor ended. Once the
// session has ended and it takes the lock, it is the writer.
func TestRealP1_CodexReaderIsNoWriter(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.start()
	w.hear(w.say("/new cx "+w.dir+" --agent codex"), "cx is ready")
	w.hear(w.say("say hello"), "hello")
	r := w.record("cx")
	desk := w.codexDesk()
	target, reader := desk.codex(r.AgentSessionID)
	w.until("it reads", func() bool { return strings.Contains(desk.screen(target), "open in another app") })
	assert.Equal(t, []process.Identity{r.Binding.AgentServer}, w.lockHolders(r.AgentSessionID))

	w.hear(w.say("say while it reads"), "while it reads")
	w.kill9()
	w.start()
	w.hear(w.say("say after a crash"), "after a crash")
	receipt := w.end("cx")
	assert.NotContains(t, receipt.Text, pid(reader))
	assert.Zero(t, w.told(pid(reader)), "it is no writer")
	assert.Empty(t, w.record("cx").SecondWriters)
	assert.True(t, w.alive(reader))
	assert.Contains(t, desk.screen(target), "open in another app")

	desk.tmux("send-keys", "-t", target, "r") // to retry
	w.until("it holds the lock", func() bool { return slices.Equal([]process.Identity{reader}, w.lockHolders(r.AgentSessionID)) })
	w.kill9()
	w.start() // which looks at once
	told := w.offered(receipt.ID, "End it")
	assert.Contains(t, told.Text, pid(reader))
	refused := w.offered(w.say("/resume cx"), "Continue in a copy")
	assert.Contains(t, refused.Text, pid(reader))
	assert.True(t, w.alive(reader))
	w.stop()
}

// TestRealP1_CodexConversationContinues continues a conversation that a person had with Codex by
// hand: the page of /new lists it, and the session that continues it is its only writer.
func TestRealP1_CodexConversationContinues(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	desk := w.codexDesk()
	target, theirs := desk.open(realcodex.Require(t), "--no-daemon", "-C", w.dir, "say by hand")
	w.until("it answers", func() bool { return strings.Contains(desk.screen(target), "• by hand") })
	desk.tmux("kill-session", "-t", target)
	w.until("it has ended", func() bool { return w.table.Liveness(theirs) == process.Gone })

	w.start()
	b := w.browses(w.person, w.chat())
	b.at(w.hear(w.person.Reply(w.chat(), b.page, w.dir), "~/work").ID) // below the reply
	b.taps("Use this folder")
	b.shows("say by hand")
	b.shows(", Codex")
	b.taps("1")
	w.hear(b.page, "is ready")
	w.hear(w.say("say from the chat"), "from the chat")
	require.Len(t, w.records(), 1)
	r := w.records()[0]
	assert.Equal(t, "codex", r.AgentName)
	assert.Equal(t, []process.Identity{r.Binding.AgentServer}, w.lockHolders(r.AgentSessionID))
	rollouts, err := filepath.Glob(filepath.Join(w.state, "..", "codex", "sessions", "*", "*", "*", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, rollouts, 1, "it is the same conversation")
	assert.Contains(t, rollouts[0], r.AgentSessionID.String())
	w.stop()
}
