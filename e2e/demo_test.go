package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestP3_MainJob is the whole of a day in one chat: start, prompt, answer, list,
// end, come back, go on.
func TestP3_MainJob(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)

	w.hear(w.say("say hello from the agent"), "hello from the agent")
	w.hear(w.say("/list"), "work")

	asked := w.hear(w.say("/kill"), "End work")
	w.tap(asked, "Kill")
	receipt := w.hear(asked.ID, "work is archived")
	require.Empty(t, w.windows(), "the window is closed")

	w.tap(receipt, "Undo")
	w.hear(receipt.ID, "work is ready")
	w.hear(w.say("say back again"), "back again")
	w.stop()
}
