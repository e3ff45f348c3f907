package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRealATextIsTakenWhileAnAgentWorksInTheBackground gives the real CLI a text while it waits for an agent of its own:
// the text is a turn of its own, /stop ends such a turn and says that the agent runs on, and what comes next does not
// wait for that agent.
func TestRealATextIsTakenWhileAnAgentWorksInTheBackground(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("agent slow 60")
	waits := func() bool {
		return w.screenHas("work", "Waiting for 1 background agent to finish") && !w.screenHas("work", "esc to interrupt")
	}
	w.until("it waits for its agent", waits)
	const runsOn = "1 subagent still runs in the background"
	w.hear(w.say("/stop"), runsOn)
	w.hear(w.say("say meanwhile"), "meanwhile")
	w.say("slow 60")
	w.until("a turn runs", func() bool {
		return w.screenHas("work", "slow word slow word") && w.screenHas("work", "esc to interrupt")
	})
	w.hear(w.say("/stop"), runsOn)
	assert.Zero(t, w.heard("still works after Esc"))
	w.hear(w.say("say once more"), "once more")
	assert.NotContains(t, w.transcript(w.claudeID()), `"operation":"enqueue"`, "the agent works on")
	assert.Zero(t, w.heard("is queued"))
	w.stop()
}

// TestRealP4_WhatWaitsAtAStopIsOffered stops the real CLI while a text waits: that is not typed by itself, the next text
// is typed at once, and the offer still holds then.
func TestRealP4_WhatWaitsAtAStopIsOffered(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("slow 60")
	w.until("a turn runs", func() bool { return w.screenHas("work", "slow word slow word") })
	waits := w.say("say waited")
	w.until("the text waits", func() bool { return slices.Contains(w.inboxStates(), "held") })
	stopped := w.say("/stop")
	offer := w.hear(stopped, "was still queued at /stop")
	require.NotNil(t, offer.ReplyTo)
	assert.Equal(t, waits, offer.ReplyTo.ID)
	w.hear(stopped, "is interrupted")
	w.hear(w.say("say next"), "next")
	assert.Zero(t, w.saidTo("say waited"), "nothing types it by itself")
	w.tap(offer, "Send")
	w.hear(offer.ID, "waited")
	assert.Equal(t, 1, w.saidTo("say waited"))
	w.drained()
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
