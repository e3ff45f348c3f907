package outbox

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
)

// loses answers the calls with a text as if Telegram had taken them and the answer had not come.
func loses(text string, while *atomic.Bool) func(context.Context, int, call) error {
	return func(_ context.Context, _ int, c call) error {
		if strings.HasSuffix(c.text, text) && while.Load() {
			return errBroken
		}
		return nil
	}
}

func on() *atomic.Bool {
	var b atomic.Bool
	b.Store(true)
	return &b
}

// times are the times of the calls with a text.
func times(b *bench, text string) (all []time.Duration) {
	for _, c := range b.seen("", false) {
		if strings.HasSuffix(c.text, text) {
			all = append(all, c.at)
		}
	}
	return all
}

// TestP5_LostAnswerIsRepeatedSlowly: each repetition may be seen, so it waits longer each time, and
// says so from the third.
func TestP5_LostAnswerIsRepeatedSlowly(t *testing.T) {
	while := on()
	inBubble(t, loses("card", while), func(t *testing.T, b *bench) {
		b.Repeated = func(m Message) Message {
			m.Text = render.Join(render.Plain("(perhaps repeated)\n"), m.Text)
			return m
		}
		require.NoError(t, b.Post(t.Context(), say(5, "card")))
		b.idle(time.Hour)
		s := time.Second
		assert.Equal(t, []time.Duration{0, 30 * s, 90 * s, 210 * s, 450 * s, 930 * s, 1530 * s, 2130 * s, 2730 * s, 3330 * s}, times(b, "card"))
		assert.Equal(t, []string{"card", "card", "(perhaps repeated)\ncard", "(perhaps repeated)\ncard"}, texts(b.seen("send", false)[:4]))
		assert.True(t, GoingOf(b.Outbox).Failing)
		while.Store(false)
		b.idle(10 * time.Minute)
		assert.Len(t, b.seen("send", true), 1)
		assert.False(t, GoingOf(b.Outbox).Failing)
	})
}

// TestP5_OthersPassMessageWhoseAnswerWasLost: only what is a part of the same waits behind it.
func TestP5_OthersPassMessageWhoseAnswerWasLost(t *testing.T) {
	s, other := uuid.New(), uuid.New()
	while := on()
	inBubble(t, loses("part 1", while), func(t *testing.T, b *bench) {
		b.sendLater(t.Context(), of(s, 5, Talk, "part 1"))
		b.idle(time.Second)
		b.sendLater(t.Context(), of(s, 5, Talk, "part 2"))
		b.sendLater(t.Context(), of(s, 5, Later, "file"))
		for _, m := range []Message{of(s, 5, Question, "request"), of(s, 5, Now, "receipt"), of(other, 5, Talk, "other"), of(s, 6, Talk, "elsewhere"), say(5, "list")} {
			require.NoError(t, b.Post(t.Context(), m))
		}
		b.idle(20 * time.Second)
		assert.ElementsMatch(t, []string{"request", "receipt", "other", "elsewhere", "list"}, texts(b.seen("send", true)))
		while.Store(false)
		b.idle(time.Minute)
		assert.Equal(t, []string{"part 1", "part 2", "file"}, texts(b.seen("send", true))[5:], "in their order")
	})
}

// TestP5_MessagesBehindDroppedOneGo: nothing is left that they must not pass.
func TestP5_MessagesBehindDroppedOneGo(t *testing.T) {
	inBubble(t, loses("part 1", on()), func(t *testing.T, b *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		s := uuid.New()
		b.sendLater(ctx, of(s, 5, Talk, "part 1"))
		b.idle(time.Second)
		require.NoError(t, b.Post(t.Context(), of(s, 5, Talk, "part 2")))
		b.idle(time.Minute)
		assert.Equal(t, []string{"part 2"}, texts(b.seen("send", true)))
		assert.False(t, GoingOf(b.Outbox).Failing)
	})
}

// TestP5_MessagesBehindSuspendedOneGo: the send ends when the chat accepts nothing, and the post stays.
func TestP5_MessagesBehindSuspendedOneGo(t *testing.T) {
	blocks := on()
	inBubble(t, func(_ context.Context, _ int, c call) error {
		switch {
		case c.text == "part 1":
			return errBroken
		case c.text == "list" && blocks.Load():
			return errForbidden
		}
		return nil
	}, func(t *testing.T, b *bench) {
		s := uuid.New()
		b.sendLater(t.Context(), of(s, 5, Talk, "part 1"))
		b.idle(time.Second)
		b.React(t.Context(), to(5), 1, "👀") // an answer ends its wait, once
		require.NoError(t, b.Post(t.Context(), of(s, 5, Talk, "part 2")))
		b.idle(time.Second)
		require.NoError(t, b.Post(t.Context(), say(5, "list")))
		b.idle(time.Second)
		require.True(t, b.IsSuspended(5))
		blocks.Store(false)
		b.Resume(5)
		b.idle(time.Minute)
		assert.ElementsMatch(t, []string{"part 2", "list"}, texts(b.seen("send", true)))
	})
}

// TestP5_PartsOfLongPostKeepOrder: the first part of a text is lost, and the second one waits.
func TestP5_PartsOfLongPostKeepOrder(t *testing.T) {
	while := on()
	inBubble(t, loses(strings.Repeat("a", 9), while), func(t *testing.T, b *bench) {
		long := strings.Repeat("a", render.Limit) + "\n" + strings.Repeat("b", 99)
		require.NoError(t, b.Post(t.Context(), say(5, long)))
		require.NoError(t, b.Post(t.Context(), say(5, "other")))
		b.idle(20 * time.Second)
		assert.Equal(t, []string{"other"}, texts(b.seen("send", true)))
		while.Store(false)
		b.idle(time.Minute)
		assert.Equal(t, "ab", texts(b.seen("send", true))[1][:1]+texts(b.seen("send", true))[2][:1])
	})
}

// TestP5_PartsKeepOrderAfterRestart: the next run knows from their files which posts are one text.
func TestP5_PartsKeepOrderAfterRestart(t *testing.T) {
	while, dir := on(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		before := newBench(t, dir, nil)
		require.NoError(t, before.Post(t.Context(), say(5, strings.Repeat("a", render.Limit)+"\n"+strings.Repeat("b", 99))))
		b := newBench(t, dir, loses(strings.Repeat("a", 9), while))
		b.run(t)
		b.idle(20 * time.Second)
		assert.Empty(t, b.seen("send", true))
		while.Store(false)
		b.idle(time.Minute)
		require.Len(t, b.seen("send", true), 2)
		assert.Equal(t, "a", texts(b.seen("send", true))[0][:1])
	})
}

// TestAnsweredCallEndsWaitOnce: the chat can be reached again, but it may be just this message whose
// answers are lost.
func TestAnsweredCallEndsWaitOnce(t *testing.T) {
	inBubble(t, loses("card", on()), func(t *testing.T, b *bench) {
		require.NoError(t, b.Post(t.Context(), say(5, "card")))
		b.idle(time.Second)
		for i := range 9 {
			b.React(t.Context(), to(5), 1, "👀")
			require.NoError(t, b.Post(t.Context(), say(5, fmt.Sprint(i))))
			b.idle(2 * time.Second)
		}
		assert.Equal(t, []time.Duration{0, time.Second}, times(b, "card"))
	})
}

// TestUnsentMessageIsRepeatedAtOnce: without a connection nothing was sent, so nothing is repeated.
func TestUnsentMessageIsRepeatedAtOnce(t *testing.T) {
	inBubble(t, func(_ context.Context, n int, _ call) error {
		return []error{errUnconnected, errUnconnected, errUnconnected, errServer, nil}[min(n, 5)-1]
	}, func(t *testing.T, b *bench) {
		b.Repeated = func(m Message) Message { m.Text = render.Plain("repeated"); return m }
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := b.Send(ctx, say(5, "x"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, ErrUnsure)
		_, err = b.Send(t.Context(), say(5, "y"))
		require.NoError(t, err)
		assert.Equal(t, []string{"y"}, texts(b.seen("send", true)))
		assert.Less(t, time.Since(b.start), 20*time.Second)
	})
}

// TestEditIsRepeatedAtOnce: the message may look so already, which does no harm.
func TestEditIsRepeatedAtOnce(t *testing.T) {
	inBubble(t, once(errBroken), func(t *testing.T, b *bench) {
		require.NoError(t, b.EditNow(t.Context(), to(5), 7, say(5, "x")))
		assert.Less(t, time.Since(b.start), 3*time.Second)
	})
}
