package pause

import (
	"context"
	"testing"
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

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, For(ctx, time.Hour), context.Canceled)
}
