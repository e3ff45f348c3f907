package outbox

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blocking refuses everything in its chat.
type blocking struct {
	chat atomic.Int64
	why  error // nil: errForbidden
}

func (p *blocking) reply(_ context.Context, _ int, c call) error {
	if c.chat == p.chat.Load() {
		return cmp.Or(p.why, errForbidden)
	}
	return nil
}

// The chat is left alone, other chats continue, and durable messages wait.
func TestP5_BlockedBotLosesNothing(t *testing.T) { losesNothing(t, errForbidden) }

// Telegram has other words for that than for a block.
func TestP5_MutedBotLosesNothing(t *testing.T) { losesNothing(t, errMute) }

func losesNothing(t *testing.T, why error) {
	t.Helper()
	p := blocking{why: why}
	p.chat.Store(5)
	inBubble(t, p.reply, func(t *testing.T, b *bench) {
		ctx := t.Context()
		require.NoError(t, b.Post(ctx, say(5, "receipt 1")))
		waiting := b.sendLater(ctx, say(5, "answer"))
		require.NoError(t, b.Edit(ctx, to(5), 3, say(0, "card")))
		b.React(ctx, to(5), 4, "👀")
		require.ErrorIs(t, (<-waiting).err, ErrBlocked)
		assert.True(t, b.IsSuspended(5))
		assert.False(t, b.IsSuspended(6))

		tried := len(b.seen("", false))
		require.NoError(t, b.Post(ctx, say(5, "receipt 2")))
		_, err := b.Send(ctx, say(5, "next"))
		refused := (*Refused)(nil)
		require.ErrorAs(t, err, &refused)
		require.ErrorIs(t, err, ErrBlocked)
		require.NoError(t, b.Edit(ctx, to(5), 3, say(0, "card again")))
		b.Typing(ctx, to(5))
		_, err = b.Send(ctx, say(6, "other"))
		require.NoError(t, err)
		b.idle(24 * time.Hour)
		assert.Len(t, b.seen("", false), tried+1, "nothing is tried there")
		assert.Len(t, files(t, b.posts.folder.Path), 2)
		b.mu.Lock()
		for j := range b.queues.chats[5].queue.all() {
			assert.Zero(t, j.message, "only names are kept")
		}
		assert.Empty(t, b.queues.edits)
		b.mu.Unlock()

		p.chat.Store(0)
		b.Resume(5)
		assert.False(t, b.IsSuspended(5))
		_, err = b.Send(ctx, say(5, "answer"))
		require.NoError(t, err)
		b.idle(time.Minute)
		assert.Equal(t, []string{"other", "receipt 1", "receipt 2", "answer"}, texts(b.seen("send", true)))
		assert.Empty(t, files(t, b.posts.folder.Path))
		require.NoError(t, b.Edit(ctx, to(5), 3, say(0, "card again")), "it was never shown")
		b.idle(time.Minute)
		assert.Len(t, b.seen("edit", true), 1)
	})
}

// logged runs an outbox on a folder and returns its log lines about parking.
func logged(t *testing.T, dir string, p *blocking, test func(t *testing.T, b *bench)) (lines []string) {
	t.Helper()
	var text strings.Builder
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, p.reply)
		b.log = slog.New(slog.NewTextHandler(&text, nil))
		b.notes.log = b.log
		b.run(t)
		test(t, b)
		require.NoError(t, b.stop())
	})
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, "parked") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestStartTriesParkedChatOnce(t *testing.T) {
	dir := t.TempDir()
	var p blocking
	p.chat.Store(5)
	first := logged(t, dir, &p, func(t *testing.T, b *bench) {
		require.NoError(t, b.Post(t.Context(), say(5, "receipt")))
		b.idle(time.Hour)
	})
	require.Len(t, first, 1)
	assert.Contains(t, first[0], "chat_parked")
	assert.Contains(t, files(t, dir), suspendedFile)
	second := logged(t, dir, &p, func(t *testing.T, b *bench) {
		b.idle(time.Hour)
		assert.Len(t, b.seen("send", false), 1)
		assert.True(t, b.IsSuspended(5))
	})
	assert.Empty(t, second, "it was told")
	p.chat.Store(0)
	third := logged(t, dir, &p, func(t *testing.T, b *bench) {
		b.idle(time.Hour)
		assert.Equal(t, []string{"receipt"}, texts(b.seen("send", true)))
		assert.False(t, b.IsSuspended(5))
	})
	require.Len(t, third, 1)
	assert.Contains(t, third[0], "chat_unparked")
	assert.NotContains(t, files(t, dir), suspendedFile)
}

// Who is called when a chat has refused a message finds it suspended.
func TestRefusalIsToldWhenChatIsSuspended(t *testing.T) {
	var p blocking
	p.chat.Store(5)
	inBubble(t, p.reply, func(t *testing.T, b *bench) {
		var mu sync.Mutex
		var seen []bool
		b.OnShut = func() {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, b.IsSuspended(5))
		}
		_, err := b.Send(t.Context(), say(5, "x"))
		require.ErrorIs(t, err, ErrBlocked)
		synctest.Wait()
		b.Resume(5)
		b.Typing(t.Context(), to(5))
		b.idle(time.Second)
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, []bool{true, false, true}, seen, "refused, tried again, refused")
	})
}

// A start alone proves nothing: a chat refuses messages until it takes one, or a person writes there.
func TestChatRefusesUntilItTakesAMessage(t *testing.T) {
	for name, wake := range map[string]func(t *testing.T, b *bench){
		"a message is taken": func(t *testing.T, b *bench) {
			_, err := b.Send(t.Context(), say(5, "x"))
			require.NoError(t, err)
		},
		"a person writes": func(_ *testing.T, b *bench) { b.Resume(5) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var p blocking
			p.chat.Store(5)
			logged(t, dir, &p, func(t *testing.T, b *bench) {
				assert.False(t, b.Refuses(5))
				_, err := b.Send(t.Context(), say(5, "x"))
				require.ErrorIs(t, err, ErrBlocked)
				assert.True(t, b.Refuses(5))
			})
			p.chat.Store(0)
			logged(t, dir, &p, func(t *testing.T, b *bench) {
				var mu sync.Mutex
				var told []bool
				b.OnShut = func() {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, b.Refuses(5))
				}
				b.idle(time.Hour)
				assert.False(t, b.IsSuspended(5))
				assert.True(t, b.Refuses(5))
				wake(t, b)
				synctest.Wait()
				assert.False(t, b.Refuses(5))
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, []bool{false}, told)
			})
		})
	}
}

func TestTypingParksBlockedChat(t *testing.T) {
	var p blocking
	p.chat.Store(5)
	inBubble(t, p.reply, func(t *testing.T, b *bench) {
		b.Typing(t.Context(), to(5))
		b.idle(time.Second)
		assert.True(t, b.IsSuspended(5))
		_, err := b.Send(t.Context(), say(5, "x"))
		assert.ErrorIs(t, err, ErrBlocked)
		assert.Len(t, b.seen("", false), 1)
	})
}

func TestUnreadableMarkerIsReplaced(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, suspendedFile), "{")
	var p blocking
	p.chat.Store(5)
	lines := logged(t, dir, &p, func(t *testing.T, b *bench) {
		_, err := b.Send(t.Context(), say(5, "x"))
		require.ErrorIs(t, err, ErrBlocked)
	})
	assert.Len(t, lines, 1)
	_, ok := newBench(t, dir, nil).notes.suspended.Get("5")
	assert.True(t, ok)
}

// TestRetryAfterHoldsOverARestart: a program that is killed and started again must not break it.
func TestRetryAfterHoldsOverARestart(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, func(context.Context, int, call) error { return tooMany(137) })
		b.run(t)
		start = time.Now()
		require.NoError(t, b.Post(t.Context(), say(5, "x")))
		b.idle(30 * time.Second)
		require.NoError(t, b.stop())
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, nil)
		require.Equal(t, start, time.Now(), "a bubble begins at the same time")
		time.Sleep(40 * time.Second)
		b.run(t)
		_, err := b.Send(t.Context(), say(6, "other"))
		require.NoError(t, err)
		assert.Equal(t, 40*time.Second, time.Since(start))
		b.idle(time.Hour)
		calls := b.seen("send", true)
		require.Len(t, calls, 2)
		assert.Equal(t, int64(5), calls[1].chat)
		assert.GreaterOrEqual(t, calls[1].at, 137*time.Second)
		assert.Less(t, calls[1].at, 138*time.Second)
	})
}

func TestHold(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	h := hold{At: at, Seconds: 60}
	assert.Equal(t, time.Minute, h.left(at))
	assert.Equal(t, time.Second, h.left(at.Add(59*time.Second)))
	assert.Zero(t, h.left(at.Add(time.Hour)))
	assert.Equal(t, time.Minute, h.left(at.Add(-24*time.Hour)), "the clock was set back")
}

// TestP5_AbsurdRetryAfterIsCapped: a value of years must not mute the chat, neither in this run nor
// after a restart.
func TestP5_AbsurdRetryAfterIsCapped(t *testing.T) {
	for _, seconds := range []int{9_000_000_000, math.MaxInt} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, dir, func(_ context.Context, n int, _ call) error {
				if n == 1 {
					return tooMany(seconds)
				}
				return nil
			})
			b.run(t)
			require.NoError(t, b.Post(t.Context(), say(5, "x")))
			b.idle(59 * time.Minute)
			assert.Len(t, b.seen("send", false), 1, "the pause is kept for an hour")
			assert.LessOrEqual(t, GoingOf(b.Outbox).Wait, time.Minute)
			h, _ := b.notes.holds.Get("5")
			assert.Equal(t, 3600, h.Seconds, "never more than the cap is on disk")
			b.idle(2 * time.Minute)
			assert.Len(t, b.seen("send", true), 1)
			require.NoError(t, b.stop())
		})
	}
	t.Run("longer on disk", func(t *testing.T) {
		at := time.Unix(1_000_000, 0)
		assert.Equal(t, time.Hour, hold{At: at, Seconds: 9_000_000_000}.left(at))
		assert.Equal(t, time.Hour, hold{At: at, Seconds: math.MaxInt}.left(at))
	})
}
