package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever zone a time comes from, it is written in UTC, and the moment stays.
func TestP8_TimestampsAreRFC3339InUTC(t *testing.T) {
	f := newFolders(t)
	s := f.open(t)
	r := filled(t)
	times := timesIn(reflect.ValueOf(&r).Elem())
	require.Len(t, times, strings.Count(text(t, r), `"2026-03-04T`), "no time is forgotten")
	east := time.FixedZone("east", 9*3600)
	var want []string
	for i, at := range times {
		*at = noon.Add(time.Duration(i) * time.Minute).In(east)
		want = append(want, at.UTC().Format(time.RFC3339Nano))
	}
	require.NoError(t, s.Create(r))
	assert.Equal(t, east, r.Binding.BoundAt.Location(), "the caller's value is its own")
	data, err := os.ReadFile(filepath.Join(f.dir, file(r.ID)))
	require.NoError(t, err)
	for i, at := range times {
		if at != &r.UpdatedAt && at != &r.ActiveAt {
			assert.Contains(t, string(data), fmt.Sprintf("%q", want[i]))
		}
	}
	assert.NotContains(t, string(data), "+09:00")

	f.put(t, file(r.ID), strings.ReplaceAll(string(data), `"2026-03-04T12:00:00Z"`, `"2026-03-04T21:00:00+09:00"`))
	got, ok := f.open(t).Get(r.ID)
	require.True(t, ok, "another zone is no bad time")
	for _, at := range timesIn(reflect.ValueOf(&got).Elem()) {
		assert.Equal(t, time.UTC, at.Location())
	}
	assert.True(t, noon.Equal(got.UpdatedAt))
}

// Every time of the file, however deep, is read strictly. (The standard library
// takes a comma before a fraction, and so do we.)
func TestP8_BadTimestampIsError(t *testing.T) {
	r := filled(t)
	bad := []string{"yesterday", "", "2026-03-04", "2026-03-04 12:00:00Z", "2026-03-04T12:00:00", "2026-03-04T12:00Z", "2026-13-04T12:00:00Z",
		"2026-02-30T12:00:00Z", "2026-03-04T24:00:00Z", "2026-03-04T12:00:60Z", "20260304T120000Z", "12026-03-04T12:00:00Z",
		"2026-03-04T12:00:00+25:00", "1772625600"}
	for i := range timesIn(reflect.ValueOf(&r).Elem()) {
		r := filled(t)
		marked := noon.Add(1000 * time.Hour)
		*timesIn(reflect.ValueOf(&r).Elem())[i] = marked
		whole := text(t, r)
		mark, err := json.Marshal(marked)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(whole, string(mark)))
		require.NoError(t, json.Unmarshal([]byte(whole), &Record{}))
		for _, b := range bad {
			assert.Error(t, json.Unmarshal([]byte(strings.Replace(whole, string(mark), fmt.Sprintf("%q", b), 1)), &Record{}), "time %d: %q", i, b)
		}
		assert.Error(t, json.Unmarshal([]byte(strings.Replace(whole, string(mark), "1772625600", 1)), &Record{}), "time %d as a number", i)
	}
}

func TestUnwritableTimeChangesNothing(t *testing.T) {
	f := newFolders(t)
	s := f.open(t)
	r := created(t, s)
	before := listing(t, f.dir)
	assert.Error(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
		r.EndedAt = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
		return save()
	}))
	assert.Equal(t, before, listing(t, f.dir))
	got, _ := s.Get(r.ID)
	assert.True(t, got.EndedAt.IsZero())
}
