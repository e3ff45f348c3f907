package e2e

import (
	"github.com/stretchr/testify/assert"
)

// beginningWithText kills the bot between a session that a person starts for a text, and the text.
func beginningWithText() life {
	const said, button = "token without a session", "Start in ~"
	return life{name: "text without a session", rows: []crash{
		{step: "text without a session", point: "text-begun", when: "the session is started, the text not queued",
			disk:  "the text in the inbox, `asked`; a record of the session",
			fresh: "asks about the text as before", also: "the button starts no second session, and the text arrives once",
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
				s.tap(s.hear(s.mark, "No session is open"), button)
				s.answered(said)
				assert.Len(s.t, s.records(), 1)
			}},
	}}
}
