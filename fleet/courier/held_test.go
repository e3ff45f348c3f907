package courier_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/courier"
	"ccbot/internal/disk"
	"ccbot/internal/waittest"
)

// TestHeldWaitsForNoDisk: a beat that waited for a slow disk would be late.
func TestHeldWaitsForNoDisk(t *testing.T) {
	folder := t.TempDir()
	end := open(t, folder, newWire())
	put(t, end, "one")
	writes, goOn := make(chan struct{}), make(chan struct{})
	defer disk.Fail(func(_, path string) error {
		if strings.HasPrefix(path, folder) {
			select {
			case writes <- struct{}{}:
				<-goOn
			case <-goOn:
			}
		}
		return nil
	})()
	stored := make(chan error, 1)
	go func() { stored <- end.Put([]byte("two")) }()
	<-writes
	seen := make(chan int, 1)
	go func() {
		n, _ := end.Held()
		seen <- n
	}()
	waittest.Until(t, func() bool { return len(seen) == 1 }, "Held returns while the disk writes")
	assert.Equal(t, 1, <-seen)
	close(goOn)
	require.NoError(t, <-stored)
	n, _ := end.Held()
	assert.Equal(t, 2, n)
}

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
