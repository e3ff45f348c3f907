package e2e

import (
	"fmt"
	"strings"
	"testing"

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
		w.hear(prompt, "Running ")
		var asked botapi.Message
		w.until("the request is the last message", func() bool {
			all := w.api.Messages(w.chat())
			asked = all[len(all)-1]
			return strings.Contains(asked.Text, command) && likeButton(asked, label) != ""
		})
		w.tapLike(asked, label)
		w.hear(asked.ID, "tool result")
		w.until("the turn has ended", func() bool { return w.phaseOf("work") == "idle" })
	}
	w.stop()
}
