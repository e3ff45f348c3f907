package waittest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// hurried is a test whose time is over soon.
type hurried struct {
	testing.TB
	end  time.Time
	said string
}

func (h *hurried) Helper() {}

func (h *hurried) Deadline() (time.Time, bool) { return h.end, true }

func (h *hurried) Fatal(words ...any) {
	h.said = fmt.Sprint(words...)
	panic(h)
}

func TestEndlessWaitSaysWhatItWaitedFor(t *testing.T) {
	state := func() string { return "two of three" }
	for _, tt := range []struct {
		name, want string
		wait       func(t testing.TB)
	}{
		{"until a fact", "waited ten minutes, or until the end of go test's own time: all parts are there, but two of three",
			func(t testing.TB) { Until(t, func() bool { return false }, "all parts are there, but %s", state) }},
		{"for a value", "waited ten minutes, or until the end of go test's own time: 3 answers",
			func(t testing.TB) { Next(t, make(chan int), "%d answers", 3) }},
		{"without words", "waited ten minutes, or until the end of go test's own time: it never came",
			func(t testing.TB) { Until(t, func() bool { return false }) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hurried{TB: t, end: time.Now().Add(time.Second)}
				assert.PanicsWithValue(t, h, func() { tt.wait(h) })
				assert.Equal(t, tt.want, h.said)
				assert.True(t, time.Now().Before(h.end), "the failure comes while go test still runs")
			})
		})
	}
}

func TestContextEndsBeforeGoTest(t *testing.T) {
	h := &hurried{TB: t, end: time.Now().Add(time.Second)}
	end, limited := Context(h).Deadline()
	assert.True(t, limited && end.Before(h.end))
	h.end = time.Now().Add(time.Hour)
	end, _ = Context(h).Deadline()
	assert.WithinDuration(t, time.Now().Add(most), end, time.Minute, "or, like a wait, long before it")
}

// One wait that never ends leaves the rest of go test's time to the other tests.
func TestWaitEndsLongBeforeGoTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := &hurried{TB: t, end: began.Add(time.Hour)}
		assert.PanicsWithValue(t, h, func() { Until(h, func() bool { return false }) })
		assert.PanicsWithValue(t, h, func() { Next(h, make(chan int)) })
		assert.Less(t, time.Since(began), 2*(most+longest+time.Second))
	})
}

func TestWaitInBubbleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := &bubbled{T: t}
		assert.PanicsWithValue(t, h, func() { Until(h, func() bool { return false }, "nothing") })
		assert.Less(t, time.Since(began), most+longest+time.Second)
	})
}

// bubbled is the test of a bubble.
type bubbled struct{ *testing.T }

func (b *bubbled) Fatal(...any) { panic(b) }

func TestWaitEndsWithTheFact(t *testing.T) {
	looks := 0
	Until(t, func() bool { looks++; return looks == 3 })
	assert.Equal(t, 3, looks)
	c := make(chan int, 1)
	c <- 7
	assert.Equal(t, 7, Next(t, c))
}
