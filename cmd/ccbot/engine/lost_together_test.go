package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/recovery"
)

// Losses at the same time are reported together, and later losses again.
func TestP8_LossesAreToldTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l, reported, done := make(losses, 1), 0, make(chan struct{})
		go func() {
			defer close(done)
			assert.ErrorIs(t, l.run(ctx, func(context.Context, recovery.Report) { reported++ }), context.Canceled)
		}()
		l.note()
		time.Sleep(lossPause / 2)
		for range 30 {
			l.note()
		}
		time.Sleep(10 * lossPause)
		synctest.Wait()
		assert.Equal(t, 1, reported)
		l.note()
		time.Sleep(10 * lossPause)
		synctest.Wait()
		assert.Equal(t, 2, reported)
		cancel()
		<-done
	})
}
