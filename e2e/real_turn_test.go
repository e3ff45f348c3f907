package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRealTurnIsOneCard is a turn of the real CLI with five tools, a to-do list, a subagent and a
// permission: its card shows each of them during the turn, and the end in one line.
func TestRealTurnIsOneCard(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.env = append(w.env, withCards, "CLAUDE_CODE_ENABLE_TODO_TOOLS=1")
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "notes.txt"), []byte("before\n"), 0o600))
	playground(t, w.dir)
	w.start()
	w.open("work", w.dir)
	before := w.say("job " + filepath.Join(w.dir, "notes.txt"))
	running := w.hear(before, "work · working since")
	card := func() string { return w.cards("work")[0].Text }
	asked := w.hear(before, "wants to change a file")
	for _, part := range []string{"waiting for your answer: permission for Edit", "☰ 1/2: Change the notes", "✓ Read notes.txt",
		"✓ wc -l notes.txt", "▸ Edit notes.txt", "◆ Count the words"} { // a line of the transcript may come after the question
		w.until("the card shows "+part, func() bool { return strings.Contains(card(), part) })
	}
	w.picture("real-permission")
	w.tap(asked, "Allow")
	w.hear(before, "The job is done")
	w.until("the turn is over", func() bool { return strings.Contains(card(), "done in") })
	w.until("its files are counted", func() bool { return strings.Contains(card(), " · 1 file +2 −1") })
	all := w.cards("work")
	require.Len(t, all, 1, "one card: the turn that the end of the subagent in the background begins has no step")
	assert.Equal(t, running.ID, all[0].ID)
	for _, part := range []string{" · 5 steps", " · 1 failed"} {
		assert.Contains(t, card(), part)
	}
	w.picture("real-ended")
	w.tap(all[0], "Details")
	details := w.hear(running.ID-1, "Steps of work").Text
	for _, part := range []string{"✓ Read notes.txt", "✓ wc -l notes.txt", "✓ Agent", "✓ Edit notes.txt", "✗ ls missing"} {
		assert.Contains(t, details, part)
	}
	w.picture("real-details")
	w.stop()
}
