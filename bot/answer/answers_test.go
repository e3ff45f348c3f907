package answer

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/port/views"
	"ccbot/internal/guard"
)

// begun counts the readers that begin.
type begun struct {
	views.Views
	readers int
}

func (b *begun) Get(uuid.UUID) (views.Session, bool) {
	b.readers++
	return views.Session{}, false
}

// TestP5_NewsIsNotLostBetweenTwoReaders lets a reader leave while there is news for it: either it
// stays, or the next one starts.
func TestP5_NewsIsNotLostBetweenTwoReaders(t *testing.T) {
	var started begun
	a := New(Deps{Chat: &chat.Chat{Book: &conversation.Book{Records: &started}}})
	r := views.Session{ID: uuid.New()}
	over, stop := context.WithCancel(t.Context())
	stop()
	for n := range 50_000 {
		news, look := context.WithCancel(t.Context())
		reader := &transcriptReader{answers: a, id: r.ID, left: make(chan struct{}), look: look}
		a.readers[r.ID] = reader
		var both sync.WaitGroup
		var left bool
		both.Go(func() { a.Follow(r) })
		both.Go(func() { left = reader.leave(news) })
		both.Wait()
		next, has := a.readers[r.ID]
		require.True(t, has, "round %d: nobody comes for the news", n)
		require.Equal(t, left, next != reader, "round %d", n)
		require.Equal(t, left, news.Err() == nil, "round %d: one that stays looks again", n)
		started.readers = 0
		require.NoError(t, a.crew.Run(over, func(*guard.Panic) {}))
		require.Equal(t, left, started.readers == 1, "round %d: the next one starts if it left, and only then", n)
		look()
	}
}
