package prompt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/port/talk"
)

func TestAfterLimit(t *testing.T) {
	until := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	due := until.Add(talk.ContinuesWithin)
	hold := facts{Reason: limited, Until: until, Model: "Opus", Turns: 3}
	long := hold
	long.Long = true
	fails := talk.Activity{Phase: talk.PhaseLimited, Until: until}
	for _, tc := range []struct {
		name string
		a    facts
		s    limitState
		want fate
	}{
		{"the limit lasts", hold, limitState{At: until, Failed: fails, Turns: 3}, stays},
		{"the agent may go on by itself", hold, limitState{At: due.Add(-time.Second), Failed: fails, Turns: 3, Idle: true}, stays},
		{"it is over", hold, limitState{At: due, Failed: fails, Turns: 3, Idle: true}, goes},
		{"it was a long one", long, limitState{At: due, Failed: fails, Turns: 3, Idle: true}, asks},
		{"a prompt goes first", hold, limitState{At: due, Failed: fails, Turns: 3, Idle: true, Continues: true}, stays},
		{"a turn was answered", hold, limitState{At: until.Add(-time.Hour), Turns: 4, Idle: true}, goes},
		{"a turn was answered in a long one", long, limitState{At: until.Add(-time.Hour), Turns: 4}, goes},
		{"a turn has begun", hold, limitState{At: until.Add(-time.Hour), Turns: 3}, stays},
		{"a turn has begun after the end", hold, limitState{At: due, Turns: 3}, stays},
		{"the conversation is a new one", hold, limitState{At: until.Add(-time.Hour), Idle: true}, asks},
		{"the failure is gone", hold, limitState{At: until.Add(-time.Hour), Turns: 3, Idle: true}, asks},
		{"it is long over", hold, limitState{At: due.Add(MaxAge + 1), Failed: fails, Turns: 3, Idle: true}, asks},
		{"it is long over, and a turn was answered", hold, limitState{At: due.Add(MaxAge + 1), Turns: 4, Idle: true}, asks},
		{"another model", hold, limitState{At: until, Failed: fails, Turns: 3, Model: "Sonnet"}, asks},
		{"another model has answered", hold, limitState{At: until, Turns: 4, Model: "Sonnet"}, asks},
		{"the same model has answered", hold, limitState{At: until, Turns: 4, Model: "Opus"}, goes},
	} {
		assert.Equal(t, tc.want, tc.a.afterLimit(tc.s), tc.name)
	}
}
