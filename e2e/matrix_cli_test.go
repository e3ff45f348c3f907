package e2e

import (
	"github.com/stretchr/testify/assert"

	"ccbot/internal/session"
)

// callingVerbs kills the bot during a verb of the command line. The verb loses the connection and
// retries with the same key: here it finds no bot.
func callingVerbs() life {
	var term terminal
	row := func(point, when, disk, line, said string, dead func(*stage), after func(*stage)) crash {
		var verb called
		return crash{step: "command line", point: point, when: when, disk: disk, locks: true,
			fresh: "types the prompt once; the verb repeats its call with the same key, and succeeds",
			do: func(s *stage) {
				s.typed, s.answers[said] = append(s.typed, "say "+said), 1
				verb = term.call(line + " 'say " + said + "'")
			},
			dead: func(s *stage) {
				s.t.Helper()
				code, _, errs := verb.end()
				assert.Zero(s.t, code, "the verb says: %s", errs)
				dead(s)
			},
			after: func(s *stage) {
				s.answered(said)
				after(s)
			}}
	}
	return life{name: "command line", setup: func(s *stage) {
		working(s)
		term = s.newTerminal()
	}, rows: []crash{
		row("desk-prompt-added", "`ccbot send-prompt`: the prompt is in no queue", "the text in the inbox, `held`",
			"ccbot send-prompt work", "sent at the desk", func(s *stage) {
				s.t.Helper()
				assert.Equal(s.t, []string{"held"}, s.inboxStates())
			}, func(*stage) {}),
		row("desk-begun", "`ccbot new --prompt`: the session runs, its prompt is not stored", "a record with the key of the verb; its agent lives",
			"ccbot new desk ~ --prompt", "begun at the desk", func(s *stage) {
				s.t.Helper()
				assert.Equal(s.t, []string{"held"}, s.inboxStates())
			}, func(s *stage) {
				s.t.Helper()
				n := 0
				for _, r := range s.records() {
					if r.Name == "desk" {
						n++
						assert.Equal(s.t, session.Running, r.State)
					}
				}
				assert.Equal(s.t, 1, n, "sessions that were begun")
			}),
	}}
}
