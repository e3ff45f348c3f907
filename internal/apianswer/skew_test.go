package apianswer

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSkewIsOutsideOfTheCall(t *testing.T) {
	before := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	after := before.Add(time.Minute)
	for at, want := range map[time.Time]time.Duration{
		{}: 0, before: 0, before.Add(30 * time.Second): 0, after: 0,
		before.Add(-time.Second): time.Second, after.Add(time.Hour): -time.Hour,
	} {
		assert.Equal(t, want, Skew(before, after, at), at)
	}
	h := http.Header{}
	assert.Zero(t, Date(h))
	h.Set("Date", "yesterday")
	assert.Zero(t, Date(h))
	h.Set("Date", "Mon, 04 May 2026 10:00:00 GMT")
	assert.Equal(t, before, Date(h))
}
