package courier_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ccbot/fleet/courier"

	"github.com/stretchr/testify/assert"
)

// TestHeldIsShortWhileItemsPass: an end tells how long none of its items has passed.
func TestHeldIsShortWhileItemsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		folder := t.TempDir()
		from, to := open(t, folder, w), open(t, t.TempDir(), w)
		held := func(end *courier.End, n int, age time.Duration) {
			t.Helper()
			is, since := end.Held()
			assert.Equal(t, n, is)
			assert.Equal(t, age, since)
		}
		time.Sleep(time.Minute)
		held(from, 0, 0)
		put(t, from, "one", "two")
		time.Sleep(time.Minute)
		held(from, 2, time.Minute)
		held(open(t, folder, w), 2, 0)

		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = from.Run(ctx) }()
		frames := w.take(2)
		cancel()
		receive(t, to, frames[0])
		receive(t, from, w.take(1)...)
		time.Sleep(time.Second)
		held(from, 1, time.Second)
	})
}
