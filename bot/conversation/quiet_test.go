package conversation

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/address"
)

func TestQuietHours(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 0, 0, zone) }
	night, noon := &Hours{From: 22 * 60, Until: 7 * 60}, &Hours{From: 12*60 + 30, Until: 14 * 60}
	onFriday := &Hours{From: 22 * 60, Until: 7 * 60, Days: 1 << time.Friday}
	long := at(1, 12, 0)
	for _, tt := range []struct {
		name       string
		hours      *Hours
		now, asked time.Time
		want       bool
	}{
		{"none", nil, at(5, 23, 0), long, false},
		{"before", night, at(5, 21, 59), long, false},
		{"they begin", night, at(5, 22, 0), long, true},
		{"midnight", night, at(6, 0, 0), long, true},
		{"the last minute", night, at(6, 6, 59), long, true},
		{"they end", night, at(6, 7, 0), long, false},
		{"nothing was ever asked", night, at(5, 23, 0), time.Time{}, true},
		{"asked just before them", night, at(6, 3, 0), at(5, 21, 59), true},
		{"asked in them, before midnight", night, at(6, 3, 0), at(5, 22, 0), false},
		{"asked in them, after midnight", night, at(6, 3, 0), at(6, 2, 0), false},
		{"asked in those of the night before", night, at(6, 23, 0), at(6, 3, 0), true},
		{"within a day, before", noon, at(5, 12, 29), long, false},
		{"within a day", noon, at(5, 12, 30), long, true},
		{"within a day, over", noon, at(5, 14, 0), long, false},
		{"asked on the same day in them", noon, at(5, 13, 0), at(5, 12, 31), false},
		{"the clock was set back since", night, at(5, 23, 0), at(6, 5, 0), false},
		{"an hour is left out in spring", night, at(29, 3, 30), at(28, 21, 59), true},
		{"the first of a month", night, at(1, 2, 0), time.Date(2026, 2, 28, 22, 30, 0, 0, zone), false},
		{"a day that is not theirs", onFriday, at(5, 23, 0), long, false},
		{"they begin on a Friday", onFriday, at(6, 23, 0), long, true},
		{"the morning after a Friday", onFriday, at(7, 6, 0), long, true},
		{"the morning of a Friday", onFriday, at(6, 6, 0), long, false},
		{"no time at all", &Hours{From: 60, Until: 60}, at(5, 1, 0), long, false},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, tt.hours.Quiet(tt.now, tt.asked)) })
	}
}

// The time of a prompt belongs to its session, and survives the move of its place.
func TestLatestPromptEndsQuiet(t *testing.T) {
	c, err := Open(t.TempDir(), t.TempDir(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	topic, chat := address.Conversation{ChatID: 7, ThreadID: 3}, address.Conversation{ChatID: 7}
	one, two, three := uuid.New(), uuid.New(), uuid.New()
	now := time.Date(2026, 3, 5, 23, 0, 0, 0, time.Local)
	require.NoError(t, c.Set(7, func(s *Settings) { s.Quiet = &Hours{From: 22 * 60, Until: 7 * 60} }))
	early, late := now.Add(-2*time.Hour), now.Add(-time.Minute)
	require.NoError(t, c.NotePrompt(topic, 0, "", one, late, 7))
	require.NoError(t, c.NotePrompt(topic, 0, "", two, early, 7))
	require.NoError(t, c.NotePrompt(chat, 0, "", one, early, 7))
	require.NoError(t, c.NotePrompt(chat, 0, "", two, late, 7))
	require.NoError(t, c.Rehome(topic, chat))
	for session, quiet := range map[uuid.UUID]bool{one: false, two: false, three: true} {
		assert.Equal(t, quiet, c.Quiet(chat, session, now))
	}
	require.NoError(t, c.Forget(one))
	assert.True(t, c.Quiet(chat, one, now))
	require.NoError(t, c.NotePrompt(chat, 0, "", three, late.Add(25*time.Hour), 7))
	assert.True(t, c.Quiet(chat, two, now), "it is no longer kept")
}
