package answer

import (
	"ccbot/bot/port/views"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestP5_NewsIsNotLostBetweenTwoReaders lets a reader leave while there is news for it: either it
// stays, or the next one starts.
func TestP5_NewsIsNotLostBetweenTwoReaders(t *testing.T) {
	a, r := New(Deps{}), views.Session{ID: uuid.New()}
	for n := range 50_000 {
		reader := &transcriptReader{answers: a, id: r.ID, news: make(chan struct{}, 1), left: make(chan struct{})}
		a.readers[r.ID] = reader
		var both sync.WaitGroup
		var left bool
		both.Go(func() { a.Follow(r) })
		both.Go(func() { left = a.leave(reader) })
		both.Wait()
		next, has := a.readers[r.ID]
		require.True(t, has, "round %d: nobody comes for the news", n)
		require.Equal(t, left, next != reader, "round %d", n)
		require.Equal(t, left, len(a.takeWaiting()) == 1, "round %d: the next one starts if it left, and only then", n)
		require.Equal(t, left, len(next.news) == 1, "round %d: the news is for the next one", n)
	}
}
