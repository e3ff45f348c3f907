package conversation

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/address"
	"ccbot/port"
)

// A session keeps the limits of the chat in which it was started, and a group's own ones come first.
func TestLimitsStayWithSession(t *testing.T) {
	const ann, ben, team = 1, 2, -100
	s, err := Open(t.TempDir(), t.TempDir(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	day := 24 * time.Hour
	require.NoError(t, s.Set(ann, func(set *Settings) {
		set.SessionBudget, set.DayBudget, set.AtLimit, set.IdleAfter = 1, 5, Stop, &day
	}))
	in := func(chat int64) address.Conversation { return address.Conversation{ChatID: chat} }
	limits := func(r port.Session) [3]any {
		set := s.Limits(r)
		return [3]any{set.SessionBudget, set.DayBudget, s.Days(r)}
	}
	for name, tt := range map[string]struct {
		r    port.Session
		want [3]any
	}{
		"at home":                       {port.Session{Conversation: in(ann), Owner: ann}, [3]any{1., 5., []int64{ann}}},
		"moved to Ben":                  {port.Session{Conversation: in(ben), Owner: ann, Terms: ann}, [3]any{1., 5., []int64{ann}}},
		"Ben's, moved to Ann":           {port.Session{Conversation: in(ann), Owner: ben, Terms: ben}, [3]any{0., 0., []int64{ben}}},
		"in a group that chose nothing": {port.Session{Conversation: in(team), Owner: ann}, [3]any{1., 5., []int64{team, ann}}},
		"nobody's, in the group":        {port.Session{Conversation: in(team)}, [3]any{0., 0., []int64{team}}},
	} {
		assert.Equal(t, tt.want, limits(tt.r), name)
	}
	assert.Equal(t, Stop, s.Limits(port.Session{Conversation: in(team), Owner: ann}).AtLimit)
	assert.Equal(t, &day, s.Limits(port.Session{Conversation: in(ben), Owner: ann, Terms: ann}).IdleAfter)
	require.NoError(t, s.Set(team, func(set *Settings) { set.SessionBudget, set.DayBudget = 3, 30 }))
	assert.Equal(t, [3]any{1., 5., []int64{team, ann}}, limits(port.Session{Conversation: in(team), Owner: ann}), "the stricter one counts")
	assert.Equal(t, [3]any{3., 30., []int64{team, ben}}, limits(port.Session{Conversation: in(ann), Owner: ben, Terms: team}))
}
