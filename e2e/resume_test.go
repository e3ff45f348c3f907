package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// TestUndoGivesEverythingBack takes a /kill back: name, directory and conversation are as before,
// but a session chosen in between stays current.
func TestUndoGivesEverythingBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("other", w.dir)
	dir := filepath.Join(w.dir, "inside")
	require.NoError(t, os.Mkdir(dir, 0o755))
	w.open("work", dir)
	w.hear(w.say("say hello"), "hello")

	receipt := w.end("work")
	w.tap(receipt, "Undo")
	w.hear(receipt.ID, "work is ready")
	assert.Equal(t, "work", w.current())
	assert.Equal(t, dir, w.tmux("display-message", "-p", "-t", "=ccbot:work", "#{pane_current_path}"))
	w.hear(w.say("say in its place"), "in its place")
	assert.Contains(t, w.transcript(w.claudeIDOf("work")), "say in its place")

	receipt = w.end("work")
	w.use("other")
	w.tap(receipt, "Undo")
	w.hear(receipt.ID, "work is ready")
	assert.Equal(t, "other", w.current())
	w.hear(w.say("say to the other"), "to the other")
	assert.Contains(t, w.transcript(w.claudeIDOf("other")), "say to the other")
	assert.ElementsMatch(t, []string{"other", "work"}, w.windows())
	w.stop()
}

// TestResumeWithoutItsDirectory resumes a session whose directory is missing: that is reported, and
// the person can make it again or choose another one.
func TestResumeWithoutItsDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	dir := filepath.Join(w.dir, "inside")
	require.NoError(t, os.Mkdir(dir, 0o755))
	w.open("work", dir)
	w.hear(w.say("say hello"), "hello")
	where := func() string {
		return w.tmux("display-message", "-p", "-t", "=ccbot:work", "#{pane_current_path}")
	}
	id := w.claudeID()
	gone := func() botapi.Message {
		w.end("work")
		require.NoError(t, os.RemoveAll(dir))
		return w.offered(w.say("/resume work"), "Create folder")
	}

	told := gone()
	assert.Contains(t, told.Text, "no longer exists")
	assert.Empty(t, w.windows())
	w.tap(told, "Create folder")
	w.hear(told.ID, "work is ready")
	assert.Equal(t, dir, where())

	told = gone()
	assert.Contains(t, told.Text, "/resume work PATH")
	w.hear(w.say("/resume work ~"), "work is ready")
	assert.Equal(t, filepath.Dir(w.dir), where(), "home")

	w.end("work")
	w.hear(w.say("/resume work "+w.dir), "work is ready")
	assert.Equal(t, w.dir, where())
	w.hear(w.say("say still the same talk"), "still the same talk")
	assert.Equal(t, id, w.claudeID())
	assert.Contains(t, w.transcript(id), "say hello")
	assert.Contains(t, w.transcript(id), "say still the same talk")
	w.stop()
}

// TestDamagedTranscriptIsRepairedInCopy resumes a session whose transcript was damaged by a crash
// of the machine: after a question a repaired copy continues, and the original does not change.
func TestDamagedTranscriptIsRepairedInCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.end("work")
	id := w.claudeID()
	path := w.transcriptPath(id)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0) // an emptied file would count as replaced
	require.NoError(t, err)
	_, err = file.WriteString(`{"type":"assistant","message":{"role":"assis` + strings.Repeat("\x00", 512))
	require.NoError(t, errors.Join(err, file.Close()))
	damage := w.transcript(id)

	asked := w.offered(w.say("/resume work"), "Resume repaired copy")
	assert.Contains(t, asked.Text, "cut off")
	assert.Contains(t, asked.Text, "(NUL) bytes")
	_, ok := asked.Find("Resume as is")
	assert.True(t, ok)
	assert.Empty(t, w.windows(), "nothing is started before the answer")
	w.tap(asked, "Resume repaired copy")
	w.hear(asked.ID, "work is ready")
	w.hear(w.say("say it goes on"), "it goes on")

	assert.Equal(t, damage, w.transcript(id), "the original is as it was")
	copied := w.claudeID()
	assert.NotEqual(t, id, copied)
	assert.Contains(t, w.transcript(copied), "say hello")
	assert.Contains(t, w.transcript(copied), "say it goes on")
	assert.NotContains(t, w.transcript(copied), "\x00")
	assert.Len(t, w.after(0, func(m botapi.Message) bool { return m.Text == "hello" }), 1, "what was said before is not told again")
	w.stop()
}

// TestTerminalAnswersAreHistory continues an archived session in a terminal: its answers there are
// not sent to the chat, neither after a restart nor after a resume.
func TestTerminalAnswersAreHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	w.end("work")
	id, desk := w.claudeID(), w.newPersonTerminal()
	agent := desk.agent("--resume", id)
	desk.enter(desk.last(), "say among ourselves")
	w.until("it is said", func() bool {
		return strings.Contains(w.transcript(id), `"text":"among ourselves"`) && w.presenceSays(agent.PID, `"status":"idle"`)
	})
	w.stop()
	w.start()
	refused := w.offered(w.say("/resume work"), "Continue in a copy")
	w.takeOver(refused.ID, "Take over", agent)
	w.hear(refused.ID, "work is ready")
	w.hear(w.say("say to the chat"), "to the chat")
	assert.Empty(t, w.after(0, func(m botapi.Message) bool { // a resume that takes long shows the screen
		return strings.Contains(m.Text, "among ourselves") && !strings.HasPrefix(m.Text, "work is still starting")
	}))
	w.stop()
}
