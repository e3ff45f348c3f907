package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestP8_NumbersOfNewsRise(t *testing.T) {
	var r Record
	require.NoError(t, r.AddNews("Ready", "{}", noon))
	copied := r.Clone()
	require.NoError(t, r.AddNews("Ended", "{}", noon))
	require.NoError(t, r.AddNews("Ready", "{}", noon.Add(-time.Hour)), "the clock was set back")
	assert.Less(t, r.News[0].Number, r.News[1].Number)
	assert.Less(t, r.News[1].Number, r.News[2].Number)
	require.NoError(t, copied.AddNews("Lost", "{}", noon.Add(time.Minute)), "restored from a copy")
	assert.Greater(t, copied.LastNews, r.LastNews)
	for len(r.News) < newsLimit {
		require.NoError(t, r.AddNews("Ready", "{}", noon))
	}
	require.ErrorIs(t, r.AddNews("Ready", "{}", noon), errTooMuchNews)
}

// A clean stop leaves nothing that only the memory has: an earlier ccbot may run next.
func TestP5_CleanStopSavesKeptRecords(t *testing.T) {
	folders := newFolders(t)
	s := folders.open(t)
	r := filled(t)
	r.State = Running
	require.NoError(t, s.Create(r))
	acknowledge := func(change func(r *Record)) {
		require.NoError(t, s.Do(t.Context(), r.ID, func(r *Record, _ func() error) error {
			change(r)
			s.Acknowledge(*r)
			return nil
		}))
	}
	acknowledge(func(r *Record) { r.News = nil })
	onDisk, _ := folders.open(t).Get(r.ID)
	assert.NotEmpty(t, onDisk.News)
	require.NoError(t, s.SaveKept(t.Context()))
	onDisk, _ = folders.open(t).Get(r.ID)
	assert.Empty(t, onDisk.News)

	acknowledge(func(r *Record) { r.Name = "removed meanwhile" })
	require.NoError(t, s.Remove(r.ID))
	require.NoError(t, s.SaveKept(t.Context()))
	_, there := folders.open(t).Get(r.ID)
	assert.False(t, there)
}
