package outbox

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
	"ccbot/internal/session"
)

// TestP9_NothingIsSentToPeopleWhoAreNotAllowed: of all calls, also of those that wait for their
// turn when the people are taken off the list, and of one that broke just then. What is on disk
// waits there (P5).
func TestP9_NothingIsSentToPeopleWhoAreNotAllowed(t *testing.T) {
	var gone, broken atomic.Bool
	reply := func(ctx context.Context, _ int, c call) error {
		if c.chat == 5 && broken.Load() {
			<-ctx.Done()
			return errBroken
		}
		return nil
	}
	inBubble(t, reply, func(t *testing.T, b *bench) {
		ctx := t.Context()
		b.MayShow = func(to session.Conversation) bool { return to.ChatID != 5 || !gone.Load() }
		seen := func() (of int) {
			for _, c := range b.seen("", false) {
				if c.chat == 5 {
					of++
				}
			}
			return of
		}
		broken.Store(true)
		flying := b.sendLater(ctx, say(5, "under way"))
		for seen() == 0 { // otherwise either of the two could be the first
			time.Sleep(time.Millisecond)
		}
		waiting := b.sendLater(ctx, say(5, "answer"))
		require.NoError(t, b.Post(ctx, say(5, "receipt 1")))
		require.NoError(t, b.Edit(ctx, to(5), 3, say(0, "card")))
		tried := seen()
		require.Equal(t, 1, tried)
		gone.Store(true)
		b.idle(time.Minute)
		err := (<-flying).err
		require.ErrorIs(t, err, ErrBlocked)
		require.ErrorIs(t, err, ErrUnsure)
		require.ErrorIs(t, (<-waiting).err, ErrBlocked)
		broken.Store(false)

		assert.True(t, b.IsSuspended(5))
		assert.False(t, b.IsSuspended(6))
		require.NoError(t, b.Post(ctx, say(5, "receipt 2")))
		_, err = b.Send(ctx, say(5, "next"))
		require.ErrorIs(t, err, ErrBlocked)
		_, err = b.SendFile(ctx, File{To: to(5), Name: "a", Caption: render.Plain("x"), Body: strings.NewReader("x"), Size: 1})
		require.ErrorIs(t, err, ErrBlocked)
		require.ErrorIs(t, b.EditNow(ctx, to(5), 3, say(0, "card again")), ErrBlocked)
		require.NoError(t, b.Edit(ctx, to(5), 3, say(0, "card again")))
		b.React(ctx, to(5), 4, "👀")
		b.Typing(ctx, to(5))
		b.Answer(ctx, to(5), "q", "x", false)
		b.DropButtons(ctx, to(5), 4)
		require.ErrorIs(t, <-b.callLater(ctx, 5), ErrBlocked)
		b.Resume(5) // a tap or a message does not help
		_, err = b.Send(ctx, say(5, "next"))
		require.ErrorIs(t, err, ErrBlocked)
		b.idle(24 * time.Hour)
		assert.Equal(t, tried, seen())
		assert.Len(t, files(t, b.posts.folder.Path), 2)
		left := 0
		require.NoError(t, b.Leave(ctx, 5, func(_ context.Context, at session.Conversation) error { left += int(at.ChatID); return nil }))
		assert.Equal(t, 5, left, "a chat that may see nothing can be left")
		refused := (*Refused)(nil)
		require.ErrorAs(t, b.Leave(ctx, 5, func(context.Context, session.Conversation) error { return errForbidden }), &refused)

		gone.Store(false)
		b.Resume(5)
		_, err = b.Send(ctx, say(5, "answer"))
		require.NoError(t, err)
		b.idle(time.Minute)
		assert.Equal(t, []string{"receipt 1", "receipt 2", "answer"}, texts(b.seen("send", true)))
		assert.Empty(t, files(t, b.posts.folder.Path))
	})
}

// TestP9_NextRunAsksAgain: posts of an earlier run are not sent to people who are no longer allowed.
func TestP9_NextRunAsksAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		before := newBench(t, dir, nil)
		require.NoError(t, before.Post(t.Context(), say(5, "receipt")))
		b := newBench(t, dir, nil)
		b.MayShow = func(to session.Conversation) bool { return to.ChatID != 5 }
		b.run(t)
		b.idle(time.Hour)
		assert.Empty(t, b.seen("", false))
		assert.Len(t, files(t, b.posts.folder.Path), 1)
	})
}
