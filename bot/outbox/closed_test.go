package outbox

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/address"
)

// closedGroup is a group whose General and whose topic 9 are closed.
type closedGroup struct{ general, topic atomic.Bool }

func inClosedGroup(t *testing.T, test func(t *testing.T, b *bench, g *closedGroup)) {
	t.Helper()
	g := &closedGroup{}
	g.general.Store(true)
	g.topic.Store(true)
	inBubble(t, func(_ context.Context, _ int, c call) error {
		if c.chat == -5 && (c.thread == 0 && g.general.Load() || c.thread == 9 && g.topic.Load()) {
			return fmt.Errorf("%w, Bad Request: TOPIC_CLOSED", tgbot.ErrorBadRequest)
		}
		return nil
	}, func(t *testing.T, b *bench) { test(t, b, g) })
}

// TestP5_ClosedGeneralLosesNothing: what is for a closed topic waits, in its order, until the topic or
// General opens, and what is for another topic does not.
func TestP5_ClosedGeneralLosesNothing(t *testing.T) {
	for name, reopen := range map[string]struct {
		open  func(g *closedGroup)
		place int
	}{
		"the topic opens": {func(g *closedGroup) { g.topic.Store(false) }, 9},
		"General opens":   {func(g *closedGroup) { g.general.Store(false) }, 0},
	} {
		for how, wakes := range map[string]func(b *bench){
			"somebody writes there": func(b *bench) { b.Resume(-5) },
			"nobody writes there":   func(*bench) {},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				inClosedGroup(t, func(t *testing.T, b *bench, g *closedGroup) {
					answer := b.sendLater(t.Context(), inTopic(-5, 9, "1"))
					b.idle(time.Second)
					require.NoError(t, b.Post(t.Context(), inTopic(-5, 9, "2")))
					require.NoError(t, b.Post(t.Context(), inTopic(-5, 0, "3")))
					_, err := b.Send(t.Context(), inTopic(-5, 8, "other"))
					require.NoError(t, err)
					b.idle(20 * time.Minute)
					assert.Equal(t, []string{"other"}, texts(b.seen("send", true)))
					assert.True(t, b.IsClosed(address.Conversation{ChatID: -5, ThreadID: 9}))
					assert.False(t, b.IsClosed(address.Conversation{ChatID: -5, ThreadID: 8}))
					assert.Equal(t, []int64{-5}, b.Closed())
					assert.Empty(t, answer)

					reopen.open(g)
					wakes(b)
					b.idle(11 * time.Minute)
					sent := b.seen("send", true)
					require.GreaterOrEqual(t, len(sent), 3)
					assert.Equal(t, []string{"1", "2"}, texts(sent)[1:3])
					assert.Equal(t, reopen.place, sent[1].thread)
					require.NoError(t, (<-answer).err)
					if reopen.place == 0 {
						assert.Equal(t, "3", texts(sent)[3])
						assert.Empty(t, b.Closed())
					}
					assert.False(t, b.IsClosed(address.Conversation{ChatID: -5, ThreadID: 9}))
				})
			})
		}
	}
}

// TestP5_AnswerForClosedGeneralIsPosted: a caller that leaves the message behind goes on, and the message
// comes, also in a later run, before what is posted after it.
func TestP5_AnswerForClosedGeneralIsPosted(t *testing.T) {
	for name, isKnown := range map[string]bool{"General is known to be closed": true, "the message finds it closed": false} {
		for how, restarts := range map[string]bool{"in this run": false, "in the next run": true} {
			t.Run(name+", "+how, func(t *testing.T) {
				inClosedGroup(t, func(t *testing.T, b *bench, g *closedGroup) {
					if isKnown {
						require.NoError(t, b.Post(t.Context(), inTopic(-5, 0, "0")))
						b.idle(time.Second)
					}
					m := inTopic(-5, 9, "1")
					m.ReplyTo, m.PostIfClosed = 7, true
					rich := m
					rich.Rich = "# 1"
					_, err := b.Send(t.Context(), rich)
					require.ErrorIs(t, err, ErrShutOut, "its text may be only the beginning")
					id, err := b.Send(t.Context(), m)
					require.NoError(t, err)
					assert.Zero(t, id)
					require.NoError(t, b.Post(t.Context(), inTopic(-5, 9, "2")))
					b.idle(time.Second)
					assert.Empty(t, b.seen("send", true))

					if restarts {
						require.NoError(t, b.stop())
						reply := b.reply
						*b = *newBench(t, b.dir, reply)
						b.run(t)
						b.idle(time.Minute)
					}
					g.topic.Store(false)
					b.Resume(-5)
					b.idle(time.Second)
					sent := b.seen("send", true)
					require.Len(t, sent, 2)
					assert.Equal(t, []string{"1", "2"}, texts(sent))
					assert.Equal(t, 9, sent[0].thread)
					assert.Equal(t, 7, sent[0].reply)
				})
			})
		}
	}
}

// A closed General is tried again after half a minute, later after up to ten.
func TestClosedGeneralIsTriedEverLess(t *testing.T) {
	inClosedGroup(t, func(t *testing.T, b *bench, _ *closedGroup) {
		for i := range 5 {
			require.NoError(t, b.Post(t.Context(), inTopic(-5, 0, fmt.Sprint(i))))
		}
		b.idle(time.Hour)
		var tries []time.Duration
		for _, c := range b.seen("send", false) {
			tries = append(tries, c.at)
		}
		want := []time.Duration{0, 30, 90, 210, 450, 930, 1530, 2130, 2730, 3330}
		require.Len(t, tries, len(want))
		for i, at := range want {
			assert.InDelta(t, (at * time.Second).Seconds(), (tries[i] - tries[0]).Seconds(), 1)
		}
	})
}

// A place is not closed any more once the next try has come, although nothing waits that could find out.
func TestClosedGeneralIsForgottenWhenNothingWaits(t *testing.T) {
	inClosedGroup(t, func(t *testing.T, b *bench, _ *closedGroup) {
		ctx, cancel := context.WithCancel(t.Context())
		b.sendLater(ctx, inTopic(-5, 0, "1"))
		b.idle(time.Second)
		assert.True(t, b.IsClosed(to(-5)))
		cancel()
		b.idle(time.Minute)
		assert.False(t, b.IsClosed(to(-5)))
	})
}

// A call that must wait does not show that General is open: the pauses go on growing.
func TestPausedCallDoesNotOpenGeneral(t *testing.T) {
	inBubble(t, func(_ context.Context, n int, c call) error {
		if len(c.text) > 0 && n == 2 {
			return &tgbot.TooManyRequestsError{RetryAfter: 1}
		}
		return fmt.Errorf("%w, Bad Request: TOPIC_CLOSED", tgbot.ErrorBadRequest)
	}, func(t *testing.T, b *bench) {
		require.NoError(t, b.Post(t.Context(), inTopic(-5, 0, "1")))
		b.idle(75 * time.Second) // 0, 30 (it must wait), 31; the next is at 91
		assert.Len(t, b.seen("send", false), 3)
		b.idle(30 * time.Second)
		assert.Len(t, b.seen("send", false), 4)
	})
}

// A message that is perhaps in the chat waits for its own try, also when General opens, and answers what it answered when it
// goes to its topic after all.
func TestOpenGeneralKeepsTheOtherWaits(t *testing.T) {
	q := newQueues(newChatQueue)
	now := time.Now()
	topic := address.Conversation{ChatID: -5, ThreadID: 9}
	q.lost[topic] = topicShut
	unsure := &job{kind: send, to: topic, message: Message{ReplyTo: 3}}
	next := &job{kind: send, to: topic, message: Message{ReplyTo: 4}}
	q.add(unsure)
	q.add(next)
	l := q.chatQueue(-5)
	q.close(now, l)
	unsure.losses, unsure.again = 1, now.Add(time.Hour)
	q.tryShut(now.Add(time.Minute), l)
	assert.True(t, unsure.parked)
	assert.False(t, next.parked)
	for i, j := range []*job{unsure, next} {
		assert.Equal(t, topic, j.to)
		assert.Equal(t, 3+i, j.message.ReplyTo)
	}
	l.queue.unpark(now.Add(time.Hour))
	assert.False(t, unsure.parked)
}
