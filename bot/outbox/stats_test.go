package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGoingCountsRefusalsAndWaits(t *testing.T) {
	inBubble(t, once(tooMany(3600)), func(t *testing.T, b *bench) {
		assert.Equal(t, Stats{}, GoingOf(b.Outbox))
		require.NoError(t, b.Post(t.Context(), say(5, "x")))
		require.NoError(t, b.Post(t.Context(), say(5, "y")))
		b.idle(10 * time.Second)
		assert.Equal(t, Stats{Waits: 1, Waiting: 2, Wait: 3590 * time.Second}, GoingOf(b.Outbox), "to wait is no failure")
	})
}

func TestGoingFailsUntilAccepted(t *testing.T) {
	inBubble(t, once(errServer), func(t *testing.T, b *bench) {
		began := time.Now()
		require.NoError(t, b.Post(t.Context(), say(5, "x")))
		b.idle(100 * time.Millisecond)
		assert.Equal(t, Stats{Errors: 1, LastAt: began, Waiting: 1, Failing: true}, GoingOf(b.Outbox))
		b.idle(10 * time.Second)
		assert.Equal(t, Stats{Errors: 1, LastAt: began}, GoingOf(b.Outbox))
	})
}

func TestDropButtonsTwiceIsNoError(t *testing.T) {
	inBubble(t, once(errSame), func(t *testing.T, b *bench) {
		b.DropButtons(t.Context(), to(5), 3)
		b.idle(10 * time.Second)
		assert.Equal(t, Stats{}, GoingOf(b.Outbox))
		assert.Len(t, b.seen("buttons", false), 1)
	})
}
