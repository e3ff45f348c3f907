package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// TestRealTextDuringBackgroundAgent sends the real CLI a text while a subagent runs in the
// background: the text is a separate turn, /stop ends that turn and reports that the subagent
// continues, and the next text does not wait for it.
func TestRealTextDuringBackgroundAgent(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("agent slow 600")
	waits := func() bool {
		return w.screenHas("work", "Waiting for 1 background agent to finish") && !w.screenHas("work", "esc to interrupt")
	}
	w.until("it waits for its agent", waits)
	const runsOn = "Still running: 1 agent in the background"
	w.hear(w.say("/stop"), runsOn)
	w.hear(w.say("say meanwhile"), "meanwhile")
	w.say("slow 600")
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

// TestRealP4_WaitingTextIsOfferedAtStop stops the real CLI while a text waits: it is not typed by
// itself, the next text is typed immediately, and the offer stays valid.
func TestRealP4_WaitingTextIsOfferedAtStop(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("slow 600")
	w.until("a turn runs", func() bool { return w.screenHas("work", "slow word slow word") })
	waits := w.say("say waited")
	w.until("the text waits", func() bool { return slices.Contains(w.inboxStates(), "held") })
	stopped := w.say("/stop")
	offer := w.hear(stopped, "is interrupted. It was working on: slow 600")
	assert.Contains(t, offer.Text, "was still queued at /stop")
	require.NotNil(t, offer.ReplyTo)
	assert.Equal(t, waits, offer.ReplyTo.ID)
	assert.Equal(t, 1, w.heard("is interrupted"))
	w.hear(w.say("say next"), "next")
	assert.Zero(t, w.saidTo("say waited"), "nothing types it by itself")
	w.tap(offer, "Send")
	w.hear(offer.ID, "waited")
	assert.Equal(t, 1, w.saidTo("say waited"))
	w.drained()
	w.stop()
}

// TestRealP4_InterruptAndSendOnce ends a turn of the real CLI for a waiting text: the chat reports
// the turn's end, the text arrives once, and the other waiting texts follow.
func TestRealP4_InterruptAndSendOnce(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("slow 600")
	w.until("a turn runs", func() bool { return w.screenHas("work", "slow word slow word") })
	w.say("say later")
	w.until("a text waits", func() bool { return len(w.record("work").Prompts) == 1 })
	urgent := w.say("say urgent")
	w.until("both wait", func() bool { return len(w.record("work").Prompts) == 2 })
	list := w.say("/queue")
	w.tap(w.hear(list, "2 messages in the queue"), "2")
	w.tap(w.hear(list, "Message 2 of 2"), "Interrupt and send")
	assert.Equal(t, "work is interrupted.", w.hear(list, "work is interrupted.").Text, "the next prompt is there")
	first := w.find("the answer", func(m botapi.Message) bool { return m.FromBot && m.ID > urgent && m.Text == "urgent" })
	w.find("the other answer", func(m botapi.Message) bool { return m.FromBot && m.ID > first.ID && m.Text == "later" })
	w.drained()
	assert.Equal(t, []int{1, 1}, []int{w.saidTo("say urgent"), w.saidTo("say later")})
	assert.NotContains(t, w.transcript(w.claudeID()), `"operation":"enqueue"`, "nothing was typed into a turn")
	w.stop()
}

// TestRealP4_UnansweredPromptIsOffered interrupts the real CLI before its first word: the prompt
// that Esc returns to the box is offered again, and the other text arrives alone.
func TestRealP4_UnansweredPromptIsOffered(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	stopped := w.say("mute 60")
	w.until("it works", func() bool { return w.screenHas("work", "esc to interrupt") && len(w.record("work").Prompts) == 0 })
	urgent := w.say("say urgent")
	w.tap(w.hear(urgent, "Queued: work is working"), "Interrupt and send")
	asked := w.hear(urgent, "Your message was not carried out")
	require.NotNil(t, asked.ReplyTo)
	assert.Equal(t, stopped, asked.ReplyTo.ID)
	w.find("the answer", func(m botapi.Message) bool { return m.FromBot && m.ID > urgent && m.Text == "urgent" })
	assert.Equal(t, 1, w.saidTo("say urgent"))
	w.tap(asked, "Discard")
	w.drained()
	w.stop()
}

// TestRealWaitEndsWithoutTurnTrace presses Esc in the terminal before the first word.
func TestRealWaitEndsWithoutTurnTrace(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	waits := w.newTerminal().call("ccbot send-prompt work 'mute 60' --wait")
	w.until("it works", func() bool { return w.screenHas("work", "esc to interrupt") && len(w.record("work").Prompts) == 0 })
	w.tmux("send-keys", "-t", "=ccbot:=work", "Escape")
	code, _, errs := waits.end()
	assert.Equal(t, []any{1, "ccbot: work is idle again, and the end of its answer was not seen: look at its window, `ccbot attach work`\n"}, []any{code, errs})
	w.stop()
}

// TestRealExitWordIsEndReason ends the real CLI by texts.
func TestRealExitWordIsEndReason(t *testing.T) {
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
