package e2e

import (
	"strings"

	"github.com/stretchr/testify/assert"

	"ccbot/try/botapi"
)

// beginningWithText kills the bot between a session that a person starts for a text, and the text.
func beginningWithText() life {
	const said, button = "token without a session", "Start in ~"
	return life{name: "text without a session", rows: []crash{
		{step: "text without a session", point: "text-begun", when: "the session runs, the text is not queued",
			disk:  "the text, `asked`; a record",
			fresh: "asks about the text as before", also: "no second session; the text arrives once",
			do: func(s *stage) {
				s.t.Helper()
				s.inFlight("say " + said)
				s.tapAside(s.hear(s.mark, "No session is open"), button)
			},
			dead: func(s *stage) {
				s.t.Helper()
				assert.Equal(s.t, []string{"asked"}, s.inboxStates())
				assert.Len(s.t, s.records(), 1)
			},
			after: func(s *stage) {
				s.t.Helper()
				s.tap(s.find("the card that also offers the session", func(m botapi.Message) bool {
					return m.FromBot && strings.Contains(m.Text, "No session is open") && withPrefix(m, "Send to ") != ""
				}), button)
				s.answered(said)
				assert.Len(s.t, s.records(), 1)
			}},
	}}
}

// sharingCard kills the bot between two texts that wait under one card.
func sharingCard() life {
	const said, other, button = "token of two", "token that follows", "Start in ~"
	return life{name: "texts under one card", rows: []crash{
		{step: "text without a session", point: "text-next", when: "one of two texts is queued",
			disk:  "the first text, queued or typed; the second, `asked`",
			fresh: "continues with the first, asks about the second", also: "each arrives once",
			do: func(s *stage) {
				s.t.Helper()
				s.inFlight("say " + said)
				s.hear(s.mark, "No session is open")
				s.inFlight("say " + other)
				s.tapAside(s.find("the card of both", func(m botapi.Message) bool {
					return strings.Contains(m.Text, "2 messages wait here.")
				}), button)
			},
			dead: func(s *stage) {
				s.t.Helper()
				assert.Contains(s.t, s.inboxStates(), "asked")
				assert.Len(s.t, s.records(), 1)
			},
			after: func(s *stage) {
				s.t.Helper()
				s.answered(said)
				asked := s.find("the question about the other text", func(m botapi.Message) bool {
					return m.FromBot && strings.Contains(m.Text, other) && withPrefix(m, "Send to ") != ""
				})
				s.tap(asked, withPrefix(asked, "Send to ")) // the session's name may change in between
				s.answered(other)
				assert.Len(s.t, s.records(), 1)
			}},
	}}
}

// withPrefix returns the label of a message's button that begins with a prefix; empty if there is
// none.
func withPrefix(m botapi.Message, prefix string) string {
	for _, label := range labels(m) {
		if strings.HasPrefix(label, prefix) {
			return label
		}
	}
	return ""
}
