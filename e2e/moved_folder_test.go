package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/try/botapi"
)

// TestP4_MovedFolderEndsItsBot moves the state folder of a bot that has a queued text. The bot
// ends, a second bot starts at the same path, and a third one, which gets the folder back, types
// the text once.
func TestP4_MovedFolderEndsItsBot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, queued := withQueuedText(w)
	moved := filepath.Join(filepath.Dir(w.state), "moved")
	require.NoError(t, os.Rename(w.state, moved))
	second := w.launch()
	w.endedForItsFolder(first)
	w.until("the second bot is ready", func() bool { return strings.Contains(second.log.String(), "msg=ready") })
	w.stop()
	assert.Equal(t, []string{"slow 600"}, w.received())
	require.NoError(t, os.RemoveAll(w.state))
	require.NoError(t, os.Rename(moved, w.state))
	w.start()
	w.tap(w.hear(queued, "Queued: work is working"), "Interrupt and send")
	w.find("the answer", func(m botapi.Message) bool { return m.Text == "queued" })
	w.drained()
	assert.Equal(t, []string{"slow 600", "say queued"}, w.received())
	w.stop()
}

// TestP4_RemovedFolderEndsItsBot removes the state folder of a running bot.
func TestP4_RemovedFolderEndsItsBot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, _ := withQueuedText(w)
	_ = os.RemoveAll(w.state) // fails if the bot makes a subfolder again in between
	second := w.launch()
	w.endedForItsFolder(first)
	if w.until("the second bot is ready or has ended", func() bool { return second.over() || strings.Contains(second.log.String(), "msg=ready") }); second.over() {
		w.start() // the first bot still had the lock of the emptied folder
	}
	w.stop()
	assert.Equal(t, []string{"slow 600"}, w.received())
}

// withQueuedText is a bot with an agent at work and a text that waits for it.
func withQueuedText(w *world) (b *botProcess, message int) {
	w.t.Helper()
	b = w.start()
	w.t.Cleanup(func() { _ = b.cmd.Process.Kill(); <-b.done }) // the world ends its last bot only
	w.open("work", w.dir)
	w.say("slow 600")
	w.until("a turn runs", func() bool { return w.screenHas("work", "slow word slow word") })
	message = w.say("say queued")
	w.until("the text waits", func() bool { return len(w.record("work").Prompts) == 1 })
	w.hear(message, "Queued: work is working")
	w.drained() // else the third bot may send this once more, and only the newest has buttons
	return b, message
}

// endedForItsFolder waits until a bot has ended because its folder is gone.
func (w *world) endedForItsFolder(b *botProcess) {
	w.t.Helper()
	w.until("the bot ends", b.over)
	assert.Equal(w.t, exit.Failure, b.cmd.ProcessState.ExitCode(), b.log)
	assert.Equal(w.t, 1, strings.Count(b.log.String(), "msg=state_folder_gone"), b.log)
	assert.NotContains(w.t, b.log.String(), "DATA RACE")
}
