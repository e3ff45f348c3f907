package inbox

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP4_StopFinishesRunningHandlers: the running message and the taps are finished, with a live
// context; later messages are left for the next start.
func TestP4_StopFinishesRunningHandlers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "inbox")
	tg := newTelegram()
	begun, hold := make(chan string, 10), make(chan struct{})
	var cut atomic.Int32
	r := newRig(t, dir, tg, handlerFunc(func(ctx context.Context, key string, _ *models.Update) error {
		begun <- key
		<-hold
		if ctx.Err() != nil {
			cut.Add(1)
		}
		return ctx.Err()
	}))
	tg.deliver(message(1, 5, "a"), message(2, 5, "b"), tap(3, 6, 1, "x"), tap(4, 6, 1, "y"))
	stop := r.start(t)
	assert.ElementsMatch(t, []string{"1", "3"}, []string{<-begun, <-begun})
	r.endPolls()
	<-r.intake.queues.ending
	close(hold)
	require.NoError(t, <-r.result)
	r.result <- nil // for stop
	assert.Equal(t, "4", <-begun, "a tap is nowhere but here")
	assert.Empty(t, begun, "and no other message was begun")
	assert.Zero(t, cut.Load())
	assert.Equal(t, []string{"2.json"}, unfinished(t, dir))
	stop()
}

// TestStopWaitsForNoRetry: an update that cannot be handled is on disk.
func TestStopWaitsForNoRetry(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "inbox")
	tg := newTelegram()
	tried := make(chan struct{}, 10)
	r := newRig(t, dir, tg, handlerFunc(func(context.Context, string, *models.Update) error {
		tried <- struct{}{}
		return ErrLater
	}))
	tg.deliver(message(1, 5, "a"))
	stop := r.start(t)
	for range attempts + 1 { // all at once, and later once more
		<-tried
	}
	r.endPolls()
	require.NoError(t, <-r.result)
	r.result <- nil
	assert.Equal(t, []string{"1.json"}, unfinished(t, dir))
	stop()
}
