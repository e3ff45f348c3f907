package outbox

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

// arrivals returns when messages came, by their text.
func (b *bench) arrivals(since time.Time) map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, c := range b.seen("send", true) {
		all[c.text] = c.at - since.Sub(b.start)
	}
	return all
}

// of is a message of a session.
func of(session uuid.UUID, chat int64, rank Rank, text string) Message {
	m := say(chat, text)
	m.Session, m.Rank = session, rank
	return m
}

// A question blocks its agent until a person answers, so it goes before other sessions' messages,
// but after earlier messages of its session.
func TestQuestionPrecedesChatter(t *testing.T) {
	asking, other := uuid.New(), uuid.New()
	const group = int64(-5)
	t.Run("behind two receipts and two answers in a group without a budget", func(t *testing.T) {
		inBubble(t, nil, func(t *testing.T, b *bench) {
			for i := range chatBurst {
				require.NoError(t, b.Post(t.Context(), say(group, fmt.Sprint("before ", i))))
			}
			b.idle(time.Second)
			since := time.Now()
			for _, text := range []string{"new 1", "new 2"} {
				require.NoError(t, b.Post(t.Context(), say(group, text)))
			}
			b.sendLater(t.Context(), of(other, group, Talk, "answer 1"))
			b.sendLater(t.Context(), of(asking, group, Talk, "answer 2"))
			require.NoError(t, b.Post(t.Context(), of(asking, group, Question, "question")))
			b.idle(time.Minute)
			came := b.arrivals(since)
			t.Logf("the question came after %s", came["question"])
			assert.Greater(t, came["question"], came["answer 2"], "order within a session stays")
			assert.Less(t, came["question"], came["answer 1"])
			assert.LessOrEqual(t, came["question"], 5*time.Second)
		})
	})
	t.Run("behind ten texts of another topic", func(t *testing.T) {
		for _, chat := range []int64{5, group} {
			inBubble(t, nil, func(t *testing.T, b *bench) {
				for i := range 10 {
					b.sendLater(t.Context(), of(other, chat, Talk, fmt.Sprint(i)))
				}
				b.idle(time.Second / 2)
				since := time.Now()
				require.NoError(t, b.Post(t.Context(), of(asking, chat, Question, "question")))
				b.idle(time.Minute)
				came := b.arrivals(since)["question"]
				t.Logf("in chat %d the question came after %s", chat, came)
				assert.LessOrEqual(t, came, time.Second)
			})
		}
	})
	t.Run("three questions at once, while agents fill a group", func(t *testing.T) {
		inBubble(t, nil, func(t *testing.T, b *bench) {
			for i := range 60 {
				b.sendLater(t.Context(), of(other, group, Talk, fmt.Sprint(i)))
			}
			b.idle(2 * time.Minute)
			since := time.Now()
			for i := range 3 {
				require.NoError(t, b.Post(t.Context(), of(asking, group, Question, fmt.Sprint("question ", i))))
			}
			b.idle(20 * time.Minute)
			assert.LessOrEqual(t, b.arrivals(since)["question 2"], 3*time.Second)
			assert.LessOrEqual(t, busiest(b.seen("send", true), time.Minute), 20)
		})
	})
	t.Run("a group that agents fill leaves room for a question", func(t *testing.T) {
		inBubble(t, nil, func(t *testing.T, b *bench) {
			for i := range 60 {
				b.sendLater(t.Context(), of(other, group, Talk, fmt.Sprint(i)))
			}
			for i := range 5 {
				b.idle(20 * time.Second)
				before := time.Now()
				_, err := b.Send(t.Context(), of(asking, group, Question, fmt.Sprint("question ", i)))
				require.NoError(t, err)
				assert.Zero(t, time.Since(before))
			}
			b.idle(5 * time.Minute)
			assert.LessOrEqual(t, busiest(b.seen("send", true), time.Minute), 20)
		})
	})
}

// TestUnmadeCallCostsNothing: with many posts at once whose owners answer slowly, half of them
// nothing, each call has a token, and each token a call.
func TestUnmadeCallCostsNothing(t *testing.T) {
	const chats, posts = 16, 6
	o := &owner{texts: map[string]string{}}
	o.asked = func() { time.Sleep(70 * time.Millisecond) }
	all, each, violations := rate.NewLimiter(allRate, allBurst), map[int64]*rate.Limiter{}, 0
	strict := func(_ context.Context, _ int, c call) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		if each[c.chat] == nil {
			each[c.chat] = rate.NewLimiter(rate.Every(chatEach), chatBurst)
		}
		if !all.AllowN(time.Now(), 1) || !each[c.chat].AllowN(time.Now(), 1) {
			violations++
		}
		return nil
	}
	inNamedBubble(t, t.TempDir(), o, strict, func(b *bench) {
		for chat := range int64(chats) {
			for i := range 2 * posts {
				name := fmt.Sprint(chat, " ", i)
				if i%2 == 1 {
					o.set(name, name)
				}
				require.NoError(t, b.Post(t.Context(), Message{To: to(chat + 1), Name: name}))
			}
		}
		began := time.Since(b.start)
		b.idle(time.Minute)
		calls := b.seen("send", true)
		require.Len(t, calls, chats*posts)
		last := calls[len(calls)-1].at - began
		t.Logf("%d calls in %s, %d violations", len(calls), last, violations)
		assert.Zero(t, violations)
		assert.LessOrEqual(t, last, 5*time.Second, "96 calls at 25 a second, 6 in a chat")
		b.mu.Lock()
		defer b.mu.Unlock()
		assert.Zero(t, b.queues.booked)
	})
}

// A person who sends many commands delays an answer by ten seconds at most.
func TestAnswersYieldForTenSeconds(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		since := time.Now()
		for i := range 20 {
			b.sendLater(t.Context(), of(uuid.New(), 5, Answer, fmt.Sprint("answer ", i)))
		}
		for i := range 60 {
			b.sendLater(t.Context(), of(uuid.Nil, 5, Now, fmt.Sprint("reply ", i)))
			b.idle(time.Second / 2)
		}
		b.idle(2 * time.Minute)
		came := b.arrivals(since)
		for i := range 20 {
			alone := time.Duration(max(0, i+1-chatBurst)) * chatEach
			assert.LessOrEqual(t, came[fmt.Sprint("answer ", i)], alone+maxYield+100*time.Millisecond, "answer %d", i)
		}
		assert.Less(t, came["reply 0"], 2*time.Second)
		assert.Less(t, came["reply 5"], came["answer 19"])
	})
}

// Messages of other sessions, and receipts, leave room for an answer right after them.
func TestLesserRanksNeverDelayAnswer(t *testing.T) {
	for _, chat := range []int64{5, -5} {
		inBubble(t, nil, func(t *testing.T, b *bench) {
			ctx := t.Context()
			for i := range 10 {
				require.NoError(t, b.Post(ctx, of(uuid.New(), chat, Later, fmt.Sprint(i))))
				b.React(ctx, to(chat), i, "👀")
				b.Typing(ctx, to(chat))
			}
			for range 5 {
				b.idle(15 * time.Second)
				before := time.Now()
				_, err := b.Send(ctx, of(uuid.New(), chat, Talk, "answer"))
				require.NoError(t, err)
				assert.Zero(t, time.Since(before))
			}
		})
	}
}

// The run before may have used a chat's burst a moment ago.
func TestStartHasNoBurst(t *testing.T) {
	for chat, want := range map[int64]int{5: 1, -5: 0} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, dir, nil)
			b.began = time.Now()
			b.run(t)
			for i := range 6 {
				require.NoError(t, b.Post(t.Context(), say(chat, fmt.Sprint(i))))
			}
			synctest.Wait()
			assert.Len(t, b.seen("send", true), want)
			b.idle(time.Minute)
			assert.Len(t, b.seen("send", true), 6)
		})
	}
}
