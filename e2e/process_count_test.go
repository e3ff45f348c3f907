package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTurnStartsNoProcess answers a prompt in a folder without a repository: neither ccbot nor its
// tmux server starts a process, and one message is sent.
func TestTurnStartsNoProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say the first"), "the first")
	w.until("what the start asks of other programs is answered", func() bool {
		return len(w.childrenOf(itoa(w.bot.cmd.Process.Pid))) == 1 // the client of tmux
	})
	w.drained()
	before, calls := w.spawned(), len(w.api.Calls())
	w.hear(w.say("say the second"), "the second")
	w.drained() // a message is in the chat before its call is in the log
	assert.Equal(t, before, w.spawned())
	sent := 0
	for _, c := range w.api.Calls()[calls:] {
		if c.Method == "sendMessage" || c.Method == "editMessageText" {
			sent++
		}
	}
	assert.Equal(t, 1, sent)
	w.stop()
}
