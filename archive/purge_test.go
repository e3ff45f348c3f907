package archive

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/session"
)

const twoWeeks = 14 * 24 * time.Hour

// overRecord is a session that ended at a time.
func overRecord(end time.Time) session.Record {
	r := running(uuid.New())
	r.State, r.EndedAt = session.Archived, end
	return r
}

func TestExpiredByState(t *testing.T) {
	gone := map[session.State]bool{session.Archived: true, session.Completed: true, session.Lost: true,
		session.Failed: true, session.Abandoned: true}
	for _, state := range append(session.States(), "", "of a later program") {
		t.Run(string(state), func(t *testing.T) {
			r := overRecord(noon.Add(-10 * twoWeeks))
			r.State = state
			assert.Equal(t, gone[state], len(Expired(noon, twoWeeks, []session.Record{r})) == 1)
		})
	}
}

func TestExpiredByAge(t *testing.T) {
	old, fresh := noon.Add(-twoWeeks), noon.Add(-twoWeeks+time.Second)
	tests := []struct {
		name  string
		after time.Duration
		set   func(*session.Record)
		want  bool
	}{
		{"exactly its time", twoWeeks, func(r *session.Record) { r.EndedAt = old }, true},
		{"a second before", twoWeeks, func(r *session.Record) { r.EndedAt = fresh }, false},
		{"off", 0, func(r *session.Record) { r.EndedAt = old }, false},
		{"a change of the record is no new end", twoWeeks, func(r *session.Record) { r.EndedAt, r.ActiveAt = old, noon }, true},
		{"no end: the last write", twoWeeks, func(r *session.Record) { r.EndedAt, r.ActiveAt = time.Time{}, old }, true},
		{"no end, written lately", twoWeeks, func(r *session.Record) { r.EndedAt, r.ActiveAt = time.Time{}, fresh }, false},
		{"the clock stands before its end", time.Second, func(r *session.Record) { r.EndedAt = noon.Add(time.Hour) }, false},
		{"far before", time.Second, func(r *session.Record) { r.EndedAt = noon.AddDate(1000, 0, 0) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := overRecord(noon)
			tt.set(&r)
			var want []DueRecord
			if tt.want {
				want = []DueRecord{{ID: r.ID, State: r.State, Ended: old}} // for a dry run
			}
			assert.Equal(t, want, Expired(noon, tt.after, []session.Record{r}))
		})
	}
}

// TestExpiredKeepsYoungOrLiveRecords goes through random stores.
func TestExpiredKeepsYoungOrLiveRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		after := time.Duration(rapid.IntRange(0, 1000).Draw(t, "after")) * time.Hour
		now := noon.Add(time.Duration(rapid.IntRange(-2000, 2000).Draw(t, "now")) * time.Hour)
		records := make(map[uuid.UUID]session.Record)
		var list []session.Record
		for range rapid.IntRange(0, 20).Draw(t, "records") {
			r := overRecord(noon.Add(time.Duration(rapid.IntRange(-2000, 2000).Draw(t, "end")) * time.Hour))
			r.State = rapid.SampledFrom(session.States()).Draw(t, "state")
			records[r.ID], list = r, append(list, r)
		}
		gone := Expired(now, after, list)
		for _, aged := range gone {
			r := records[aged.ID]
			require.Equal(t, r.EndedAt, aged.Ended)
			require.False(t, r.State.Live())
			require.NotEqual(t, session.CleanupFailed, r.State)
			require.Positive(t, after)
			require.False(t, now.Before(r.EndedAt.Add(after)))
			delete(records, aged.ID)
		}
		require.Len(t, records, len(list)-len(gone), "none twice")
		for _, r := range records {
			kept := after == 0 || r.State.Live() || r.State == session.CleanupFailed || now.Before(r.EndedAt.Add(after))
			require.True(t, kept, "%s, ended %s", r.State, r.EndedAt)
		}
	})
}
