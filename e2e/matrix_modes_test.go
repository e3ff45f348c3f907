package e2e

import (
	"github.com/stretchr/testify/assert"

	"ccbot/internal/session"
)

// switchingModes wants a permission mode, and then another one.
func switchingModes() life {
	row := func(point, when, disk, fresh, also, from, to string) crash {
		return crash{step: "mode", point: point, when: when, disk: disk, fresh: fresh, also: also,
			do: func(s *stage) {
				card := s.hear(s.say("/mode"), "Permission mode: "+from)
				s.tap(card, to)
			},
			dead: func(s *stage) {
				s.t.Helper()
				onDisk("work", session.Running, true)(s)
				assert.Equal(s.t, point == "news-saved", s.record("work").ModeRequest == nil)
			},
			after: func(s *stage) {
				s.t.Helper()
				s.until("the wish is over", func() bool { return s.record("work").ModeRequest == nil })
				s.until("it is said", func() bool { return len(s.withText("Permission mode: "+to)) > 0 })
				s.prompt("say after " + point)
				s.answered("after " + point)
			}}
	}
	return life{name: "mode", setup: working, rows: []crash{
		row("wish-saved", "before any key", "the request", "presses the key until the screen shows the mode", "", "Manual", "Accept edits"),
		row("wish-marked", "before the key", "the request, with a noted key", "continues from the mode on the screen", "", "Accept edits", "Plan"),
		row("wish-pressed", "after the key", "the request, with a noted key", "continues from the mode on the screen", "", "Plan", "Accept edits"),
		row("news-saved", "carried out and recorded, not reported", "no request; the news of its outcome", "reports the outcome", "", "Accept edits", "Manual"),
	}}
}
