package e2e

import (
	"strings"

	"github.com/stretchr/testify/assert"

	"ccbot/try/botapi"
)

// bashMode runs slow commands in Claude's bash mode, whose output grows in one
// message.
func bashMode() life {
	row := func(point, when, disk, fresh, also string, messages int) crash {
		word := "row-of-" + point
		command := "echo " + word + " 1; " + untilThere(word) + "; echo " + word + " all"
		return crash{step: "bash mode", point: point, when: when, disk: disk, fresh: fresh, also: also,
			do: func(s *stage) { s.prompt("!" + command) },
			after: func(s *stage) {
				s.t.Helper()
				s.makes(word)
				s.hear(s.mark, "Seen: "+command)
				whole := word + " 1\n" + word + " all"
				s.find("the whole output", func(m botapi.Message) bool {
					return m.ID > s.mark && strings.Contains(m.Text, whole) && !strings.Contains(m.Text, "Running…")
				})
				assert.LessOrEqual(s.t, len(s.withText(word+" ")), messages+1, "messages, and what the agent says to it")
				ended := 0
				for _, text := range s.withText(whole) {
					if !strings.Contains(text, "Running…") {
						ended++
					}
				}
				assert.Equal(s.t, 1, ended, "P5: the output is there once")
				s.prompt("say after " + word)
				s.answered("after " + word)
			}}
	}
	sent := row("card-sent", "the message is sent, not recorded", "the prompt is done; the card has no message",
		"sends the card again, and ends it", "the earlier message stays unchanged", 2)
	sent.posts = 1
	sent.dead = func(s *stage) {
		s.t.Helper()
		assert.Contains(s.t, s.fieldOfFiles("cards", `"kind":"`), "output", "the card whose message is there")
	}
	ended := row("output-ended", "the message has the output, the cursor does not", "the card with its output; a cursor before it",
		"makes the same edit, without effect", "one message", 1)
	runs := ended.do
	ended.do = func(s *stage) {
		s.t.Helper()
		runs(s)
		s.hear(s.mark, "Running…")
		s.makes("row-of-output-ended")
	}
	return life{name: "bash mode", setup: working, rows: []crash{sent, ended}}
}
