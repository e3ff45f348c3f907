package answer

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/guard"
	"ccbot/port"
	"ccbot/port/talk"
)

// TestP5_NewsSurvivesLeavingReader lets a reader leave while there is news for it: either it
// stays, or the next one starts.
func TestP5_NewsSurvivesLeavingReader(t *testing.T) {
	a := New(Deps{})
	r := port.Session{ID: uuid.New()}
	for n := range 50_000 {
		news, look := context.WithCancel(t.Context())
		reader := &transcriptReader{answers: a, id: r.ID, left: make(chan struct{}), endPass: look}
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
		look()
	}
}

// A reader that the end of Run stopped is not followed instead of a new one.
func TestP5_StoppedReaderMakesRoom(t *testing.T) {
	a := New(Deps{})
	r := port.Session{ID: uuid.New()}
	a.Follow(r)
	ended, end := context.WithCancel(t.Context())
	end()
	require.NoError(t, a.group.Run(ended, func(p *guard.Panic) { t.Error(p) }))
	select {
	case <-a.Left(r.ID):
	default:
		require.Fail(t, "the reader is still there")
	}
}

func TestMovedTranscriptGoesOn(t *testing.T) {
	read := talk.Cursor{Path: "/a/1.jsonl", Offset: 70, Block: 1}
	assert.Equal(t, talk.Cursor{Path: "/b/1.jsonl", Offset: 70, Block: 1}, after(read, talk.Cursor{Path: "/b/1.jsonl", Offset: 30}), "the same file elsewhere")
	later := talk.Cursor{Path: "/b/1.jsonl", Offset: 90}
	assert.Equal(t, later, after(read, later))
	other := talk.Cursor{Path: "/a/2.jsonl"}
	assert.Equal(t, other, after(read, other), "another conversation begins where its record says")
}
