package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// TestP4_InterruptAndSendMovesPromptFirst changes a session's queue from the chat, with the built
// program.
func TestP4_InterruptAndSendMovesPromptFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("slow 600")
	w.until("a turn runs", func() bool { return w.screenHas("work", "slow word slow word") })
	for i, text := range []string{"say one", "say two", "say three"} {
		w.say(text)
		w.until("it waits", func() bool { return len(w.record("work").Prompts) == i+1 })
	}
	list := w.say("/queue")
	w.tap(w.hear(list, "3 messages in the queue"), "3")
	w.tap(w.hear(list, "Message 3 of 3"), "Discard")
	w.tap(w.hear(list, "2 messages in the queue"), "2")
	w.tap(w.hear(list, "Message 2 of 2"), "Interrupt and send")
	said := w.hear(list, "work is interrupted.")
	assert.Equal(t, "work is interrupted.", said.Text, "the next prompt is there")
	w.find("the answers", func(m botapi.Message) bool { return m.Text == "one" })
	w.drained()
	assert.Equal(t, []string{"slow 600", "say two", "say one"}, w.received())
	assert.Zero(t, w.heard("was still queued at /stop"))
	w.hear(list, "Nothing is queued for work")
	w.stop()
}

// TestStopWithQueueIsOneMessage stops a turn while two texts wait. The agent's output so far comes
// as usual, without a sound.
func TestStopWithQueueIsOneMessage(t *testing.T) {
	t.Parallel()
	w := newWorldAt(t, botapi.Options{}, withCards)
	w.start()
	w.open("work", w.dir)
	w.say("slow 600")
	w.until("a turn runs", func() bool { return w.screenHas("work", "slow word slow word") })
	for i, text := range []string{"say one", "say two"} {
		w.say(text)
		w.until("it waits", func() bool { return len(w.record("work").Prompts) == i+1 })
	}
	w.hear(0, "Queued: work is working") // it comes after seconds, else perhaps below /stop
	stop := w.say("/stop")
	list := w.hear(stop, "work is interrupted. It was working on: slow 600\nIt has not carried out these messages:\n1. say one\n2. say two")
	w.hear(stop, "slow word slow word")
	w.tap(list, "Discard all")
	w.hear(stop, "2 messages were discarded")
	w.drained()
	var after []string
	for _, m := range w.api.Messages(w.chat()) {
		isCard := strings.HasPrefix(m.Text, "work · ") // of a turn that a slow machine stops late
		if m.FromBot && m.ID > stop && !strings.HasPrefix(m.Text, "slow word") && !isCard {
			after = append(after, m.Text)
		}
		assert.True(t, !m.FromBot || m.ID <= stop || m.ID == list.ID || m.Silent, "%q makes a sound", m.Text)
	}
	assert.Equal(t, []string{"2 messages were discarded."}, after)
	w.stop()
}

// TestP4_QueuedMessageCanBeSentNow taps the button under a text that waits.
func TestP4_QueuedMessageCanBeSentNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("slow 600")
	w.until("a turn runs", func() bool { return w.screenHas("work", "slow word slow word") })
	waits := w.say("say urgent")
	told := w.hear(waits, "Queued: work is working")
	require.NotNil(t, told.ReplyTo)
	assert.Equal(t, waits, told.ReplyTo.ID)
	w.tap(told, "Interrupt and send")
	w.hear(told.ID, "urgent")
	w.drained()
	assert.Equal(t, []string{"slow 600", "say urgent"}, w.received())
	w.stop()
}
