package e2e

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/schedule"
)

// scheduling kills the bot at each step of a schedule. The time of most is reached while no bot
// runs.
func scheduling() life {
	var term terminal
	var verb called
	row := func(point, when, disk, fresh string, is func(s schedule.Schedule) bool) crash {
		said := "schedule at " + point
		return crash{step: "schedule", point: point, when: when, disk: disk, fresh: fresh, also: "the prompt once",
			prepare: func(s *stage) {
				s.schedule("work", "say "+said, "@at "+time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), func(*schedule.Schedule) {})
			},
			dead: func(s *stage) {
				s.t.Helper()
				require.Len(s.t, s.schedules(), 1)
				assert.True(s.t, is(s.schedules()[0]), "what is on disk: %+v", s.schedules()[0])
			},
			after: func(s *stage) {
				s.t.Helper()
				s.typed = append(s.typed, "say "+said)
				s.answered(said)
				s.hear(0, "Scheduled prompt for work, 1 h late: say "+said)
				s.until("the schedule is over", func() bool { return len(s.schedules()) == 0 })
			}}
	}
	return life{name: "schedule", setup: func(s *stage) {
		working(s)
		term = s.newTerminal()
	}, rows: []crash{
		{step: "schedule", point: "schedule-saved", when: "it was added", disk: "a schedule", fresh: "keeps it; the verb has asked again with the same key",
			do: func(*stage) {
				verb = term.call("ccbot schedule add work 'day " + time.Now().Add(12*time.Hour).Format("15:04") + "' 'say never'")
			},
			dead: func(s *stage) { assert.Len(s.t, s.schedules(), 1) },
			after: func(s *stage) {
				s.t.Helper()
				code, _, errs := verb.end()
				assert.Zero(s.t, code, "the verb says: %s", errs)
				require.Len(s.t, s.schedules(), 1)
				term.says("ccbot schedule remove " + s.schedules()[0].ID.String())
				assert.Empty(s.t, s.schedules())
			}},
		row("schedule-begun", "the occurrence is on disk, its prompt nowhere", "a schedule with a run", "sends the prompt",
			func(s schedule.Schedule) bool { return s.Run != nil && !s.Run.Sent }),
		row("schedule-kept", "the prompt is queued, and the schedule does not know it", "a schedule with a run; the prompt in the inbox with the key of the occurrence", "finds the prompt by its key",
			func(s schedule.Schedule) bool { return s.Run != nil && !s.Run.Sent }),
		row("schedule-sent", "the chat was not told", "a schedule with a sent run and a report", "tells the chat",
			func(s schedule.Schedule) bool { return s.Run != nil && s.Run.Sent && len(s.Reports) == 1 }),
		row("schedule-told", "the chat was told, and that is not on disk", "a schedule with a sent run and a report; the message in the outbox", "tells the chat once more",
			func(s schedule.Schedule) bool { return s.Run != nil && s.Run.Sent && len(s.Reports) == 1 }),
	}}
}
