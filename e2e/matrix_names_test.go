package e2e

import (
	"slices"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/session"
)

// naming kills the bot while a session gets another name.
func naming() life {
	row := func(point, when, disk, fresh, to string) crash {
		return crash{step: "name", point: point, when: when, disk: disk, fresh: fresh,
			do: func(s *stage) { s.say("/rename " + to) },
			dead: func(s *stage) {
				s.t.Helper()
				onDisk(to, session.Running, true)(s)
				assert.True(s.t, s.record(to).NameDue)
			},
			after: func(s *stage) {
				s.t.Helper()
				hears("now called " + to)(s)
				s.until("the window has the name", func() bool { return slices.Contains(s.windows(), to) })
				s.until("it is noted", func() bool { return !s.record(to).NameDue })
				s.prompt("say after " + point)
				s.answered("after " + point)
			}}
	}
	return life{name: "name", setup: working, rows: []crash{
		row("name-saved", "the record has the name", "the name, due for the window", "names the window", "web"),
		row("window-named", "the window has the name", "the name, due for the window", "names it again, without effect", "work"),
	}}
}
