package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// TestRealP5_WorktreeLosesNoAnswer has the agent enter a worktree, for which Claude Code renames the transcript. The answers of that
// turn and of the next ones reach the chat once, and a resume goes on there.
func TestRealP5_WorktreeLosesNoAnswer(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.repository()
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say first"), "first")
	w.hear(w.say("enter side"), "tool result")
	w.hear(w.say("say second"), "second")
	w.hear(w.say("leave"), "tool result")
	w.hear(w.say("enter side"), "tool result")
	w.hear(w.say("say third"), "third")
	w.end("work")
	w.hear(w.say("/resume work"), "work is ready")
	w.hear(w.say("say fourth"), "fourth")
	for _, text := range []string{"first", "second", "third", "fourth"} {
		assert.Len(t, w.after(0, func(m botapi.Message) bool { return m.Text == text }), 1, "the chat has it once")
	}
	// A resume that takes long shows the agent's screen, which has the conversation.
	entered := w.after(0, func(m botapi.Message) bool { return strings.HasPrefix(m.Text, "Running EnterWorktree.") })
	assert.Len(t, entered, 2, "what was shown before the file was renamed is not shown again")
	w.stop()
}

// TestRealP5_AgentsFolderIsFollowed: the chat speaks of the folder in which the agent works, says once that it has gone there, and a
// resume begins there. ccbot send keeps to the folder of the start.
func TestRealP5_AgentsFolderIsFollowed(t *testing.T) {
	t.Parallel()
	other, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w, _ := newRealWorldIn(t, t.TempDir(), other)
	w.repository()
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("enter side"), "now works in")
	side := filepath.Join(w.dir, ".claude", "worktrees", "side")
	require.NoError(t, os.WriteFile(filepath.Join(side, "new.txt"), []byte("from the work tree"), 0o600))
	w.hear(w.say("/changes"), "new.txt")
	w.heardFile(w.say("/get new.txt"), "new.txt")
	w.hear(w.say("/status"), "worktrees/side")
	w.heardFile(w.say("!ccbot send new.txt"), "new.txt")
	w.bringsInto(side)
	w.hear(w.say("leave"), "now works in")

	w.hear(w.say("//cd "+other), "now works in")
	require.NoError(t, os.WriteFile(filepath.Join(other, "there.txt"), []byte("from another folder"), 0o600))
	w.heardFile(w.say("/get there.txt"), "there.txt")
	w.hear(w.say("!ccbot send there.txt"), "outside of the folder in which the session began")
	w.bringsInto(other)
	w.end("work")
	w.hear(w.say("/resume work"), "work is ready")
	w.until("the agent is in the folder to which it was sent", func() bool {
		return w.tmux("display-message", "-p", "-t", "=ccbot:=work", "#{pane_current_path}") == other
	})
	w.hear(w.say("say after"), "after")
	w.end("work")
	require.NoError(t, os.RemoveAll(other))
	w.hear(w.say("/resume work"), "is no longer there")
	w.hear(w.say("say again"), "again")
	assert.Len(t, w.after(0, func(m botapi.Message) bool { return m.FromBot && strings.Contains(m.Text, "now works in") }), 3, "each change is said once")
	w.stop()
}

// bringsInto sends a file to the session: the agent is told its whole path, which is in the folder in which the agent works now.
func (w *world) bringsInto(folder string) {
	w.t.Helper()
	file := filepath.Join(folder, ".ccbot-inbox", "brought.txt")
	assert.NoFileExists(w.t, file)
	w.hear(w.person.SendFile(w.chat(), "brought.txt", "text/plain", []byte("from the chat"), "say look at"), "look at\nAttached file: "+file)
	assert.FileExists(w.t, file)
}

// heardFile waits for a file of the bot after message id.
func (w *world) heardFile(id int, name string) {
	w.t.Helper()
	w.until("the bot sends "+name, func() bool {
		return slices.ContainsFunc(w.api.Messages(w.chat()), func(m botapi.Message) bool {
			return m.FromBot && m.ID > id && m.Document != nil && m.Document.FileName == name
		})
	})
}
