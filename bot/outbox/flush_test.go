package outbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// Flush sends calls under way and calls without a pause; it leaves messages that their chat's pace
// holds back, and failed ones, to the next start.
func TestP4_FlushSendsWithoutPause(t *testing.T) {
	inBubble(t, func(_ context.Context, _ int, c call) error {
		time.Sleep(100 * time.Millisecond)
		if c.chat == 6 {
			return errServer
		}
		return nil
	}, func(t *testing.T, b *bench) {
		for _, text := range []string{"1", "2", "3", "paced"} {
			assert.NoError(t, b.Post(t.Context(), say(5, text)))
		}
		assert.NoError(t, b.Post(t.Context(), say(6, "failing")))
		Flush(t.Context(), b.Outbox)
		assert.Equal(t, []string{"1", "2", "3"}, texts(b.seen("send", true)))
		Flush(t.Context(), b.Outbox) // there is nothing
	})
}

func TestFlushEndsWithItsContext(t *testing.T) {
	inBubble(t, func(ctx context.Context, _ int, _ call) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(t *testing.T, b *bench) {
		assert.NoError(t, b.Post(t.Context(), say(5, "stuck")))
		ctx, cancel := context.WithCancelCause(t.Context())
		flushed := make(chan struct{})
		go func() { Flush(ctx, b.Outbox); close(flushed) }()
		synctest.Wait()
		select {
		case <-flushed:
			assert.Fail(t, "a message is under way")
		default:
		}
		cancel(errors.New("enough"))
		<-flushed
	})
}
