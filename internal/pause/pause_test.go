package pause

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBackoff(t *testing.T) {
	b := Backoff{Min: 500 * time.Millisecond, Max: 30 * time.Second}
	for range 200 {
		d := b.Next()
		assert.GreaterOrEqual(t, d, 250*time.Millisecond)
		assert.LessOrEqual(t, d, 30*time.Second)
	}
	b.Reset()
	assert.LessOrEqual(t, b.Next(), 500*time.Millisecond)
}

func TestDoubled(t *testing.T) {
	for n, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second} {
		assert.Equal(t, want, Doubled(time.Second, 10*time.Second, n), n)
	}
	assert.Equal(t, time.Second, Doubled(time.Second, time.Hour, -1<<40))
	assert.Equal(t, time.Hour, Doubled(time.Second, time.Hour, 1<<40))
	assert.Equal(t, time.Second, Doubled(time.Minute, time.Second, 0), "most counts for the first, too")
}

func TestUntilSaysWhatEndedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		start := time.Now()
		assert.False(t, Until(t.Context(), time.Hour, wake))
		assert.Equal(t, time.Hour, time.Since(start))
		Poke(wake)
		Poke(wake)
		assert.True(t, Until(t.Context(), Forever, wake))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		assert.False(t, Until(ctx, Forever, wake), "two wake-ups are one")
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, For(ctx, time.Hour), context.Canceled)
}
