package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRealATextIsTakenWhileAnAgentWorksInTheBackground gives the real CLI a text while it waits for an agent of its own:
// the text is a turn of its own, and /stop has nothing to stop.
func TestRealATextIsTakenWhileAnAgentWorksInTheBackground(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("agent slow 30")
	waits := func() bool {
		return w.screenHas("work", "Waiting for 1 background agent to finish") && !w.screenHas("work", "esc to interrupt")
	}
	w.until("it waits for its agent", waits)
	w.hear(w.say("/stop"), "nothing to stop")
	w.hear(w.say("say meanwhile"), "meanwhile")
	w.hear(w.say("say once more"), "once more")
	assert.NotContains(t, w.transcript(w.claudeID()), `"operation":"enqueue"`, "the agent works on")
	assert.Zero(t, w.heard("is queued"))
	w.stop()
}

// TestRealAWordThatEndsTheAgentIsTheReasonOfItsEnd ends the real CLI by texts.
func TestRealAWordThatEndsTheAgentIsTheReasonOfItsEnd(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	for _, text := range []string{"quit", "/exit"} {
		told := w.hear(w.say(text), "work ended at your request")
		w.drained()
		assert.Zero(t, w.heard("not certain"))
		assert.Zero(t, w.heard("ended on its own"))
		w.tap(told, "Resume")
		w.hear(told.ID, "work is ready")
	}
	w.stop()
}
