package outbox

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
)

// busiest is the largest number of calls within any stretch of d.
func busiest(calls []call, d time.Duration) int {
	most := 0
	for i, c := range calls {
		n := 0
		for _, o := range calls[i:] {
			if o.at < c.at+d {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func TestPaceInAChat(t *testing.T) {
	tests := []struct {
		name    string
		chat    int64
		stretch time.Duration
		most    int
	}{
		{"private", 5, time.Second, 3},
		{"private, longer", 5, 10 * time.Second, 13},
		{"group", -5, time.Minute, 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, b *bench) {
				for i := range 50 {
					require.NoError(t, b.Post(t.Context(), say(tt.chat, fmt.Sprint(i))))
				}
				b.idle(5 * time.Minute)
				calls := b.seen("send", true)
				require.Len(t, calls, 50)
				assert.LessOrEqual(t, busiest(calls, tt.stretch), tt.most)
				assert.Equal(t, "0", calls[0].text)
				assert.Less(t, calls[2].at, time.Second, "a short burst is fine")
			})
		})
	}
}

// An earlier run may have used the burst of a chat right before it was killed.
func TestRunBeginsWithoutBurst(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		b.began = time.Now()
		for i := range 5 {
			require.NoError(t, b.Post(t.Context(), say(5, fmt.Sprint(i))))
		}
		b.idle(time.Minute)
		calls := b.seen("send", true)
		require.Len(t, calls, 5)
		assert.Equal(t, 1, busiest(calls, chatEach-time.Millisecond))
	})
}

func TestPaceOfAllChats(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		for i := range 200 {
			require.NoError(t, b.Edit(t.Context(), to(int64(i+1)), 1, say(0, "x")))
		}
		b.idle(time.Minute)
		calls := b.seen("edit", true)
		require.Len(t, calls, 200)
		assert.LessOrEqual(t, busiest(calls, time.Second), 30)
		assert.Less(t, calls[199].at, 10*time.Second)
	})
}

func TestP5_SendReturnsAfterAcceptance(t *testing.T) {
	reply := func(_ context.Context, n int, _ call) error {
		return []error{errServer, errBroken, tooMany(60), nil}[min(n, 4)-1]
	}
	inBubble(t, reply, func(t *testing.T, b *bench) {
		start := time.Now()
		id, err := b.Send(t.Context(), say(5, "hello"))
		require.NoError(t, err)
		assert.Equal(t, 1, id)
		assert.Len(t, b.seen("send", false), 4)
		assert.Equal(t, 1*time.Second+30*time.Second+60*time.Second, time.Since(start), "a backoff, the wait after a lost answer, and the whole of retry_after")
	})
}

func TestOrderSurvivesOutage(t *testing.T) {
	var up atomic.Bool
	reply := func(context.Context, int, call) error {
		if up.Load() {
			return nil
		}
		return errServer
	}
	inBubble(t, reply, func(t *testing.T, b *bench) {
		first := b.sendLater(t.Context(), say(5, "1"))
		require.NoError(t, b.Post(t.Context(), say(5, "2")))
		third := b.sendLater(t.Context(), say(5, "3"))
		require.NoError(t, b.Post(t.Context(), say(5, "4")))
		b.idle(24 * time.Hour)
		for _, c := range b.seen("", false) {
			require.Equal(t, "1", c.text, "nothing overtakes")
		}
		assert.Less(t, len(b.seen("", false)), 24*3600/4, "it backs off, and goes on soon after the outage")
		up.Store(true)
		b.idle(time.Minute)
		assert.Equal(t, []string{"1", "2", "3", "4"}, texts(b.seen("send", true)))
		assert.NoError(t, (<-first).err)
		assert.NoError(t, (<-third).err)
	})
}

func TestRetryAfterHoldsOnlyItsChat(t *testing.T) {
	reply := func(_ context.Context, n int, _ call) error {
		if n == 1 {
			return tooMany(137)
		}
		return nil
	}
	inBubble(t, reply, func(t *testing.T, b *bench) {
		slow := b.sendLater(t.Context(), say(5, "slow"))
		_, err := b.Send(t.Context(), say(6, "fast"))
		require.NoError(t, err)
		assert.Zero(t, time.Since(b.start))
		require.NoError(t, (<-slow).err)
		assert.Equal(t, 137*time.Second, time.Since(b.start))
	})
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name    string
		err     error
		message Message
		calls   int
		is      error
	}{
		{"blocked", errForbidden, say(5, "x"), 1, ErrBlocked},
		{"bad request", errEntities, say(5, "x"), 1, tgbot.ErrorBadRequest},
		{"bad request, also as plain text", errEntities, Message{To: to(5), Text: render.Bold("x")}, 2, tgbot.ErrorBadRequest},
		{"blank", nil, say(5, " \n"), 0, errBlank},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(context.Context, int, call) error { return tt.err }, func(t *testing.T, b *bench) {
				_, err := b.Send(t.Context(), tt.message)
				var refused *Refused
				require.ErrorAs(t, err, &refused)
				assert.ErrorIs(t, err, tt.is)
				assert.Len(t, b.seen("", false), tt.calls)
			})
		})
	}
}

func TestFormattingRefusedIsSentPlain(t *testing.T) {
	reply := func(_ context.Context, _ int, c call) error {
		if c.entities > 0 {
			return errEntities
		}
		return nil
	}
	inBubble(t, reply, func(t *testing.T, b *bench) {
		m := Message{To: to(5), Text: render.Bold("x")}
		id, err := b.Send(t.Context(), m)
		require.NoError(t, err)
		require.NoError(t, b.Edit(t.Context(), to(5), id, m), "it looks as well as it can")
		require.NoError(t, b.Edit(t.Context(), to(5), id, Message{Text: render.Bold("y")}))
		b.idle(time.Minute)
		assert.Equal(t, []string{"y", "y"}, texts(b.seen("edit", false)))
	})
}

// TestP5_DeniedCallsAreRepeated: after a 401 or 404 nothing is lost, dropped or unsure.
func TestP5_DeniedCallsAreRepeated(t *testing.T) {
	for _, denial := range []error{errToken, errMissing} {
		until := 5 * time.Minute
		inBubble(t, nil, func(t *testing.T, b *bench) {
			begun := time.Now()
			b.reply = func(context.Context, int, call) error {
				if time.Since(begun) < until {
					return denial
				}
				return nil
			}
			sent := b.sendLater(t.Context(), say(5, "sent"))
			require.NoError(t, b.Post(t.Context(), say(6, "posted")))
			require.NoError(t, b.Edit(t.Context(), to(7), 1, say(7, "edited")))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := b.Send(ctx, say(8, "given up"))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorIs(t, err, ErrUnsure, "Telegram has not carried it out")
			b.React(t.Context(), to(10), 3, "👀")
			assert.True(t, GoingOf(b.Outbox).Failing)
			time.Sleep(until - time.Since(begun) - 30*time.Second)
			b.React(t.Context(), to(10), 4, "👌")
			called := b.callLater(t.Context(), 9)
			b.idle(2 * time.Minute)
			assert.NoError(t, (<-sent).err)
			assert.ElementsMatch(t, []string{"sent", "posted"}, texts(b.seen("send", true)))
			assert.Equal(t, []string{"edited"}, texts(b.seen("edit", true)))
			assert.ElementsMatch(t, []string{"👌", "👀"}, texts(b.seen("react", true)))
			select {
			case err := <-called:
				assert.NoError(t, err)
			default:
				assert.Fail(t, "the call has no outcome")
			}
			assert.False(t, GoingOf(b.Outbox).Failing)
			assert.NoError(t, b.stop())
		})
	}
}

func TestSendWhoseContextEnds(t *testing.T) {
	inBubble(t, func(ctx context.Context, n int, c call) error {
		if c.text == "slow" {
			<-time.After(10 * time.Second)
		}
		if c.text == "broken" {
			return errBroken
		}
		return nil
	}, func(t *testing.T, b *bench) {
		ended := func(after time.Duration) context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			t.Cleanup(cancel)
			return ctx
		}
		slow := b.sendLater(ended(5*time.Second), say(5, "slow"))
		never := b.sendLater(ended(5*time.Second), say(5, "never"))
		broken := b.sendLater(ended(5*time.Second), say(6, "broken"))
		err := (<-slow).err
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorIs(t, err, ErrUnsure, "the call was under way")
		err = (<-never).err
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, ErrUnsure)
		assert.ErrorIs(t, (<-broken).err, ErrUnsure)
		tried := len(b.seen("", false))
		b.idle(time.Hour)
		assert.Len(t, b.seen("", false), tried, "nothing is tried for a caller who is gone")
		assert.Equal(t, []string{"slow"}, texts(b.seen("", true)))
		_, err = b.Send(ended(-1), say(5, "x"))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = b.Send(t.Context(), say(5, "next"))
		assert.NoError(t, err, "the queue goes on")
	})
}

func TestEndOfRunLetsCallFinish(t *testing.T) {
	tests := []struct {
		name  string
		takes time.Duration
		err   error
	}{
		{"soon done", shutdownGrace - 1, nil},
		{"cut off", time.Hour, ErrUnsure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(ctx context.Context, _ int, _ call) error {
				select {
				case <-time.After(tt.takes):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}, func(t *testing.T, b *bench) {
				flying := b.sendLater(t.Context(), say(5, "a"))
				waiting := b.sendLater(t.Context(), say(5, "b"))
				assert.NoError(t, b.stop())
				assert.ErrorIs(t, (<-flying).err, tt.err)
				err := (<-waiting).err
				assert.ErrorIs(t, err, ErrClosed)
				assert.NotErrorIs(t, err, ErrUnsure)
				_, err = b.Send(t.Context(), say(5, "c"))
				assert.ErrorIs(t, err, ErrClosed)
			})
		})
	}
}

func TestBestEffortCalls(t *testing.T) {
	inBubble(t, func(ctx context.Context, n int, c call) error {
		if c.method == "typing" && n == 1 {
			return tooMany(20)
		}
		time.Sleep(time.Millisecond) // a message goes while a reaction is under way
		return nil
	}, func(t *testing.T, b *bench) {
		b.Typing(t.Context(), to(5))
		synctest.Wait()
		b.Typing(t.Context(), to(5)) // too old after the pause
		b.Answer(t.Context(), to(5), "q", "too late", false)
		for i := range 2 * maxAsides {
			b.React(t.Context(), to(5), i, "👀")
		}
		b.React(t.Context(), to(5), 2*maxAsides-1, "👍")
		b.Answer(t.Context(), to(6), "q", "in time", false)
		_, err := b.Send(t.Context(), say(5, "x"))
		require.NoError(t, err)
		assert.Equal(t, 20*time.Second, time.Since(b.start).Truncate(time.Second), "the pause holds for the chat")
		b.idle(time.Minute)
		assert.Len(t, b.seen("typing", false), 1)
		assert.Equal(t, []string{"in time"}, texts(b.seen("answer", false)))
		reactions := b.seen("react", true)
		require.Len(t, reactions, maxAsides-1, "the answer to the tap had the place of one")
		assert.Equal(t, "👍", reactions[maxAsides-2].text, "the newest replaces")
	})
}
