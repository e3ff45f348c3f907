package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// reply answers a message as the person.
func (w *world) reply(to int, text string) int { return w.person.Reply(w.chat(), to, text) }

// twoSessions starts "first", which has a message in the chat, and "second", the current one.
func (w *world) twoSessions() (said botapi.Message) {
	w.t.Helper()
	for _, name := range []string{"first", "second"} {
		require.NoError(w.t, os.Mkdir(filepath.Join(w.dir, name), 0o755))
		w.open(name, filepath.Join(w.dir, name))
		m := w.hear(w.say("say hello from "+name), "hello from "+name)
		if name == "first" {
			said = m
		}
	}
	return said
}

// TestP4_ReplyFindsSessionAfterRestart answers an old message of a session
// that is not the current one: the prompt goes there, its answer comes in full, and
// the other one stays the current one.
func TestP4_ReplyFindsSessionAfterRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	said := w.twoSessions()
	w.kill9()
	w.start()

	id := w.reply(said.ID, "say an answer to the reply")
	answer := w.hear(id, "an answer to the reply")
	assert.Contains(t, answer.Text, "first", "whose it is")
	assert.Contains(t, w.transcript(w.claudeIDOf("first")), "say an answer to the reply")
	assert.Equal(t, "second", w.current())

	own := w.reply(id, "say to the person's own message")
	w.hear(own, "to the person's own message")
	assert.Contains(t, w.transcript(w.claudeIDOf("first")), "say to the person's own message")
	w.hear(w.say("say without a reply"), "without a reply")
	assert.Contains(t, w.transcript(w.claudeIDOf("second")), "say without a reply")
	w.stop()
}

// TestP4_ReplyToArchivedSessionWaits replies to a message of an ended session: that is reported,
// and the prompt waits for a tap, also across a crash.
func TestP4_ReplyToArchivedSessionWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	said := w.twoSessions()
	w.end("first")

	id := w.reply(said.ID, "say it was not lost")
	offer := w.hear(id, "was not delivered")
	assert.Contains(t, offer.Text, "first")
	w.drained() // a kill before the question is noted would show it twice
	w.kill9()
	w.start()
	assert.Equal(t, []string{"second"}, w.windows(), "nothing comes back unasked")
	w.tap(offer, "Resume and send")
	w.hear(id, "first is ready")
	w.hear(id, "it was not lost")
	assert.Contains(t, w.transcript(w.claudeIDOf("first")), "say it was not lost")
	assert.Equal(t, "second", w.current())
	assert.Len(t, w.received(), 3, "typed once")

	w.use("first")
	w.end("first")
	w.tap(w.hear(w.say("say never"), "was not delivered"), "Discard")
	offer = w.hear(w.say("say from the current one"), "was not delivered")
	w.tap(offer, "Resume and send")
	w.hear(offer.ID, "from the current one")
	assert.Equal(t, "first", w.current())
	assert.Zero(t, w.told("never"))
	w.stop()
}

// TestP4_ReplyToUnconfirmedQuestionIsAnswer loses the Bot API's answer to two questions: ccbot does
// not know the ids of the messages that the person replies to.
func TestP4_ReplyToUnconfirmedQuestionIsAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	lose := botapi.Fault{Method: "sendMessage", Kind: botapi.FaultResetAfter}
	w.api.Fault(lose)
	w.say("/loop")
	task := w.hear(0, "reply to this message with the task")
	w.api.Fault(lose)
	w.reply(task.ID, "say I try")
	check := w.hear(0, "reply with the check")
	w.kill9()
	w.start()
	w.reply(check.ID, "make test")
	w.hear(0, "20 turns")
	assert.Empty(t, w.received(), "nothing is typed")
	w.stop()
}
