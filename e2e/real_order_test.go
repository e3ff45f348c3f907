package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// TestRealRequestIsTheLastMessage: the real CLI writes the sentence before a tool's call to its
// transcript after the hook has asked. The request comes below that sentence, and below the card of
// the turn.
func TestRealRequestIsTheLastMessage(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.env = append(w.env, withCards)
	w.start()
	w.open("work", w.dir)
	for turn := range 10 {
		command, label := fmt.Sprint("touch marker-", turn), "Allow"
		said := "bash " + command
		if turn%5 == 4 {
			command, label, said = "Which colour?", "Red", "ask one"
		}
		prompt := w.say(said)
		asked := w.hear(prompt, command)
		w.hear(prompt, "Running ")
		below := w.below(asked)
		assert.Empty(t, below, "turn %d", turn)
		w.tapLike(w.newest(prompt, command), label)
		w.hear(asked.ID, "tool result")
		w.until("the turn has ended", func() bool { return w.phaseOf("work") == "idle" })
	}
	w.stop()
}

// newest returns the bot's last message after another one that contains text.
func (w *world) newest(after int, text string) (found botapi.Message) {
	w.t.Helper()
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && m.ID > after && strings.Contains(m.Text, text) {
			found = m
		}
	}
	require.NotZero(w.t, found.ID)
	return found
}

// below returns what the bot has sent after a message.
func (w *world) below(m botapi.Message) (texts []string) {
	for _, one := range w.api.Messages(w.chat()) {
		if one.FromBot && one.ID > m.ID {
			texts = append(texts, one.Text)
		}
	}
	return texts
}
